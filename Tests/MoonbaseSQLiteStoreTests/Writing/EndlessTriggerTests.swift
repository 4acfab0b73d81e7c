import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// Endless triggers of a foreign file: the statement that fires them fails, and nothing is changed.
@Suite struct EndlessTriggerTests {
  private static let endless =
    "SELECT COUNT(*) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r)"
  /// Counts to 20,000 in some 300,000 steps.
  private static let long =
    "SELECT COUNT(*) FROM (WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 20000) SELECT n FROM r)"

  private struct Bench {
    let people: PeopleStore
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext
    let ann: ManagedObject
    let raw: RawDatabase

    init(limit: Int = 1_000_000) throws {
      people = try PeopleStore(options: SQLiteStoreOptions(triggerStepLimit: limit))
      coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      context = try ManagedObjectContext(coordinator)
      ann = try context.insert("Person", values: ["firstName": "Ann", "age": 32])
      try context.save()
      raw = try RawDatabase(people.folder.file())
    }

    func add(trigger event: String, _ body: String = EndlessTriggerTests.endless) throws {
      try raw.connection.execute("CREATE TRIGGER foreign_one AFTER \(event) BEGIN \(body); END")
    }

    func contents() throws -> [String] {
      try raw.rows("SELECT Z_PK, Z_OPT, ZFIRSTNAME, ZAGE FROM ZPERSON ORDER BY 1")
    }

    /// The error of `body`, which must leave the file unchanged and unlocked.
    func failure(_ body: () throws -> Void) throws -> GraphError? {
      let before = try contents()
      let error = #expect(throws: GraphError.self) { try body() }
      #expect(try contents() == before)
      raw.connection.setBusyTimeout(milliseconds: 0)
      try raw.connection.transaction {}
      #expect(error?.code == .storeFailure, "\(error as Any)")
      let message = error?.message ?? ""
      #expect(message.hasPrefix("\(people.folder.file().path): the trigger foreign_one of the file does not come to"))
      #expect(message.contains("nothing was saved"), "\(message)")
      return error
    }
  }

  enum Change: String, CaseIterable {
    case insertion = "INSERT ON ZPERSON"
    case update = "UPDATE ON ZPERSON"
    case deletion = "DELETE ON ZPERSON"
  }

