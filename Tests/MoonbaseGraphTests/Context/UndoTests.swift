import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Gives a context an undo manager without actions.
func undoing(_ context: ManagedObjectContext) -> (ManagedObjectContext, UndoManager) {
  let undo = UndoManager()
  context.undoManager = undo
  return (context, undo)
}

/// Undo and redo of unsaved changes, over each kind of store.
@Suite struct UndoTests {
  private func people(_ kind: StoreKind) throws -> (bench: StoreBench, ManagedObjectContext, UndoManager) {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(bench.context())
    return (bench, context, undo)
  }

  @Test(arguments: StoreKind.allCases) func nothingIsKeptWithoutAManager(_ kind: StoreKind) throws {
    let context = try StoreBench(kind).context()
    let person = try context.insert("Person")
    #expect(!context.journal.isActive && context.undoManager == nil)
    try context.undo()
    try context.redo()
    #expect(context.insertedObjects == [person])
  }

  @Test(arguments: StoreKind.allCases) func aValueIsUndoneAndDoneAgain(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let person = try context.insert("Person", values: ["firstName": "Ann", "age": 30])
    try context.save()
    try person.setValue("Bea", forKey: "firstName")
    try person.setValue(31, forKey: "age")
    #expect(undo.canUndo && !undo.canRedo)
    try context.undo()
    #expect(try person.value(forKey: "firstName") == "Ann" && person.value(forKey: "age") == 30)
    #expect(!context.hasChanges && !person.isUpdated && undo.canRedo)
    try context.redo()
    #expect(try person.value(forKey: "firstName") == "Bea" && person.value(forKey: "age") == 31)
    #expect(context.updatedObjects == [person] && !undo.canRedo)
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func groupsEndWithEventsAndNotWithFetches(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let person = try context.insert("Person")
    try context.processPendingChanges()
    try person.setValue("a", forKey: "firstName")
    _ = try context.fetch(FetchRequest("Person", where: "age > 3"))
    try person.setValue("b", forKey: "lastName")
    try context.processPendingChanges()
    try person.setValue("c", forKey: "firstName")
    try undo.undo()
    #expect(try person.value(forKey: "firstName") == "a" && person.value(forKey: "lastName") == "b")
    try undo.undo()
    #expect(try person.value(forKey: "firstName") == .null && person.value(forKey: "lastName") == .null)
    try undo.undo()
    #expect(person.managedObjectContext == nil && !context.hasChanges && !undo.canUndo)
    for _ in 0..<4 { try undo.redo() }
    #expect(try person.value(forKey: "firstName") == "c" && person.value(forKey: "lastName") == "b")
    #expect(person.managedObjectContext === context && person.isInserted)
  }

  @Test(arguments: StoreKind.allCases) func groupsThatAreBegunLieWithinEachOther(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let person = try context.insert("Person")
    try undo.beginUndoGrouping()
    try person.setValue("a", forKey: "firstName")
    try context.processPendingChanges()
    try undo.beginUndoGrouping()
    try person.setValue("b", forKey: "firstName")
    #expect(undo.groupingLevel == 2)
    #expect(throws: GraphError.self) { try undo.undo() }
    try undo.endUndoGrouping()
    try context.save()
    try person.setValue("c", forKey: "firstName")
    try undo.endUndoGrouping()
    #expect(throws: GraphError.self) { try undo.endUndoGrouping() }
    try undo.undo()
    #expect(try person.value(forKey: "firstName") == .null && person.managedObjectContext === context)
    try undo.redo()
    #expect(try person.value(forKey: "firstName") == "c")
  }

  @Test(arguments: StoreKind.allCases) func withoutEventsAGroupEndsWhereThatIsSaid(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    undo.groupsByEvent = false
    let person = try context.insert("Person")
    try context.save()
    try person.setValue("a", forKey: "firstName")
    try context.processPendingChanges()
    try undo.beginUndoGrouping()
    try person.setValue("b", forKey: "firstName")
    try undo.endUndoGrouping()
    try person.setValue("c", forKey: "firstName")
    try undo.undo()
    #expect(try person.value(forKey: "firstName") == "b")
    try undo.undo()
    #expect(try person.value(forKey: "firstName") == "a")
    try undo.undo()
    #expect(person.isDeleted && !undo.canUndo)
  }

  @Test(arguments: StoreKind.allCases) func groupsHaveNamesAndTheOldestGo(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let person = try context.insert("Person")
    undo.setActionName("New Person")
    try context.processPendingChanges()
    #expect(undo.undoActionName == "New Person" && undo.redoActionName == "")
    for name in ["a", "b", "c"] {
      try person.setValue(.string(name), forKey: "firstName")
      undo.setActionName("Name \(name)")
      try context.processPendingChanges()
    }
    undo.levelsOfUndo = 2
    #expect(undo.undoActionName == "Name c")
    try undo.undo()
    #expect(undo.undoActionName == "Name b" && undo.redoActionName == "Name c")
    try undo.undo()
    #expect(undo.undoActionName == "" && !undo.canUndo && undo.redoActionName == "Name b")
    try undo.undo()
    #expect(try person.value(forKey: "firstName") == "a")
    try undo.redo()
    #expect(undo.undoActionName == "Name b")
    try person.setValue(1, forKey: "age")
    #expect(!undo.canRedo && undo.redoActionName == "")
  }

  @Test(arguments: StoreKind.allCases) func bothSidesOfRelationshipsFollow(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let (a, b) = (try context.insert("Person"), try context.insert("Person"))
    let (one, two) = (try context.insert("Department"), try context.insert("Department"))
    try a.setObject(one, forKey: "department")
    try context.save()
    try a.setObject(two, forKey: "department")
    try a.add(b, to: "friends")
    try undo.undo()
    #expect(try a.object(forKey: "department") === one && one.objects(forKey: "employees") == [a])
    #expect(try two.objects(forKey: "employees").isEmpty && b.objects(forKey: "friends").isEmpty)
    #expect(!context.hasChanges)
    try undo.redo()
    #expect(try two.objects(forKey: "employees") == [a] && b.objects(forKey: "friends") == [a])
    #expect(try one.objects(forKey: "employees").isEmpty && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases, [false, true])
  func membersOfOrderedRelationshipsComeBackToTheirPlaces(_ kind: StoreKind, isRead: Bool) throws {
    let (bench, first, _) = try people(kind)
    let made = try (0..<5).map { try first.insert("Project", values: ["title": .string("\($0)")]) }
    let owner = try first.insert("Department")
    try owner.setObjects(made, forKey: "projects")
    try first.save()
    let (context, undo) = undoing(bench.stranger())
    let department = try context.object(with: owner.objectID)
    let projects = try made.map { try context.object(with: $0.objectID) }
    if isRead { #expect(try department.objects(forKey: "projects") == projects) }
    try projects[1].setObject(nil, forKey: "department")
    try context.delete(projects[3])
    try context.processPendingChanges()
    try department.setObjects([projects[4], projects[0], projects[2]], forKey: "projects")
    try undo.undo()
    #expect(try department.objects(forKey: "projects") == [projects[0], projects[2], projects[4]])
    try undo.undo()
    #expect(try department.objects(forKey: "projects") == projects && !context.hasChanges)
    try undo.redo()
    try undo.redo()
    #expect(try department.objects(forKey: "projects") == [projects[4], projects[0], projects[2]])
    try context.save()
    for _ in 0..<2 { try undo.undo() }
    #expect(try department.objects(forKey: "projects") == projects)
    try context.save()
    let other = bench.stranger()
    let titles = try other.object(with: owner.objectID).objects(forKey: "projects").map { $0["title"] }
    #expect(titles == ["0", "1", "2", "3", "4"])
  }

  @Test(arguments: StoreKind.allCases) func theSameObjectsComeAndGo(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let department = try context.insert("Department")
    let project = try context.insert("Project", values: ["title": "old"])
    try department.add(project, to: "projects")
    try context.save()
    let person = try context.insert(
      "Person", values: ["firstName": "Ann", "department": .objectID(department.objectID)])
    try context.processPendingChanges()
    let id = person.objectID
    try context.delete(department)
    try context.processPendingChanges()
    #expect(try project.isDeleted && person.object(forKey: "department") == nil)
    try undo.undo()
    #expect(try !project.isDeleted && !department.isDeleted && person.object(forKey: "department") === department)
    #expect(try department.objects(forKey: "projects") == [project])
    #expect(context.updatedObjects == [department] && context.insertedObjects == [person])
    try undo.undo()
    #expect(try !context.hasChanges && department.objects(forKey: "employees").isEmpty)
    #expect(throws: GraphError.self) { try person.value(forKey: "firstName") }
    try undo.redo()
    #expect(try person.objectID == id && department.objects(forKey: "employees") == [person])
    #expect(person["firstName"] == "Ann")
    try undo.redo()
    #expect(context.deletedObjects.count == 2 && context.brokenInvariants() == [])
  }

  /// The deleted new object leaves the context once its delete rules have run, and undo restores it.
  @Test(arguments: StoreKind.allCases) func aNewObjectThatWasDeletedComesBack(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    let (a, b) = (try context.insert("Person", values: ["firstName": "a"]), try context.insert("Person"))
    try a.add(b, to: "friends")
    try context.processPendingChanges()
    try context.delete(a)
    try undo.undo()
    #expect(try context.insertedObjects.count == 2 && b.objects(forKey: "friends") == [a] && a["firstName"] == "a")
    try undo.redo()
    #expect(try context.insertedObjects == [b] && b.objects(forKey: "friends").isEmpty)
    try context.save()
    try undo.undo()
    #expect(try a.objects(forKey: "friends") == [b] && b.objects(forKey: "friends") == [a] && a["firstName"] == "a")
    try context.save()
    let other = bench.stranger()
    #expect(try other.object(with: a.objectID).objects(forKey: "friends").map(\.objectID) == [b.objectID])
  }

  @Test(arguments: StoreKind.allCases) func whatIsReadIsNoStep(_ kind: StoreKind) throws {
    let (bench, first, _) = try people(kind)
    let id = try first.insert("Person", values: ["firstName": "Ann"]).objectID
    try first.save()
    _ = id
    let (context, undo) = undoing(
      bench.context { entry in
        entry.awakeFromFetch = { try $0.setPrimitiveValue("awake", forKey: "fullName") }
      })
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    _ = try (person.value(forKey: "fullName"), person.objects(forKey: "friends"), person.object(forKey: "department"))
    // As an accessor that caches a computed value does.
    try person.setPrimitiveValue("computed", forKey: "fullName")
    try context.refresh(person, mergeChanges: true)
    try context.processPendingChanges()
    #expect(!undo.canUndo)
    try person.setValue("Bea", forKey: "firstName")
    try undo.undo()
    #expect(!undo.canUndo && person["firstName"] == "Ann")
  }

  @Test(arguments: StoreKind.allCases) func transientValuesComeBackWithTheirObject(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let person = try context.insert("Person")
    try person.setValue("full", forKey: "fullName")
    try context.save()
    try person.setValue("fuller", forKey: "fullName")
    try context.processPendingChanges()
    try context.delete(person)
    try context.save()
    try undo.undo()
    #expect(person["fullName"] == "fuller")
    try undo.undo()
    #expect(person["fullName"] == "full")
    try undo.redo()
    #expect(person["fullName"] == "fuller")
  }

  @Test(arguments: StoreKind.allCases) func delayedValuesAreUndoneBeforeAndAfterTheyAreWritten(_ kind: StoreKind) throws
  {
    let bench = try StoreBench(kind)
    var bounds = DerivedAttribute(
      "bounds", ownInputs: ["boundsAsString"], writePolicy: .delayed, get: { try $0.value(forKey: "boundsAsString") })
    bounds.set = { value, object in try object.setPrimitiveValue(value, forKey: "boundsAsString") }
    let (context, undo) = undoing(bench.context { $0.derived = [bounds] })
    let person = try context.insert("Person")
    try person.setValue("one", forKey: "bounds")
    try context.save()
    try person.setValue("two", forKey: "bounds")
    try undo.undo()
    #expect(person["bounds"] == "one" && person["boundsAsString"] == "one" && !context.hasChanges)
    try undo.redo()
    #expect(person["bounds"] == "two" && person["boundsAsString"] == "one")
    try context.save()
    #expect(person["boundsAsString"] == "two")
    try undo.undo()
    #expect(person["bounds"] == "one" && person["boundsAsString"] == "one")
    try context.save()
    #expect(try bench.saved("Person", "boundsAsString") == ["one"])
    try undo.redo()
    #expect(person["bounds"] == "two")
  }

  @Test(arguments: StoreKind.allCases) func transformedValuesComeBack(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let domain = ExtensionRegistry()
    domain.transformers["ColorTransformer"] = ValueTransformer(
      "ColorTransformer",
      transformedValue: { value in
        guard case .string(let text) = value else { return .null }
        return .data(Data(text.utf8))
      },
      reverseTransformedValue: { value in
        guard case .data(let bytes) = value else { return .null }
        return .string(String(decoding: bytes, as: UTF8.self))
      })
    let (context, undo) = undoing(ManagedObjectContext(bench.coordinator, extensionRegistry: domain))
    let person = try context.insert("Person", values: ["color": "red"])
    try context.save()
    try person.setValue("blue", forKey: "color")
    try undo.undo()
    #expect(person["color"] == "red" && !context.hasChanges)
    try undo.redo()
    #expect(person["color"] == "blue")
  }

  @Test(arguments: StoreKind.allCases) func aFailedInsertionIsNoStep(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(
      bench.context { entry in
        entry.awakeFromInsert = { object in
          try object.setValue("x", forKey: "firstName")
          throw Broken()
        }
      })
    let department = try context.insert("Department")
    try context.processPendingChanges()
    #expect(throws: (any Error).self) { try context.insert("Person") }
    try context.processPendingChanges()
    try undo.undo()
    #expect(department.managedObjectContext == nil && !undo.canUndo)
  }

  @Test(arguments: StoreKind.allCases) func nothingIsUndoneWithinHooksAndTransactions(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(
      bench.context { $0.prepareForDeletion = { try $0.managedObjectContext?.undo() } })
    let person = try context.insert("Person")
    #expect(throws: GraphError.self) { try context.delete(person) }
    try context.save()
    #expect(throws: GraphError.self) {
      try context.transaction {
        try person.setValue("a", forKey: "firstName")
        try context.undo()
      }
    }
    #expect(person["firstName"] == .null && undo.canUndo)
    try context.transaction {
      try person.setValue("a", forKey: "firstName")
      try context.processPendingChanges()
      try context.insert("Department")
    }
    try person.setValue("b", forKey: "firstName")
    try undo.undo()
    try undo.undo()
    #expect(person["firstName"] == .null && context.deletedObjects.count == 1 && !person.isDeleted)
    try undo.redo()
    #expect(try person["firstName"] == "a" && context.fetch(FetchRequest("Department")).count == 1)
  }

  @Test(arguments: StoreKind.allCases) func whatIsNotRegisteredStays(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    let person = try context.insert("Person")
    try context.save()
    try person.setValue("a", forKey: "firstName")
    undo.disableUndoRegistration()
    #expect(!undo.isUndoRegistrationEnabled && !context.journal.isActive)
    try person.setValue("x", forKey: "lastName")
    let other = try context.insert("Person")
    undo.enableUndoRegistration()
    undo.enableUndoRegistration()
    try person.setValue(7, forKey: "age")
    try undo.undo()
    try undo.undo()
    #expect(person["firstName"] == .null && person["lastName"] == "x" && person["age"] == 0)
    #expect(context.insertedObjects == [other] && context.updatedObjects == [person])
    undo.disableUndoRegistration()
    try undo.undo()
    #expect(person.isDeleted && undo.canRedo && !context.journal.isActive)
    try undo.redo()
    #expect(!person.isDeleted && context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func aHookMayChangeWithoutRegistration(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, undo) = undoing(
      bench.context { entry in
        entry.willSave = { object in
          let undo = object.managedObjectContext?.undoManager
          undo?.disableUndoRegistration()
          if object["lastName"].isNull { try object.setValue("by a hook", forKey: "lastName") }
          undo?.enableUndoRegistration()
        }
      })
    let person = try context.insert("Person")
    undo.removeAllActions()
    #expect(!undo.canUndo)
    try person.setValue("Ann", forKey: "firstName")
    try context.save()
    try undo.undo()
    #expect(person["firstName"] == .null && person["lastName"] == "by a hook" && !undo.canUndo)
  }

  @Test(arguments: StoreKind.allCases) func rollbackAndResetLeaveNothingToUndo(_ kind: StoreKind) throws {
    let (bench, context, undo) = try people(kind)
    defer { withExtendedLifetime(bench) {} }
    for giveUp in [{ try context.rollback() }, { try context.reset() }] {
      let person = try context.insert("Person")
      try context.save()
      try person.setValue("a", forKey: "firstName")
      try context.processPendingChanges()
      try undo.undo()
      #expect(undo.canUndo && undo.canRedo)
      try giveUp()
      #expect(!undo.canUndo && !undo.canRedo)
    }
    let new = try context.insert("Person")
    try undo.undo()
    #expect(new.managedObjectContext == nil)
  }

  @Test func aManagerServesOneContext() throws {
    let bench = try StoreBench(.memory)
    let (first, undo) = undoing(bench.context())
    try first.insert("Person")
    let second = bench.context()
    second.undoManager = undo
    #expect(first.undoManager == nil && !undo.canUndo && !first.journal.isActive)
    let person = try second.insert("Person")
    try undo.undo()
    #expect(person.managedObjectContext == nil && first.insertedObjects.count == 1)
    second.undoManager = nil
    #expect(!second.journal.isActive && second.brokenInvariants() == [])
  }

  @Test func whatCannotBeUndoneAnyMoreIsLetGo() throws {
    let (bench, context, undo) = try people(.memory)
    defer { withExtendedLifetime(bench) {} }
    weak var gone: ManagedObject?
    let before = context.memory.weight
    do {
      let person = try context.insert("Person", values: ["firstName": .string(String(repeating: "x", count: 5000))])
      gone = person
      try context.processPendingChanges()
      try undo.undo()
    }
    #expect(gone != nil && context.memory.weight > before + 5000)
    try context.insert("Department")
    try context.rollback()
    #expect(gone == nil && context.memory.weight == before)
  }

  /// The work of an undo step is proportional to the values that it restores.
  @Test func manyChangesAreUndoneAndDoneAgain() throws {
    let (bench, context, undo) = try people(.memory)
    defer { withExtendedLifetime(bench) {} }
    let count = 20_000
    let department = try context.insert("Department")
    let people = try (0..<count).map { _ in try context.insert("Person") }
    try context.save()
    for (index, person) in people.enumerated() {
      try person.setValue(.int(Int64(index % 100) + 1), forKey: "age")
      try person.setObject(department, forKey: "department")
    }
    try undo.undo()
    #expect(!context.hasChanges && people[count - 1]["age"] == 0)
    try undo.redo()
    #expect(try context.updatedObjects.count == count + 1 && department.objects(forKey: "employees").count == count)
    try undo.undo()
    try undo.undo()
    #expect(context.deletedObjects.count == count + 1)
    try undo.redo()
    #expect(!context.hasChanges && context.brokenInvariants() == [])
  }
}
