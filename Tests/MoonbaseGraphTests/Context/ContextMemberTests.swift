import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

/// Properties and methods of a context that concern the context as a whole.
@Suite struct ContextMemberTests {
  /// See docs/divergences.md: the number of levels need not be set.
  @Test(arguments: StoreKind.allCases) func undoIsOffUntilAManagerIsSetAndThenHasNoBound(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    #expect(context.undoManager == nil)
    let person = try context.insert("Person")
    try context.undo()
    #expect(context.insertedObjects == [person] && context.journal.base == 0)
    let undo = UndoManager()
    context.undoManager = undo
    #expect(undo.levelsOfUndo == 0)
    for age in 1...120 {
      try person.setValue(.int(Int64(age)), forKey: "age")
      try context.processPendingChanges()
    }
    var count = 0
    while undo.canUndo {
      try undo.undo()
      count += 1
    }
    #expect(count == 120 && person["age"] == 0 && context.insertedObjects == [person])
    withExtendedLifetime(bench) {}
  }

  @Test(arguments: StoreKind.withFolder) func newObjectsGetTheIDsUnderWhichTheyAreSaved(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let department = try context.insert("Department", values: ["name": "a"])
    let people = try (0..<3).map { try context.insert("Person", values: ["age": .int(Int64($0))]) }
    let project = try context.insert("Project")
    for person in people { try person.setObject(department, forKey: "department") }
    try people[0].add(people[1], to: "friends")
    try department.setObjects([project], forKey: "projects")
    try context.obtainPermanentIDs(for: [department, people[0], people[1], people[0]])
    let ids = [department.objectID, people[0].objectID, people[1].objectID]
    #expect(ids.allSatisfy { !$0.isTemporaryID } && people[2].objectID.isTemporaryID && department.isInserted)
    #expect(context.registeredObject(for: ids[0]) === department && context.brokenInvariants() == [])
    #expect(
      try people[2].object(forKey: "department") === department && department.objects(forKey: "employees").count == 3)
    #expect(try context.fetch(FetchRequest("Person", where: "department.name == 'a' AND age < 2")).count == 2)
    try people[1].setValue(7, forKey: "age")
    try context.obtainPermanentIDs(for: [department])
    try context.save()
    #expect([department.objectID, people[0].objectID, people[1].objectID] == ids && !context.hasChanges)
    let other = bench.stranger()
    #expect(try other.object(with: ids[0]).objects(forKey: "employees").count == 3)
    #expect(try other.object(with: ids[1]).objectIDs(forRelationshipNamed: "friends") == [ids[2]])
    #expect(
      try other.object(with: ids[2])["age"] == 7
        && other.object(with: project.objectID).object(forKey: "department") != nil)
    #expect(context.brokenInvariants() == [])
  }

  @Test(arguments: StoreKind.allCases) func objectsWithPermanentIDsAreGivenUpAndDeletedAsNewOnes(_ kind: StoreKind)
    throws
  {
    let (bench, store) = try StoreBench.failing(kind, People.model())
    let context = bench.context()
    let (a, b) = (try context.insert("Person", values: ["firstName": "a"]), try context.insert("Person"))
    try context.obtainPermanentIDs(for: [a, b])
    let id = a.objectID
    try context.delete(b)
    try context.processPendingChanges()
    #expect(b.managedObjectContext == nil && context.insertedObjects == [a])
    store.fail(atCommit: true)
    #expect(throws: (any Error).self) { try context.save() }
    store.fail(atCommit: false)
    #expect(a.isInserted && a.objectID == id && a["firstName"] == "a")
    try context.rollback()
    #expect(a.managedObjectContext == nil && context.registeredObject(for: id) == nil)
    let new = try context.insert("Person")
    store.fail(onceAfterCalls: 0)
    #expect(throws: (any Error).self) { try context.obtainPermanentIDs(for: [new]) }
    store.fail(onceAfterCalls: nil)
    #expect(new.objectID.isTemporaryID)
    #expect(throws: GraphError.self) { try context.transaction { try context.obtainPermanentIDs(for: []) } }
    #expect(throws: GraphError.self) { try bench.context().obtainPermanentIDs(for: [new]) }
    try context.save()
    #expect(try bench.saved("Person", "firstName") == [.null] && new.objectID != id)
  }

  @Test(arguments: StoreKind.allCases) func permanentIDsAreNoUndoStep(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let undo = UndoManager()
    context.undoManager = undo
    let (a, b) = (try context.insert("Person"), try context.insert("Person"))
    try a.add(b, to: "friends")
    try context.obtainPermanentIDs(for: [b])
    try a.setValue("a", forKey: "firstName")
    try context.processPendingChanges()
    try undo.undo()
    #expect(!context.hasChanges && !undo.canUndo)
    try undo.redo()
    #expect(try a.objects(forKey: "friends") == [b] && a["firstName"] == "a")
    try context.save()
    #expect(try bench.saved("Person", "firstName") == [.null, "a"])
  }

  @Test func aNewObjectIsSavedInTheStoreThatItIsAssignedTo() throws {
    let model = try People.model().resolved()
    let coordinator = PersistentStoreCoordinator(model: model)
    let stores = try (0..<2).map { _ in try InMemoryStore(model: model) }
    for store in stores { try coordinator.add(store) }
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    let (a, b, c) = (try context.insert("Person"), try context.insert("Person"), try context.insert("Person"))
    try context.assign(a, to: stores[1])
    try context.assign(a, to: stores[1])
    try context.assign(c, to: stores[0])
    #expect(throws: GraphError.self) { try context.assign(a, to: stores[0]) }
    #expect(throws: GraphError.self) { try context.assign(b, to: InMemoryStore(model: model)) }
    #expect(throws: GraphError.self) { try a.add(b, to: "friends") }
    try context.save()
    #expect(a.objectID.storeNumber == StoreNumber(stores[1].identifier).rawValue)
    #expect(b.objectID.storeNumber == c.objectID.storeNumber && b.objectID.storeNumber != a.objectID.storeNumber)
    #expect(throws: GraphError.self) { try context.assign(b, to: stores[1]) }
  }

  @Test(arguments: StoreKind.allCases) func allObjectsAreReadAnewAndKeepTheirChanges(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let people = try (0..<4).map { try context.insert("Person", values: ["age": .int(Int64($0))]) }
    try context.save()
    let new = try context.insert("Person", values: ["age": 50])
    try people[0].setValue("mine", forKey: "firstName")
    try people[1].setPrimitiveValue("transient", forKey: "fullName")
    try people[3].setValue("lost", forKey: "firstName")
    let other = bench.stranger()
    for person in people { try other.object(with: person.objectID).setValue(90, forKey: "age") }
    try other.save()
    try other.delete(other.object(with: people[3].objectID))
    try other.save()
    // The row of a changed object is gone, so the call throws; all other objects are refreshed.
    #expect(throws: GraphError.self) { try context.refreshAllObjects() }
    #expect(people[0]["age"] == 90 && people[0]["firstName"] == "mine" && people[1]["age"] == 90)
    #expect(people[1]["fullName"] == "transient" && people[2].isFault && people[2]["age"] == 90 && new["age"] == 50)
    #expect(context.updatedObjects == [people[0], people[3]] && context.brokenInvariants() == [])
    try context.refresh(people[3], mergeChanges: false)
    try context.refreshAllObjects()
    try context.save()
    #expect(try bench.saved("Person", "firstName") == [.null, .null, .null, "mine"])
  }

  @Test(arguments: StoreKind.allCases) func aRefreshOfAllGoesOnAfterAHookThatFails(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context { entry in
      entry.willTurnIntoFault = { if $0["firstName"] == "bad" { throw Broken() } }
    }
    let people = try ["bad", "good", "bad"].map { try context.insert("Person", values: ["firstName": .string($0)]) }
    try context.save()
    #expect(throws: (any Error).self) { try context.refreshAllObjects() }
    #expect(people.allSatisfy { $0.isFault })
  }

  @Test(arguments: StoreKind.allCases) func deleteRulesCanBeLeftToTheSave(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    let project = try context.insert("Project", values: ["title": "x"])
    let department = try context.insert("Department", values: ["projects": .list([.objectID(project.objectID)])])
    try context.save()
    context.propagatesDeletesAtEndOfEvent = false
    try context.delete(department)
    try context.processPendingChanges()
    #expect(try context.fetch(FetchRequest("Project")) == [project] && !project.isDeleted)
    try context.save()
    #expect(try bench.saved("Project", "title") == [])
  }

  @Test func aContextHasAName() throws {
    let context = try StoreBench(.memory).context()
    #expect(context.name == nil)
    context.name = "import"
    #expect(context.name == "import")
  }

  @Test(arguments: StoreKind.allCases) func registeredObjectsAreKeptWhereThatIsWanted(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    context.retainsRegisteredObjects = true
    for name in ["a", "b"] { try context.insert("Person", values: ["firstName": .string(name)]) }
    try context.save()
    #expect(Set(context.registeredObjects.map { $0["firstName"] }) == ["a", "b"])
    let other = bench.context()
    other.retainsRegisteredObjects = true
    #expect(try other.fetch(FetchRequest("Person")).count == 2 && other.registeredObjects.count == 2)
    try other.delete(other.registeredObjects[0])
    try other.save()
    try other.insert("Person")
    #expect(other.registeredObjects.count == 2)
    try other.rollback()
    #expect(other.registeredObjects.count == 1 && other.brokenInvariants() == [])
    other.retainsRegisteredObjects = false
    #expect(other.registeredObjects.isEmpty)
    // The property applies to objects already registered and, after a reset, to objects registered later.
    let held = try #require(other.fetch(FetchRequest("Person")).first)
    other.retainsRegisteredObjects = true
    withExtendedLifetime(held) {}
    #expect(other.registeredObjects.count == 1)
    try other.reset()
    #expect(other.registeredObjects.isEmpty)
    _ = try other.fetch(FetchRequest("Person"))
    #expect(other.registeredObjects.count == 1 && context.registeredObjects.count == 2)
  }

  @Test(arguments: StoreKind.withFolder) func aSaveLooksAtObjectsThatItIsToldToLookAt(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let (context, other) = (bench.context(), bench.stranger())
    let account = try context.insert("Person", values: ["firstName": "a"])
    let gone = try context.insert("Person", values: ["firstName": "gone"])
    try context.save()
    func change(_ name: String) throws {
      let theirs = try other.object(with: account.objectID)
      try other.refresh(theirs, mergeChanges: false)
      try theirs.setValue(.string(name), forKey: "firstName")
      try other.save()
    }
    try context.detectConflicts(for: account)
    try context.insert("Department")
    try context.save()
    try change("b")
    try context.insert("Department")
    try context.save()
    #expect(account["firstName"] == "a")
    try context.detectConflicts(for: account)
    try context.insert("Department")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .mergeConflict && error?.objectID == account.objectID && context.insertedObjects.count == 1)
    context.mergePolicy = .mergeByPropertyObjectTrump
    try context.save()
    #expect(account["firstName"] == "b" && !context.hasChanges)
    context.mergePolicy = .error
    try context.detectConflicts(for: account)
    try context.detectConflicts(for: gone)
    try other.delete(other.object(with: gone.objectID))
    try other.save()
    try context.insert("Department")
    #expect(throws: GraphError.self) { try context.save() }
    try context.rollback()
    try context.insert("Department")
    try context.save()
    #expect(try bench.saved("Department", "name").count == 4)
  }

  /// A save only checks one of its stores for conflicts; that check must hold until all stores are saved.
  @Test(arguments: StoreKind.allCases) func nobodySavesWhereASaveOnlyLooks(_ kind: StoreKind) async throws {
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(model: try People.model().resolved())
    let looked = try kind.store(for: coordinator.model, in: folder)
    let written = FailingStore(try kind.store(for: coordinator.model, in: folder))
    try coordinator.add(looked)
    try coordinator.add(written)
    let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    let account = try context.insert("Person", values: ["firstName": "a"])
    try context.assign(account, to: looked)
    try context.save()
    let id = account.objectID
    let isChanged = Lock(false)
    let others = DispatchGroup()
    written.meddleOnce(beforeCommit: {
      others.enter()
      DispatchQueue.global().async {
        defer { others.leave() }
        let other = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
        do {
          try other.object(with: id).setValue("b", forKey: "firstName")
          try other.save()
          isChanged.withLock { $0 = true }
        } catch {
          Issue.record("\(error)")
        }
      }
      Thread.sleep(forTimeInterval: 0.2)
      #expect(!isChanged.withLock { $0 })
    })
    try context.detectConflicts(for: account)
    let new = try context.insert("Department")
    try context.assign(new, to: written)
    try context.save()
    await withCheckedContinuation { done in others.notify(queue: .global()) { done.resume() } }
    #expect(isChanged.withLock { $0 })
    // The next save has a conflict and releases both stores.
    try context.detectConflicts(for: account)
    try new.setValue("x", forKey: "name")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .mergeConflict && error?.objectID == id)
    try context.refresh(account, mergeChanges: true)
    try context.detectConflicts(for: account)
    try context.save()
    try account.setValue("c", forKey: "firstName")
    try context.save()
  }
}