  @Test(arguments: Change.allCases)
  func aSaveThatNeverEndsIsAnErrorThatNamesFileTriggerAndObject(_ change: Change) throws {
    let bench = try Bench()
    try bench.add(trigger: change.rawValue)
    let context = bench.context
    var new: ManagedObject?
    switch change {
    case .insertion: new = try context.insert("Person", values: ["firstName": "Bo"])
    case .update: try bench.ann.setValue(33, forKey: "age")
    case .deletion: try context.delete(bench.ann)
    }
    let error = try bench.failure { try context.save() }
    #expect(error?.entity == "Person")
    if change != .insertion { #expect(error?.objectID == bench.ann.objectID) }
    #expect(context.hasChanges && new?.objectID.isTemporaryID != false)
    // After a repair of the file, the context's changes can be saved.
    try bench.raw.connection.execute("DROP TRIGGER foreign_one")
    try context.save()
    #expect(try bench.contents().count == [.insertion: 2, .update: 1, .deletion: 0][change])
  }

  @Test(arguments: Change.allCases) func batchRequestsEndToo(_ change: Change) throws {
    let bench = try Bench()
    try bench.add(trigger: change.rawValue)
    _ = try bench.failure {
      switch change {
      case .insertion: try bench.context.execute(BatchInsertRequest("Person", objects: [["firstName": "Bo"]]))
      case .update: try bench.context.execute(BatchUpdateRequest("Person", set: ["age": 40]))
      case .deletion: try bench.context.execute(BatchDeleteRequest(FetchRequest("Person")))
      }
    }
  }

  /// Counters, pairs and metadata are written too.
  @Test func noTableIsExempt() throws {
    let bench = try Bench()
    try bench.add(trigger: "UPDATE ON Z_PRIMARYKEY")
    try bench.context.insert("Person")
    _ = try bench.failure { try bench.context.save() }
    try bench.raw.connection.executeScript(
      "DROP TRIGGER foreign_one; CREATE TRIGGER foreign_one AFTER INSERT ON Z_METADATA BEGIN \(Self.endless); END")
    _ = try bench.failure { try bench.people.store.setMetadata(["a": 1]) }
    let pairs = try #require(
      try bench.raw.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'Z^__FRIENDS' ESCAPE '^'"))
    try bench.raw.connection.executeScript(
      "DROP TRIGGER foreign_one; CREATE TRIGGER foreign_one AFTER INSERT ON \(pairs) BEGIN \(Self.endless); END")
    try bench.context.rollback()
    let friend = try bench.context.insert("Person")
    try bench.ann.setValue(.list([.objectID(friend.objectID)]), forKey: "friends")
    _ = try bench.failure { try bench.context.save() }
  }

  /// A trigger that writes without end, behind another trigger, with a name like Core Data's own.
  @Test func aTriggerBehindAnotherOneIsNamedToo() throws {
    let bench = try Bench()
    try bench.raw.connection.executeScript(
      """
      CREATE TABLE LOG (N INTEGER); CREATE TABLE COPY (N INTEGER);
      CREATE TRIGGER Z_DA_first AFTER UPDATE ON ZPERSON BEGIN INSERT INTO LOG VALUES (1); END;
      CREATE TRIGGER second AFTER INSERT ON LOG BEGIN
        INSERT INTO COPY WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n FROM r; END
      """)
    try bench.ann.setValue(33, forKey: "age")
    let error = #expect(throws: GraphError.self) { try bench.context.save() }
    #expect(error?.message.contains("triggers of the file (Z_DA_first, second)") == true, "\(error as Any)")
    #expect(try bench.raw.value("SELECT COUNT(*) FROM LOG") == "0")
  }

  /// A hundred rows whose triggers together take as long as a single trigger may not.
  @Test func eachRowThatIsWrittenAddsToWhatTriggersMayDo() throws {
    let bench = try Bench(limit: 0)
    try bench.add(trigger: "INSERT ON ZPERSON", Self.long)
    for _ in 0..<20 { try bench.context.insert("Person") }
    try bench.context.save()
    #expect(try bench.contents().count == 21)
  }

  /// Statements that do not write, and files without triggers, have no limit.
  @Test func statementsOfOursAreNotBounded() throws {
    let connection = try Connection(":memory:")
    try connection.execute("CREATE TABLE a (n INTEGER)")
    let many = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 200000)"
    try connection.transaction {
      try connection.boundTriggers(to: 0)
      try connection.execute("INSERT INTO a \(many) SELECT n FROM r")
    }
    try connection.execute("CREATE TRIGGER t AFTER INSERT ON a BEGIN DELETE FROM a; END")
    try connection.transaction {
      try connection.boundTriggers(to: 0)
      #expect(try connection.integer("\(many) SELECT COUNT(*) FROM r") == 200_000)
      try connection.execute("INSERT INTO a VALUES (1)")
    }
    let overrun = #expect(throws: TriggerOverrun.self) {
      try connection.transaction {
        try connection.boundTriggers(to: 0)
        try connection.execute("INSERT INTO a \(many) SELECT n FROM r")
      }
    }
    #expect(overrun?.triggers == ["t"] && !connection.isInTransaction)
  }

  @Test func whoWantsNoBoundSaysSo() throws {
    let bench = try Bench(limit: .max)
    try bench.add(trigger: "UPDATE ON ZPERSON", Self.long.replacing("20000", with: "200000"))
    try bench.ann.setValue(33, forKey: "age")
    try bench.context.save()
    #expect(try bench.contents() == ["1|2|Ann|33"])
  }

  /// Rows after the row with the endless trigger do not add to its limit.
  @Test func aStatementOverManyRowsAddsARowsShareWhenItIsItsTurn() throws {
    let connection = try Connection(":memory:")
    var ticks = 0
    try connection.register(function: "tick", arguments: 1, traits: [.innocuous]) {
      ticks += 1
      $0.setNull()
    }
    try connection.executeScript("CREATE TABLE a (n INTEGER); CREATE TABLE b (n INTEGER)")
    try connection.execute(
      "INSERT INTO a WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 1000) SELECT n FROM r")
    let rows = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r"
    try connection.execute(
      "CREATE TRIGGER t AFTER UPDATE ON a BEGIN SELECT COUNT(tick(n)) FROM (\(rows)) SELECT n FROM r); END")
    #expect(throws: TriggerOverrun.self) {
      try connection.transaction {
        try connection.boundTriggers(to: 0)
        connection.allowTriggers(forRows: 1000, of: "A")
        try connection.execute("UPDATE a SET n = n + 1")
      }
    }
    #expect(ticks < 1_000_000)
    // Triggers that end get a share for each row, whatever they write elsewhere.
    try connection.executeScript(
      "DROP TRIGGER t; CREATE TRIGGER t AFTER UPDATE ON a BEGIN "
        + "INSERT INTO b SELECT COUNT(*) FROM (\(rows) LIMIT 5000) SELECT n FROM r); END")
    try connection.transaction {
      try connection.boundTriggers(to: 0)
      connection.allowTriggers(forRows: 1000, of: "A")
      try connection.execute("UPDATE a SET n = n + 1 WHERE n < 200")
    }
    #expect(try connection.integer("SELECT COUNT(*) FROM b") == 199)
  }
}
