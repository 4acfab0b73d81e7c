import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Failures while undoing, and undo after other failures.
@Suite struct UndoFailureTests {
  /// Objects restored by an undo that then fails are pending deletion as before; a later undo restores them.
  @Test(arguments: StoreKind.allCases) func whoComesBackInAnUndoingThatFailsComesBackLater(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    let first = bench.context()
    let (kept, gone) = (
      try first.insert("Person", values: ["firstName": "kept"]),
      try first.insert("Person", values: ["firstName": "gone"])
    )
    try kept.add(gone, to: "friends")
    let department = try first.insert("Department")
    try kept.setObject(department, forKey: "department")
    try first.save()
    let (context, undo) = undoing(bench.stranger())
    let (mine, theirs) = (try context.object(with: kept.objectID), try context.object(with: gone.objectID))
    try mine.setObject(nil, forKey: "department")
    try context.delete(theirs)
    try context.processPendingChanges()
    for object in context.registeredObjects where object !== theirs && object !== mine {
      try context.refresh(object, mergeChanges: false)
    }
    context.coordinator.forgetAllRows()
    // Lets a growing number of the undo's reads succeed before one fails.
    var count = 0
    while true {
      store.fail(afterReads: count)
      let result = Result { try undo.undo() }
      store.fail(afterReads: nil)
      guard case .failure = result else { break }
      #expect(theirs.isDeleted && undo.canUndo && !undo.canRedo && context.brokenInvariants() == [], "read \(count)")
      count += 1
    }
    #expect(!theirs.isDeleted && theirs["firstName"] == "gone")
    try undo.redo()
    try context.save()
    #expect(theirs.managedObjectContext == nil)
    try undo.undo()
    #expect(theirs.managedObjectContext === context && theirs["firstName"] == "gone")
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["gone", "kept"])
    withExtendedLifetime(first) {}
  }

  /// A failed transaction reverts none of the earlier changes, even those that leave nothing to save.
  @Test(arguments: StoreKind.allCases, [false, true])
  func whatWasDoneBeforeATransactionThatFailsIsUndone(_ kind: StoreKind, _ isInGroup: Bool) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    try context.processPendingChanges()
    try undo.undo()
    try undo.redo()
    if isInGroup { try undo.beginUndoGrouping() }
    try context.delete(person)
    _ = try context.fetch(FetchRequest("Person"))
    #expect(person.managedObjectContext == nil && !context.hasChanges)
    #expect(throws: Broken.self) {
      try context.transaction {
        try context.insert("Department")
        throw Broken()
      }
    }
    if isInGroup { try undo.endUndoGrouping() }
    try undo.undo()
    #expect(person.managedObjectContext === context && person["firstName"] == "Ann" && undo.canUndo && undo.canRedo)
    #expect(context.insertedObjects == [person] && context.brokenInvariants() == [])
  }

  /// A hook that throws during an undo leaves everything unchanged, whichever of its calls throws.
  @Test(arguments: StoreKind.allCases) func aHookThatFailsFailsTheUndoing(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let isOn = Switch()
    var project = EntityExtension()
    project.prepareForDeletion = { _ in try isOn.failIfOn() }
    let (context, undo) = undoing(bench.context(["Project": [project]]))
    let department = try context.insert("Department", values: ["name": "d"])
    try context.processPendingChanges()
    try context.insert("Project", values: ["title": "a", "department": .objectID(department.objectID)])
    try context.save()
    // Undoing both insertions deletes the department, and its delete rule deletes a project inserted later.
    let late = try context.insert("Project", values: ["title": "late"])
    try late.setObject(department, forKey: "department")
    try context.save()
    undo.disableUndoRegistration()
    let stray = try context.insert("Project", values: ["title": "stray", "department": .objectID(department.objectID)])
    try context.save()
    undo.enableUndoRegistration()
    try undo.undo()
    try undo.undo()
    isOn.value = 1
    #expect(throws: GraphError.self) { try undo.undo() }
    #expect(!department.isDeleted && !stray.isDeleted && undo.canUndo && context.brokenInvariants() == [])
    isOn.value = 0
    try undo.undo()
    #expect(department.isDeleted && stray.isDeleted)
    try undo.redo()
    #expect(!department.isDeleted && !stray.isDeleted && context.brokenInvariants() == [])
  }

  /// If one of two stores refuses a save, the deletion in that store stays pending and can be undone.
  @Test(arguments: StoreKind.allCases) func aDeletionThatASecondStoreRefusedIsUndoneAfterItsSave(_ kind: StoreKind)
    throws
  {
    let folder = try TemporaryFolder()
    var model = ManagedObjectModel(
      entities: ["A", "B"].map { name in
        var entity = EntityDescription(name)
        entity.attributes = [AttributeDescription("s", type: .string)]
        return entity
      })
    model.configurations = ["One": ["A"], "Two": ["B"]]
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    let stores = try ["One", "Two"].map { FailingStore(try kind.store(for: resolved, configuration: $0, in: folder)) }
    for store in stores { try coordinator.add(store) }
    let (context, undo) = undoing(try ManagedObjectContext(coordinator))
    let objects = try ["A", "B"].map { try context.insert($0, values: ["s": .string($0)]) }
    try context.save()
    for object in objects { try context.delete(object) }
    // The store that is written first commits last.
    let last = StoreNumber(stores[0].identifier).rawValue < StoreNumber(stores[1].identifier).rawValue ? 0 : 1
    stores[last].fail(atCommit: true)
    #expect(throws: GraphError.self) { try context.save() }
    stores[last].fail(atCommit: false)
    #expect(objects[last].isDeleted && objects[1 - last].managedObjectContext == nil)
    try context.save()
    #expect(objects[last].managedObjectContext == nil && !context.hasChanges)
    while undo.canUndo, objects.contains(where: { $0.managedObjectContext == nil }) { try undo.undo() }
    #expect(objects.map { $0["s"] } == ["A", "B"] && context.insertedObjects.count == 2)
    try context.save()
    #expect(try ["A", "B"].map { try context.count(FetchRequest($0)) } == [1, 1] && context.brokenInvariants() == [])
  }

  /// External data that cannot be read makes the undo throw; the undo succeeds once the file is readable.
  @Test func bytesThatCannotBeReadFailTheUndoing() throws {
    let folder = try TemporaryFolder()
    var entity = EntityDescription("Picture")
    var bytes = AttributeDescription("bytes", type: .binaryData)
    bytes.allowsExternalBinaryDataStorage = true
    entity.attributes = [bytes, AttributeDescription("name", type: .string)]
    let model = try ManagedObjectModel(entities: [entity]).resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(StoreKind.sqlite.store(for: model, in: folder))
    let old = Value.data(Data(repeating: 1, count: 300_000))
    let (context, undo) = undoing(try ManagedObjectContext(coordinator))
    let picture = try context.insert("Picture", values: ["bytes": old])
    try context.save()
    undo.removeAllActions()
    try context.refresh(picture, mergeChanges: false)
    coordinator.forgetAllRows()
    try picture.setValue("named", forKey: "name")
    // Null, since other bytes would be compared with the stored ones.
    try picture.setValue(.null, forKey: "bytes")
    let files = try #require(FileManager.default.enumerator(at: folder.url, includingPropertiesForKeys: nil))
    let file = try #require(files.compactMap { $0 as? URL }.first { $0.path.contains("_EXTERNAL_DATA/") })
    let aside = folder.file("aside")
    try FileManager.default.moveItem(at: file, to: aside)
    try context.processPendingChanges()
    let error = #expect(throws: GraphError.self) { try undo.undo() }
    #expect(error?.code == .storeFailure && error?.property == "bytes", "\(error as Any)")
    #expect(picture["name"] == "named" && undo.canUndo && context.brokenInvariants() == [])
    try FileManager.default.moveItem(at: aside, to: file)
    try undo.undo()
    #expect(picture["bytes"] == old && picture["name"] == .null && !context.hasChanges)
  }

  @Test(arguments: StoreKind.allCases) func groupsNeitherBeginNorEndWithinHooks(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let mode = Switch()
    let manager = UndoManager()
    nonisolated(unsafe) let undo = manager
    let context = bench.context { entry in
      let meddle: (ManagedObject) throws -> Void = { _ in
        if mode.value == 1 { try undo.beginUndoGrouping() }
        if mode.value == 2 { try undo.endUndoGrouping() }
      }
      entry.prepareForDeletion = meddle
      entry.willSave = meddle
      entry.awakeFromInsert = meddle
    }
    context.undoManager = manager
    let person = try context.insert("Person", values: ["firstName": "a"])
    try manager.beginUndoGrouping()
    try person.setValue("b", forKey: "firstName")
    for value in [1, 2] {
      mode.value = value
      #expect(throws: GraphError.self) { try context.delete(person) }
      #expect(throws: GraphError.self) { try context.insert("Person") }
      #expect(throws: GraphError.self) { try context.save() }
      #expect(manager.groupingLevel == 1 && !person.isDeleted && context.insertedObjects == [person])
    }
    mode.value = 0
    try context.delete(person)
    try manager.endUndoGrouping()
    try manager.undo()
    #expect(!person.isDeleted && person["firstName"] == "a" && context.brokenInvariants() == [])
  }

  /// Changes that other objects make to a list survive a refresh of the list's owner and the undo of another change of
  /// that owner.
  @Test(arguments: StoreKind.allCases) func aListThatOthersChangedIsSavedAfterAnUndoing(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let department = try context.insert("Department", values: ["name": "d"])
    let projects = try (0..<3).map { try context.insert("Project", values: ["title": .string("\($0)")]) }
    try department.setObjects(projects.prefix(2).map { $0 }, forKey: "projects")
    try context.save()
    try projects[2].setObject(department, forKey: "department")
    try context.refresh(department, mergeChanges: false)
    try context.processPendingChanges()
    try department.setValue("other", forKey: "name")
    try undo.undo()
    #expect(try department["name"] == "d" && department.objects(forKey: "projects") == projects)
    #expect(context.updatedObjects.contains(department) && context.brokenInvariants() == [])
    try context.save()
    let stranger = bench.stranger()
    let same = try stranger.object(with: department.objectID)
    #expect(try same.objects(forKey: "projects").map { $0["title"] } == ["0", "1", "2"])
  }

  /// A save ends the current group even if it writes nothing.
  @Test(arguments: StoreKind.allCases) func aSaveOfNothingEndsAGroup(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.processPendingChanges()
    try context.delete(person)
    try context.save()
    try context.insert("Department")
    try undo.undo()
    #expect(context.insertedObjects.isEmpty && undo.canUndo)
    try undo.undo()
    #expect(context.insertedObjects == [person] && person["firstName"] == "a")
    withExtendedLifetime(bench) {}
  }

  /// Observers are notified after an undo and may then change the context, but not undo again.
  @Test(arguments: StoreKind.allCases, ["undo", "redo", "rollback", "forget", "save", "change", "nothing"])
  func observersMayActWhenSomethingIsUndone(_ kind: StoreKind, act: String) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.save()
    try person.setValue("b", forKey: "firstName")
    var errors: [GraphError?] = []
    var isOn = true
    let observation = try person.observe("firstName") { _ in
      guard isOn, undo.isUndoing || undo.isRedoing else { return }
      isOn = false
      do {
        switch act {
        case "undo": try undo.undo()
        case "redo": try undo.redo()
        case "rollback": try context.rollback()
        case "forget": undo.removeAllActions()
        case "save": try context.save()
        case "change": try person.setValue(5, forKey: "age")
        default: break
        }
      } catch {
        errors.append(error as? GraphError)
      }
    }
    try undo.undo()
    #expect(person["firstName"] == "a" && context.brokenInvariants() == [] && !undo.isUndoing)
    #expect(errors.map { $0?.code } == (act == "undo" || act == "redo" ? [.contextBusy] : []))
    let isForgotten = act == "rollback" || act == "forget"
    #expect(undo.canUndo == !isForgotten && undo.canRedo == !(isForgotten || act == "change"), "\(act)")
    if act == "change" {
      try undo.undo()
      #expect(person["age"] == 0)
    }
    isOn = true
    if undo.canRedo {
      try undo.redo()
      #expect(person["firstName"] == (act == "change" ? "a" : "b") && context.brokenInvariants() == [])
    }
    withExtendedLifetime((bench, observation)) {}
  }

  /// A hook called during an undo removes all actions of the undo manager.
  @Test(arguments: StoreKind.allCases) func aHookMayEndWhatItIsUndoneFor(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let undo = UndoManager()
    nonisolated(unsafe) let manager = undo
    let isOn = Switch()
    var project = EntityExtension()
    project.prepareForDeletion = { _ in if isOn.value == 1 { manager.removeAllActions() } }
    let context = bench.context(["Project": [project]])
    context.undoManager = undo
    let department = try context.insert("Department")
    try context.save()
    undo.disableUndoRegistration()
    let stray = try context.insert("Project", values: ["department": .objectID(department.objectID)])
    try context.save()
    undo.enableUndoRegistration()
    isOn.value = 1
    try undo.undo()
    #expect(department.isDeleted && stray.isDeleted && !undo.canUndo && !undo.canRedo)
    #expect(context.brokenInvariants() == [])
    try context.save()
    #expect(try context.count(FetchRequest("Department")) == 0)
  }

  /// An object deleted by another context cannot be restored.
  @Test(arguments: StoreKind.allCases) func whoOthersDeletedAfterItsChangeWasGivenUpDoesNotComeBack(_ kind: StoreKind)
    throws
  {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let person = try first.insert("Person", values: ["firstName": "a"])
    let other = try first.insert("Person", values: ["firstName": "b"])
    try first.save()
    let (context, undo) = undoing(bench.context())
    let (mine, kept) = (try context.object(with: person.objectID), try context.object(with: other.objectID))
    try mine.setValue("x", forKey: "firstName")
    try kept.setValue("y", forKey: "firstName")
    try context.refresh(mine, mergeChanges: false)
    let inbox = first.coordinator.addInbox()
    try first.delete(person)
    try first.save()
    for saved in inbox.drain() { try context.mergeChanges(from: saved) }
    #expect(mine.managedObjectContext == nil)
    try undo.undo()
    #expect(mine.managedObjectContext == nil && kept["firstName"] == "b" && !context.hasChanges)
    #expect(context.brokenInvariants() == [])
    try undo.redo()
    #expect(mine.managedObjectContext == nil && kept["firstName"] == "y")
  }

  /// IDs recorded for discarded groups are discarded too, and the recorded IDs count in the context's weight.
  @Test(arguments: StoreKind.allCases) func idsThatNoGroupKnowsAreForgotten(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    undo.levelsOfUndo = 3
    let friend = try context.insert("Person")
    try context.save()
    for round in 0..<50 {
      let people = try (0..<10).map { _ in try context.insert("Person") }
      for person in people { try friend.add(person, to: "friends") }
      try context.save()
      #expect(undo.laterIDCount <= 80, "round \(round)")
    }
    let weight = context.memory.weight
    undo.removeAllActions()
    #expect(undo.laterIDCount == 0 && context.memory.weight < weight)
    // An object deleted and restored repeatedly is found by each ID that it had.
    undo.levelsOfUndo = 0
    try friend.setValue("first", forKey: "firstName")
    try context.save()
    for _ in 0..<20 {
      try context.delete(friend)
      try context.save()
      try undo.undo()
      try context.save()
      try undo.redo()
      try context.save()
      try undo.undo()
      try context.save()
    }
    #expect(friend["firstName"] == "first" && context.brokenInvariants() == [])
    try undo.undo()
    #expect(friend["firstName"] == .null && friend.managedObjectContext === context)
  }

  /// Consecutive reorderings of a list in one group are undone as one; single moves cost a move each.
  @Test(arguments: StoreKind.allCases) func manyOrdersOfOneListAreUndoneInOneStep(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let department = try context.insert("Department")
    let projects = try (0..<100).map { try context.insert("Project", values: ["title": .string("\($0)")]) }
    try department.setObjects(projects, forKey: "projects")
    try context.save()
    func units(orders: Int) throws -> Int {
      let before = try department.objects(forKey: "projects")
      for index in 0..<orders {
        try department.setObjects(Array(before[index...] + before[..<index]), forKey: "projects")
      }
      try department.moveMember(from: 3, to: 80, slot: #require(department.entity.slot("projects")))
      try department.remove(before[7], from: "projects")
      try department.setObjects(department.objects(forKey: "projects").reversed(), forKey: "projects")
      try context.processPendingChanges()
      let units = try HostWorkMeter.units { try undo.undo() }
      #expect(try department.objects(forKey: "projects") == before && context.brokenInvariants() == [])
      try undo.redo()
      #expect(try department.objects(forKey: "projects").count == 99)
      try undo.undo()
      #expect(try department.objects(forKey: "projects") == before)
      return units
    }
    let few = try units(orders: 2)
    #expect(try units(orders: 60) < 2 * few)
  }
}
