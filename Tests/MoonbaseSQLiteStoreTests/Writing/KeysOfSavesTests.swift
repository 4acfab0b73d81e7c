import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// New objects get their keys in the transaction that writes them.
@Suite struct KeysOfSavesTests {
  private struct Bench {
    let people: PeopleStore
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext
    let raw: RawDatabase

    init() throws {
      people = try PeopleStore()
      coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      context = try ManagedObjectContext(coordinator)
      try context.insert("Department", values: ["name": "first"])
      try context.save()
      raw = try RawDatabase(people.folder.file())
      raw.connection.setBusyTimeout(milliseconds: 0)
    }

    func greatestKey(_ entity: String) throws -> String? {
      try raw.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'")
    }

    /// Expects the file to be unlocked.
    func requireFree() throws { try raw.connection.transaction {} }
  }

  @Test func aSaveIsOneTransactionInWhichTheCounterIsWrittenOnce() throws {
    let bench = try Bench()
    for number in 0..<3 { try bench.context.insert("Person", values: ["age": .int(Int64(number))]) }
    let statements = try bench.people.statements { try bench.context.save() }
    #expect(statements.filter { $0.hasPrefix("BEGIN") }.count == 1, "\(statements)")
    #expect(statements.filter { $0 == "COMMIT" }.count == 1)
    let counters = statements.indices.filter { statements[$0].contains("Z_PRIMARYKEY") }
    let begin = try #require(statements.firstIndex { $0.hasPrefix("BEGIN") })
    #expect(counters.count == 1 && counters[0] > begin)
    #expect(try bench.greatestKey("Person") == "3")
  }

  @Test func aSaveThatFailsLeavesTheCounterAndTheTemporaryIDs() throws {
    let bench = try Bench()
    let (context, raw) = (bench.context, bench.raw)
    try raw.connection.execute(
      "CREATE TRIGGER no BEFORE INSERT ON ZPERSON WHEN NEW.ZAGE = 66 BEGIN SELECT RAISE(ABORT, 'no'); END")
    let (one, two) = (try context.insert("Person"), try context.insert("Person", values: ["age": 66]))
    let ids = [one.objectID, two.objectID]
    for _ in 0..<3 {
      #expect(throws: GraphError.self) { try context.save() }
      #expect([one.objectID, two.objectID] == ids && ids.allSatisfy(\.isTemporaryID))
      #expect(context.insertedObjects.count == 2)
      #expect(try bench.greatestKey("Person") == "0")
      try bench.requireFree()
    }
    // Another context gets the unused keys.
    let other = try ManagedObjectContext(bench.coordinator)
    let third = try other.insert("Person", values: ["firstName": "third"])
    try other.save()
    try two.setValue(67, forKey: "age")
    try context.save()
    #expect([third, one, two].map(\.objectID.key) == [1, 2, 3])
    #expect(try raw.rows("SELECT Z_PK, ZFIRSTNAME, ZAGE FROM ZPERSON ORDER BY 1") == ["1|third|0", "2||0", "3||67"])
    #expect(try context.existingObject(with: third.objectID)?.value(forKey: "firstName") == "third")
  }

  /// A dangling reference is found after the sessions have begun.
  @Test func aPlanThatFailsEndsWhatBegan() throws {
    let bench = try Bench()
    let gone = try bench.context.insert("Department")
    let person = try bench.context.insert("Person")
    try bench.context.save()
    let other = try ManagedObjectContext(bench.coordinator)
    try other.delete(other.object(with: gone.objectID))
    try other.save()
    try bench.context.insert("Person")
    try person.setValue(.objectID(gone.objectID), forKey: "department")
    #expect(throws: GraphError.self) { try bench.context.save() }
    try bench.requireFree()
    #expect(try bench.greatestKey("Person") == "1")
  }

