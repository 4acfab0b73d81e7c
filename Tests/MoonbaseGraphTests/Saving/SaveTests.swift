import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct SaveTests {
  @Test(arguments: StoreKind.withFolder)
  func insertedObjectGetsPermanentIDAndIsFoundByAnotherContext(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let person = try context.insert("Person", values: ["firstName": "Captain", "age": 30])
    #expect(person.objectID.isTemporaryID && person.isInserted)
    try context.save()
    #expect(!person.objectID.isTemporaryID && !person.hasChanges && !context.hasChanges)
    let other = try ManagedObjectContext(coordinator)
    let found = try other.fetch(FetchRequest("Person"))
    #expect(found.map { $0["firstName"] } == ["Captain"])
    #expect(found[0].objectID == person.objectID && found[0] !== person)
  }

  @Test(arguments: StoreKind.withFolder) func changeIsSavedOnceAndRaisesTheVersion(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let person = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    try person.setValue("B", forKey: "firstName")
    #expect(person.isUpdated && context.updatedObjects == [person])
    try context.save()
    #expect(try coordinator.persistentStores[0].snapshot(of: person.objectID)?.version == 2)
    try person.setValue("B", forKey: "firstName")
    #expect(!person.isUpdated && !context.hasChanges)
  }

  /// Few additions to many members and many additions to few members are written in two ways.
  @Test(arguments: StoreKind.withFolder, [(40, 2), (2, 40), (0, 3), (4, 1)])
  func destinationsHaveTheirPermanentIDsAfterASave(_ kind: StoreKind, _ counts: (Int, Int)) throws {
    let (there, coming) = counts
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department", values: ["name": "R&D"])
    var employees: [ManagedObject] = []
    for count in [there, coming] {
      for _ in 0..<count {
        let person = try context.insert("Person", values: ["firstName": "A"])
        try department.add(person, to: "employees")
        employees.append(person)
      }
      try context.save()
      let ids = try department.objectIDs(forRelationshipNamed: "employees")
      #expect(ids.count == employees.count && Set(ids) == Set(employees.map(\.objectID)))
      #expect(ids.allSatisfy { !$0.isTemporaryID })
    }
  }

  @Test(arguments: StoreKind.withFolder) func deletedObjectsAreSavedOnes(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let saved = try context.insert("Person", values: ["firstName": "A"])
    try context.save()
    let new = try context.insert("Person", values: ["firstName": "B"])
    try context.delete(new)
    #expect(context.deletedObjects.isEmpty && context.insertedObjects.isEmpty)
    try context.delete(saved)
    #expect(context.deletedObjects == [saved])
  }

  @Test(arguments: StoreKind.withFolder) func failedSaveKeepsContextAndStoreAsTheyWere(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let context = try ManagedObjectContext(coordinator)
    let good = try context.insert("Person", values: ["firstName": "A", "email": "x@y"])
    try context.save()
    let bad = try context.insert("Person", values: ["email": "x@y"])
    try good.setValue("changed", forKey: "firstName")
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .constraintConflict }
    #expect(bad.isInserted && bad.objectID.isTemporaryID && good.isUpdated)
    #expect(try coordinator.persistentStores[0].snapshots(matching: allPeople(context)).count == 1)
    try bad.setValue("other@y", forKey: "email")
    try context.save()
    #expect(try context.count(FetchRequest("Person")) == 2)
  }

  @Test(arguments: StoreKind.withFolder)
  func conflictWithAnotherContextIsReportedAndRefreshSolvesIt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let coordinator = bench.coordinator
    let one = try ManagedObjectContext(coordinator)
    let person = try one.insert("Person", values: ["firstName": "A", "lastName": "L"])
    try one.save()
    let two = try ManagedObjectContext(coordinator)
    let same = try two.object(with: person.objectID)
    #expect(same["firstName"] == "A")
    try person.setValue("one", forKey: "firstName")
    try one.save()
    try same.setValue("two", forKey: "lastName")
    #expect { try two.save() } throws: { error in
      let error = error as? GraphError
      return error?.code == .mergeConflict && error?.objectID == person.objectID
    }
    try two.refresh(same, mergeChanges: true)
    #expect(same["firstName"] == "one" && same["lastName"] == "two")
    try two.save()
  }

  @Test(arguments: StoreKind.withFolder) func savingInsideAHookIsRefused(_ kind: StoreKind) throws {
    var extensions = ClosureExtensions()
    extensions.extend("Person") {
      var hooks = EntityExtension()
      hooks.willSave = { try $0.managedObjectContext?.save() }
      return hooks
    }
    let bench = try StoreBench(kind)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    try context.insert("Person")
    #expect { try context.save() } throws: { ($0 as? GraphError)?.code == .recursiveSave }
  }

  @Test(arguments: StoreKind.withFolder) func rollbackForgetsNewObjectsAndRestoresOthers(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let person = try context.insert("Person", values: ["firstName": "A"])
    let gone = try context.insert("Person", values: ["firstName": "G"])
    try context.save()
    try person.setValue("B", forKey: "firstName")
    try context.delete(gone)
    let new = try context.insert("Person")
    try context.rollback()
    #expect(person["firstName"] == "A" && !gone.isDeleted && gone["firstName"] == "G")
    #expect(new.managedObjectContext == nil && !context.hasChanges)
  }

  private func allPeople(_ context: ManagedObjectContext) throws -> StoreQuery {
    StoreQuery(entity: try #require(context.model.entity("Person")), in: context.model)
  }

  @Test(arguments: StoreKind.withFolder)
  func keysThatRunOutAreAnErrorThatNamesTheStoreAndTheEntity(_ kind: StoreKind) throws {
    var limited: FailingStore?
    let bench = try StoreBench(kind) {
      let store = FailingStore($0)
      limited = store
      return store
    }
    let context = bench.context()
    for _ in 0..<3 { try context.insert("Person") }
    let store = bench.coordinator.persistentStores[0]
    for first in [Int64.max - 1, .max, 0, -5] {
      limited?.give(firstKey: first)
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .invalidStore && error?.entity == "Person")
      #expect(error?.message.contains(store.url?.path ?? store.identifier) == true)
      #expect(context.insertedObjects.count == 3)
    }
    limited?.give(firstKey: Int64.max - 2)
    try context.save()
  }
}
