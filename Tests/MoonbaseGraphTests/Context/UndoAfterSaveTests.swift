import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Undoing a saved change makes a new change, which the next save writes.
@Suite struct UndoAfterSaveTests {
  @Test(arguments: StoreKind.allCases) func aSavedValueIsUndoneAsAChange(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.save()
    for name in ["b", "c"] {
      try person.setValue(.string(name), forKey: "firstName")
      try context.save()
    }
    let version = try #require(person.rowVersion)
    try undo.undo()
    #expect(person["firstName"] == "b" && context.updatedObjects == [person] && person.rowVersion == version)
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["b"] && person.rowVersion == version + 1)
    try undo.undo()
    try undo.redo()
    try undo.redo()
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["c"] && !undo.canRedo)
  }

  @Test(arguments: StoreKind.allCases) func aSavedInsertionIsUndoneByADeletion(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let department = try context.insert("Department")
    try context.save()
    let person = try context.insert(
      "Person", values: ["firstName": "Ann", "department": .objectID(department.objectID)])
    try context.save()
    let id = person.objectID
    try undo.undo()
    #expect(try person.isDeleted && department.objects(forKey: "employees").isEmpty)
    try undo.redo()
    #expect(try !person.isDeleted && department.objects(forKey: "employees") == [person] && person.objectID == id)
    #expect(!context.hasChanges)
    try undo.undo()
    try context.save()
    #expect(try bench.saved("Person", "firstName") == [] && person.managedObjectContext == nil)
    try undo.redo()
    #expect(
      try person.isInserted && department.objects(forKey: "employees") == [person] && person["firstName"] == "Ann")
    try context.save()
    #expect(
      try bench.saved("Person", "firstName") == ["Ann"] && person.objectID != id && !person.objectID.isTemporaryID)
    #expect(context.brokenInvariants() == [])
  }

  /// New objects go to the first of several stores; a restored object goes to its former store, where its destinations
  /// are.
  @Test(arguments: StoreKind.allCases, [false, true])
  func whatComesBackIsInTheStoreThatItWasIn(_ kind: StoreKind, deletesOwner: Bool) throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let stores = try (0..<2).map { _ in try kind.store(for: model, in: folder) }
    for store in stores { try coordinator.add(store) }
    let (context, undo) = undoing(try ManagedObjectContext(coordinator))
    let department = try context.insert("Department", values: ["name": "D"])
    let projects = try ["c", "a", "b"].map { try context.insert("Project", values: ["title": .string($0)]) }
    for object in [department] + projects { try context.assign(object, to: stores[1]) }
    try department.setObjects(projects, forKey: "projects")
    try context.save()
    try context.delete(deletesOwner ? department : projects[1])
    try context.save()
    try undo.undo()
    try context.save()
    #expect(try department.objects(forKey: "projects").map { $0["title"] } == ["c", "a", "b"])
    let number = StoreNumber(stores[1].identifier).rawValue
    #expect(([department] + projects).allSatisfy { $0.objectID.storeNumber == number })
    let fresh = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
    let saved = try fresh.object(with: department.objectID)
    #expect(try saved.objects(forKey: "projects").map { $0["title"] } == ["c", "a", "b"])
    #expect(try fresh.count(FetchRequest("Project")) == 3 && context.brokenInvariants() == [])
    for _ in 0..<2 {
      try undo.redo()
      try context.save()
      try undo.undo()
      try context.save()
    }
    #expect(try department.objects(forKey: "projects").map { $0["title"] } == ["c", "a", "b"])
  }

  @Test(arguments: StoreKind.allCases) func aSaveEndsAGroupThatGotNewIDs(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.obtainPermanentIDs(for: [person])
    try context.save()
    try person.setValue("b", forKey: "firstName")
    try undo.undo()
    #expect(person["firstName"] == "a" && !person.isDeleted && undo.canUndo)
    try undo.undo()
    #expect(person.isDeleted && !undo.canUndo)
  }

  /// Transient values, which no store has, count as unchanged when they are as at the last save.
  @Test(arguments: StoreKind.allCases) func transientValuesThatAreUndoneAreNoChanges(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, People.modelWithGuests())
    let (context, undo) = undoing(bench.context())
    let (person, department) = (try context.insert("Person"), try context.insert("Department"))
    try person.setValue("full", forKey: "fullName")
    try person.setObject(department, forKey: "visits")
    try context.save()
    try person.setValue("fuller", forKey: "fullName")
    try context.processPendingChanges()
    for _ in 0..<2 {
      try context.delete(department)
      try context.processPendingChanges()
      #expect(try person.object(forKey: "visits") == nil)
      try undo.undo()
      #expect(try person.object(forKey: "visits") == department && department.objects(forKey: "guests") == [person])
      #expect(context.updatedObjects == [person])
      try undo.undo()
      #expect(person["fullName"] == "full" && !context.hasChanges && context.brokenInvariants() == [])
      try undo.redo()
      #expect(person["fullName"] == "fuller" && context.updatedObjects == [person])
    }
    try undo.undo()
    try context.delete(department)
    try undo.undo()
    #expect(!context.hasChanges)
    try undo.redo()
    #expect(try department.isDeleted && person.object(forKey: "visits") == nil)
  }

  /// A delete rule only removes an object from lists; after undo these lists equal the saved ones.
  @Test(arguments: StoreKind.allCases) func aDeletionThatIsUndoneLeavesNoTraceInListsThatWereRead(_ kind: StoreKind)
    throws
  {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let department = try context.insert("Department")
    let people = try (0..<3).map { _ in
      try context.insert("Person", values: ["department": .objectID(department.objectID)])
    }
    try people[0].setObjects([people[1], people[2]], forKey: "friends")
    try context.save()
    for _ in 0..<2 {
      try context.delete(people[0])
      try context.processPendingChanges()
      #expect(try department.objects(forKey: "employees").count == 2 && people[1].objects(forKey: "friends").isEmpty)
      try undo.undo()
      #expect(!context.hasChanges && context.brokenInvariants() == [])
      #expect(try department.objects(forKey: "employees").count == 3)
      #expect(try people[1].objects(forKey: "friends") == [people[0]])
    }
  }

  /// The owner of the list is unchanged and is not saved.
  @Test(arguments: StoreKind.allCases, [false, true])
  func anInsertionIntoAnOrderThatIsUndoneAcrossASaveLeavesNoTrace(_ kind: StoreKind, _ isFirst: Bool) throws {
    let bench = try StoreBench(kind)
    let first = bench.context()
    let ids = try ["p", "q", "r"].map { try first.insert("Project", values: ["title": .string($0)]) }
    let owner = try first.insert("Department", values: ["name": "d"])
    try owner.setObjects(Array(ids.prefix(2)), forKey: "projects")
    try first.save()
    let (context, undo) = undoing(bench.context())
    let department = try context.object(with: owner.objectID)
    let project = try context.object(with: ids[2].objectID)
    let list = try department.mutableOrderedSetValue(forKey: "projects")
    try list.insert(project, at: isFirst ? 0 : 2)
    try context.delete(project)
    try context.save()
    try undo.undo()
    #expect(context.insertedObjects == [project] && context.updatedObjects.isEmpty && project["title"] == "r")
    #expect(try department.objects(forKey: "projects").map { $0["title"] } == ["p", "q"])
    try context.save()
    #expect(try bench.saved("Project", "title") == ["p", "q", "r"])
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aSavedDeletionIsUndoneByAnInsertionOfTheSameObject(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let (first, _) = undoing(bench.context())
    let made = try first.insert("Department", values: ["name": "research"])
    let projects = try ["x", "y"].map { try first.insert("Project", values: ["title": .string($0)]) }
    try made.setObjects(projects, forKey: "projects")
    let people = try (0..<2).map { _ in try first.insert("Person") }
    try people[0].add(people[1], to: "friends")
    for person in people { try person.setObject(made, forKey: "department") }
    try first.save()

    // Faults: only the deletion reads them.
    let (context, undo) = undoing(bench.stranger())
    let department = try context.object(with: made.objectID)
    let person = try context.object(with: people[0].objectID)
    try context.delete(department)
    try context.delete(person)
    try context.save()
    #expect(try bench.saved("Department", "name") == [] && bench.saved("Project", "title") == [])
    try undo.undo()
    #expect(department["name"] == "research" && department.isInserted && person.isInserted)
    let back = try department.objects(forKey: "projects")
    #expect(back.map { $0["title"] } == ["x", "y"] && context.insertedObjects.count == 4)
    #expect(try department.objects(forKey: "employees").count == 2)
    #expect(try person.objects(forKey: "friends").map(\.objectID) == [people[1].objectID])
    #expect(context.brokenInvariants() == [])
    try context.save()
    let other = bench.stranger()
    let same = try other.object(with: department.objectID)
    #expect(try same.objects(forKey: "projects").map { $0["title"] } == ["x", "y"])
    #expect(try same.objects(forKey: "employees").count == 2)
    #expect(try other.object(with: people[1].objectID).objects(forKey: "friends").map(\.objectID) == [person.objectID])
    try undo.redo()
    try context.save()
    #expect(try bench.saved("Department", "name") == [])
    try undo.undo()
    try context.save()
    #expect(try bench.saved("Project", "title") == ["x", "y"])
  }

  @Test(arguments: StoreKind.allCases) func earlierStepsFindObjectsThatCameBackUnderAnotherID(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let department = try context.insert("Department", values: ["name": "a"])
    let person = try context.insert("Person")
    try context.processPendingChanges()
    try person.setObject(department, forKey: "department")
    try context.processPendingChanges()
    try person.setObject(nil, forKey: "department")
    try context.processPendingChanges()
    try department.setValue("b", forKey: "name")
    try context.save()
    try context.delete(department)
    try context.save()
    try undo.undo()
    try context.save()
    try undo.undo()
    #expect(department["name"] == "a")
    try undo.undo()
    #expect(try person.object(forKey: "department") === department)
    try context.save()
    try undo.undo()
    #expect(try person.object(forKey: "department") == nil && department.objects(forKey: "employees").isEmpty)
    for _ in 0..<4 { try undo.redo() }
    #expect(department.isDeleted && !undo.canRedo)
    try context.save()
    #expect(try bench.saved("Department", "name") == [] && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func whatASaveChangesBelongsToWhatItSaves(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(
      bench.context { entry in
        entry.willSave = { object in
          if object["lastName"] != object["firstName"] { try object.setValue(object["firstName"], forKey: "lastName") }
        }
      })
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.save()
    try person.setValue("b", forKey: "firstName")
    try context.processPendingChanges()
    try context.save()
    #expect(person["lastName"] == "b")
    try undo.undo()
    #expect(person["firstName"] == "a" && person["lastName"] == "a")
    try undo.redo()
    #expect(person["firstName"] == "b" && person["lastName"] == "b")
    try undo.undo()
    try undo.undo()
    #expect(person.isDeleted && !undo.canUndo)
  }

  /// Changes of hooks belong to the last group even if the save writes nothing. Undoing the insertion of an object that
  /// a hook deleted changes nothing.
  @Test(arguments: StoreKind.allCases) func whatASaveChangesThatWritesNothingBelongsToWhatWasDoneLast(_ kind: StoreKind)
    throws
  {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(
      bench.context { entry in
        entry.willSave = { object in
          if !object.isDeleted, object["firstName"] == "draft" { try object.managedObjectContext?.delete(object) }
        }
      })
    let kept = try context.insert("Person", values: ["firstName": "kept"])
    try context.save()
    let draft = try context.insert("Person", values: ["firstName": "draft"])
    try context.processPendingChanges()
    try context.save()
    #expect(draft.managedObjectContext == nil && !context.hasChanges)
    try undo.undo()
    #expect(draft.managedObjectContext == nil && !context.hasChanges && undo.canUndo && undo.canRedo)
    try undo.redo()
    #expect(draft.managedObjectContext == nil && !context.hasChanges && context.brokenInvariants() == [])
    try undo.undo()
    try undo.undo()
    #expect(context.deletedObjects == [kept] && !undo.canUndo)
  }

  /// Changes before a transaction that leave nothing to save form a group of their own.
  @Test(arguments: StoreKind.allCases) func aTransactionIsAGroupOfItsOwn(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let draft = try context.insert("Person", values: ["firstName": "draft"])
    try context.processPendingChanges()
    try context.delete(draft)
    _ = try context.fetch(FetchRequest("Person"))
    let department = try context.transaction { try context.insert("Department") }
    try undo.undo()
    #expect(context.deletedObjects == [department] && draft.managedObjectContext == nil)
    try undo.undo()
    #expect(context.insertedObjects == [draft] && context.deletedObjects == [department])
    for _ in 0..<2 { try undo.redo() }
    #expect(!context.hasChanges && !department.isDeleted && draft.managedObjectContext == nil && !undo.canRedo)
  }

  @Test(arguments: StoreKind.allCases) func aFailedSaveLeavesWhatCanBeUndone(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, People.model())
    let (context, undo) = undoing(bench.context { $0.willSave = { try $0.setValue("hook", forKey: "lastName") } })
    let person = try context.insert("Person", values: ["firstName": "a"])
    try context.processPendingChanges()
    try person.setValue("b", forKey: "firstName")
    store.fail(atCommit: true)
    #expect(throws: (any Error).self) { try context.save() }
    store.fail(atCommit: false)
    #expect(person["lastName"] == .null)
    try undo.undo()
    #expect(person["firstName"] == "a" && person.isInserted)
    store.fail(atCommit: true)
    #expect(throws: (any Error).self) { try context.save() }
    store.fail(atCommit: false)
    try undo.redo()
    #expect(person["firstName"] == "b")
    try context.delete(person)
    try undo.undo()
    try context.save()
    #expect(try bench.saved("Person", "firstName") == ["b"])
  }

  /// A save writes a value kept outside the row into the row, and then fails.
  @Test(arguments: StoreKind.allCases, [2, 70])
  func aValueThatASaveFailedToWriteIsUndone(_ kind: StoreKind, count: Int) throws {
    var entity = EntityDescription("Thing")
    entity.attributes = (0..<count).map { AttributeDescription("a\($0)", type: .string) }
    let (bench, store) = try StoreBench.failing(kind, ManagedObjectModel(entities: [entity]))
    let (context, undo) = undoing(bench.context())
    let last = "a\(count - 1)"
    let thing = try context.insert("Thing", values: [last: "b"])
    try context.save()
    undo.removeAllActions()
    try thing.setValue("c", forKey: last)
    try context.processPendingChanges()
    try context.refresh(thing, mergeChanges: true)
    try thing.setValue("x", forKey: "a0")
    store.fail(atCommit: true)
    #expect(throws: (any Error).self) { try context.save() }
    store.fail(atCommit: false)
    try undo.undo()
    #expect(thing[last] == "c" && thing["a0"] == .null)
    try undo.undo()
    #expect(thing[last] == "b" && !context.hasChanges && bench.coordinator.persistentStores.count == 1)
  }

  @Test(arguments: StoreKind.allCases) func anUndoingThatFailsChangesNothing(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind, People.model())
    let (context, undo) = undoing(bench.context())
    let (a, b) = (try context.insert("Person"), try context.insert("Person"))
    try context.save()
    try a.setValue("a", forKey: "firstName")
    try a.add(b, to: "friends")
    try context.save()
    try context.refresh(b, mergeChanges: false)
    store.fail(afterReads: 0)
    #expect(throws: (any Error).self) { try undo.undo() }
    store.fail(afterReads: nil)
    #expect(!context.hasChanges && undo.canUndo && !undo.canRedo && context.brokenInvariants() == [])
    try undo.undo()
    #expect(try a["firstName"] == .null && b.objects(forKey: "friends").isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func whatOthersSavedStays(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    let (a, b) = (try context.insert("Person", values: ["age": 1]), try context.insert("Person"))
    let department = try context.insert("Department")
    try context.save()
    try a.setValue("a", forKey: "firstName")
    try b.setValue("b", forKey: "firstName")
    try a.setObject(department, forKey: "department")
    try context.save()
    try a.setObject(nil, forKey: "department")
    try context.save()
    let other = bench.context()
    try other.object(with: a.objectID).setValue(50, forKey: "age")
    try other.delete(other.object(with: b.objectID))
    try other.delete(other.object(with: department.objectID))
    try other.save()
    for object in [a, b, department] { try context.refresh(object, mergeChanges: false) }
    try undo.undo()
    #expect(try a.object(forKey: "department") == nil)
    try undo.undo()
    #expect(try a["firstName"] == .null && a["age"] == 50 && a.object(forKey: "department") == nil)
    try context.save()
    #expect(try bench.saved("Person", "age") == [50])
  }

  @Test(arguments: StoreKind.allCases) func bytesOfTheirOwnFilesComeBack(_ kind: StoreKind) throws {
    var entity = EntityDescription("Picture")
    var bytes = AttributeDescription("bytes", type: .binaryData)
    bytes.allowsExternalBinaryDataStorage = true
    entity.attributes = [bytes]
    let bench = try StoreBench(kind, ManagedObjectModel(entities: [entity]))
    let (context, undo) = undoing(bench.context())
    let old = Value.data(Data(repeating: 1, count: 300_000))
    let picture = try context.insert("Picture", values: ["bytes": old])
    try context.save()
    try context.refresh(picture, mergeChanges: false)
    try picture.setValue(.data(Data(repeating: 2, count: 300_000)), forKey: "bytes")
    try context.save()
    try context.delete(picture)
    try context.save()
    try undo.undo()
    try undo.undo()
    try context.save()
    #expect(picture["bytes"] == old)
    #expect(try bench.saved("Picture", "bytes").count == 1)
    let other = bench.stranger()
    for picture in try other.fetch(FetchRequest("Picture")) { #expect(picture["bytes"] == old) }
  }

  @Test(arguments: StoreKind.allCases) func oneToOneAndOneSidedRelationshipsComeBack(_ kind: StoreKind) throws {
    var model = People.modelWithGuests()
    model.entities[0].relationships.append(.toOne("partner", destination: "Person", inverse: "partner"))
    model.entities[0].relationships.append(.toMany("bookmarks", destination: "Project"))
    let bench = try StoreBench(kind, model)
    let (context, undo) = undoing(bench.context())
    let people = try (0..<4).map { _ in try context.insert("Person") }
    let project = try context.insert("Project", values: ["title": "x"])
    try people[0].setObject(people[1], forKey: "partner")
    try people[2].setObject(people[3], forKey: "partner")
    try people[0].add(project, to: "bookmarks")
    try context.save()
    try people[0].setObject(people[2], forKey: "partner")
    try context.delete(project)
    try context.save()
    try undo.undo()
    #expect(try people[1].object(forKey: "partner") === people[0] && people[3].object(forKey: "partner") === people[2])
    #expect(try people[0].objects(forKey: "bookmarks") == [project])
    try context.save()
    let stranger = bench.stranger()
    let other = try stranger.object(with: people[0].objectID)
    #expect(try other.objects(forKey: "bookmarks").map { $0["title"] } == ["x"])
    #expect(try other.object(forKey: "partner")?.objectID == people[1].objectID)
    try undo.redo()
    #expect(try people[2].object(forKey: "partner") === people[0] && people[0].objects(forKey: "bookmarks").isEmpty)
  }
}