  @Test func keysThatWereSetAsideBeforeAreNotSetAsideAgain() throws {
    let bench = try Bench()
    let person = try bench.context.insert("Person")
    try bench.context.obtainPermanentIDs(for: [person])
    #expect(try bench.greatestKey("Person") == "1")
    let statements = try bench.people.statements { try bench.context.save() }
    #expect(!statements.contains { $0.contains("Z_PRIMARYKEY") })
    let child = ManagedObjectContext(parent: bench.context)
    try child.insert("Person")
    try child.save()
    #expect(try bench.greatestKey("Person") == "2")
    try bench.context.save()
    #expect(try bench.raw.rows("SELECT Z_PK FROM ZPERSON") == ["1", "2"])
  }

  @Test func aSaveThatAMergePolicyTriesAgainTakesNoKeyMore() throws {
    let bench = try Bench()
    let old = try bench.context.insert("Person", values: ["email": "a@b", "age": 1])
    try bench.context.save()
    let other = try ManagedObjectContext(bench.coordinator)
    other.mergePolicy = .mergeByPropertyObjectTrump
    try other.insert("Person", values: ["email": "a@b", "age": 2])
    let second = try other.insert("Person", values: ["email": "c@d"])
    try other.save()
    #expect(try bench.greatestKey("Person") == "\(second.objectID.key)" && second.objectID.key <= old.objectID.key + 2)
    #expect(try bench.raw.rows("SELECT ZAGE FROM ZPERSON WHERE ZEMAIL = 'a@b'") == ["2"])
    try bench.requireFree()
  }

  /// A hook may save another context of the same store.
  @Test func hooksThatSaveOtherContextsDoNotWaitForTheirOwn() throws {
    let bench = try Bench()
    let domain = ExtensionRegistry()
    var hooks = EntityExtension()
    let coordinator = bench.coordinator
    hooks.willSave = { _ in
      let inner = try ManagedObjectContext(coordinator)
      try inner.insert("Department", values: ["name": "inner"])
      try inner.save()
    }
    domain.extensions = ["Person": [hooks]]
    let context = ManagedObjectContext(coordinator, extensionRegistry: domain)
    context.undoManager = UndoManager()
    try context.insert("Person")
    try context.save()
    #expect(try bench.raw.value("SELECT COUNT(*) FROM ZDEPARTMENT") == "2")
  }

  /// New objects in one store, a change in the other one, in both orders of the stores' numbers.
  @Test(arguments: 0..<4) func savesOverSeveralStoresTakeThemInOneOrder(_ attempt: Int) throws {
    var description = ManagedObjectModel {
      EntityDescription("A") { AttributeDescription("n", type: .integer64) }
      EntityDescription("B") { AttributeDescription("n", type: .integer64) }
    }
    description.configurations = ["One": ["A"], "Two": ["B"]]
    let model = try description.resolved()
    let folder = try TemporaryFolder()
    let coordinator = PersistentStoreCoordinator(model: model)
    for name in ["One", "Two"] {
      try coordinator.add(SQLiteStore(url: folder.file(name), model: model, configuration: name))
    }
    let context = try ManagedObjectContext(coordinator)
    let old = try context.insert("B", values: ["n": 1])
    try context.save()
    try old.setValue(2, forKey: "n")
    let new = try context.insert("A", values: ["n": 1])
    // A save refused by one store leaves both stores unchanged.
    let two = try RawDatabase(folder.file("Two"))
    try two.connection.execute("CREATE TRIGGER no BEFORE UPDATE ON ZB BEGIN SELECT RAISE(ABORT, 'no'); END")
    #expect(throws: GraphError.self) { try context.save() }
    let one = try RawDatabase(folder.file("One"))
    for raw in [one, two] {
      raw.connection.setBusyTimeout(milliseconds: 0)
      try raw.connection.transaction {}
    }
    #expect(new.objectID.isTemporaryID)
    #expect(try one.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'A'") == "0")
    try two.connection.execute("DROP TRIGGER no")
    try context.save()
    #expect(try one.rows("SELECT Z_PK, ZN FROM ZA") == ["1|1"] && two.rows("SELECT ZN FROM ZB") == ["2"])
  }
}
