import MoonbasePlatform
import MoonbaseSQLite
import Testing

@Suite struct ConnectionTests {
  private struct Refusal: Error, Equatable {
    var reason: String
  }

  @Test func everyStorageClassIsBoundAndReadWithoutLoss() throws {
    let connection = try Connection(":memory:")
    let statement = try connection.statement("SELECT ?, ?, ?, ?, ?, ?, ?")
    statement.bind(Int64.min, at: 1)
    statement.bind(0.1, at: 2)
    statement.bind("Zoë\u{0}🌙", at: 3)
    statement.bind("", at: 4)
    statement.bind(Data([0, 255]), at: 5)
    statement.bind(Data(), at: 6)
    statement.bindNull(7)
    #expect(try statement.step())
    #expect(statement.integer(0) == .min)
    #expect(statement.double(1) == 0.1)
    #expect(statement.text(2) == "Zoë\u{0}🌙")
    #expect(statement.text(3) == "")
    #expect(statement.data(4) == Data([0, 255]))
    #expect((0..<7).map { statement.storage($0) } == [.integer, .real, .text, .text, .blob, .blob, .null])
    #expect(try !statement.step())
  }

  @Test(arguments: [
    "CREATE TABLE a (x); CREATE TABLE b (x)", "CREATE TABLE a (x);CREATE", "CREATE TABLE a (x)\u{0}; SELECT 1",
    "CREATE TABLE a (x); -- then\n SELECT 1", "CREATE TABLE a (x); /* and */ SELECT 1",
  ])
  func aTextOfSeveralStatementsIsRefused(_ sql: String) throws {
    let connection = try Connection(":memory:")
    let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
    #expect(error?.message.contains("another one follows") == true)
    #expect(try connection.integer("SELECT COUNT(*) FROM sqlite_master") == 0)
  }

  @Test(arguments: [
    "SELECT 1;", " SELECT 1 ; ;\n", "-- one\nSELECT 1; -- it was", "SELECT 1 /* so", "SELECT 1;/* a */\t--",
  ])
  func blanksSemicolonsAndCommentsMayStandAroundAStatement(_ sql: String) throws {
    #expect(try Connection(":memory:").integer(sql) == 1)
  }

  @Test(arguments: ["", "  -- nothing", ";"])
  func aTextWithoutAStatementIsRefusedAndSoIsAScriptThatAZeroByteCutsOff(_ sql: String) throws {
    let connection = try Connection(":memory:")
    let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
    #expect(error?.message.contains("no statement") == true)
    #expect(throws: SQLiteError.self) { try connection.executeScript("SELECT 1\u{0}; SELECT") }
  }

  @Test func aStatementIsPreparedOnceAndEachRunIsCounted() throws {
    let connection = try Connection(":memory:")
    let first = try connection.statement("SELECT 1")
    try first.run()
    #expect(try connection.statement("SELECT 1") === first)
    #expect(try first.step())
    #expect(try connection.statement("SELECT 1") !== first)
    #expect(connection.statementCount == 2)
  }

  private struct Kept {
    weak var statement: Statement?
  }

  @Test func soManyStatementsAreKeptAsWereAskedForLast() throws {
    let connection = try Connection(":memory:")
    let used = try connection.statement("SELECT 'used'")
    var others: [Kept] = []
    for index in 0..<3000 {
      others.append(Kept(statement: try connection.statement("SELECT \(index)")))
      #expect(try connection.statement("SELECT 'used'") === used)
    }
    let alive = others.indices.filter { others[$0].statement != nil }
    #expect(alive == Array((3000 - 127)..<3000))
  }

  @Test func aHotStatementIsFoundByItsNumberAsLongAsItIsKept() throws {
    let connection = try Connection(":memory:")
    let hot = try connection.statement(hot: 3, "SELECT 1")
    #expect(try connection.statement(hot: 3, "SELECT 1") === hot && connection.statement("SELECT 1") === hot)
    #expect(try hot.step())
    // A statement that is already running is not reused.
    #expect(try connection.statement(hot: 3, "SELECT 1") !== hot)
    hot.reset()
    for number in 0..<200 {
      _ = try connection.statement("SELECT 0, \(number)")
      if number < 100 { #expect(try connection.statement(hot: 3, "SELECT 1") === hot) }
    }
    for number in 0..<200 { _ = try connection.statement("SELECT 1, \(number)") }
    let again = try connection.statement(hot: 3, "SELECT 1")
    #expect(try again !== hot && connection.statement("SELECT 1") === again)
  }

  @Test func aStatementEndsWithTheCancellationOfItsTask() async throws {
    let task = Task {
      let connection = try Connection(":memory:")
      try connection.execute("CREATE TABLE t (a)")
      #expect(throws: CancellationError.self) {
        try connection.transaction {
          try connection.execute("INSERT INTO t VALUES (1)")
          try connection.execute(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT COUNT(*) FROM c")
        }
      }
      return try connection.integer("SELECT COUNT(*) FROM t")
    }
    task.cancel()
    #expect(try await task.value == 0)
  }

  @Test func noMoreTextOfStatementsThanAMegabyteIsKept() throws {
    let connection = try Connection(":memory:")
    var others: [Kept] = []
    for index in 0..<40 {
      let long = "SELECT '" + String(repeating: "x", count: index == 39 ? 900_000 : 100_000) + "', \(index)"
      others.append(Kept(statement: try connection.statement(long)))
      #expect(others.filter { $0.statement != nil }.count <= 10)
    }
  }

  @Test func aStatementThatOthersDriveOutGoesOnToItsEnd() throws {
    let connection = try Connection(":memory:")
    let statement = try connection.statement("SELECT value FROM json_each('[1,2,3]')")
    let bound = try connection.statement("SELECT ?")
    bound.bind(Int64(7), at: 1)
    #expect(try statement.step())
    for index in 0..<3000 { _ = try connection.statement("SELECT \(index)") }
    #expect(try statement.step() && statement.integer(0) == 2)
    #expect(try bound.step() && bound.integer(0) == 7)
    #expect(try statement.step() && statement.integer(0) == 3)
    #expect(try !statement.step())
  }

  @Test func aFailedTransactionIsRolledBackAndTheConnectionIsUsableAfterwards() throws {
    let connection = try Connection(":memory:")
    try connection.execute("CREATE TABLE t (a UNIQUE)")
    let error = #expect(throws: SQLiteError.self) {
      try connection.transaction {
        try connection.execute("INSERT INTO t VALUES (1)")
        try connection.execute("INSERT INTO t VALUES (1)")
      }
    }
    #expect(error?.code == .uniqueConstraint)
    #expect(error?.sql == "INSERT INTO t VALUES (1)")
    #expect(!connection.isInTransaction)
    #expect(try connection.integer("SELECT COUNT(*) FROM t") == 0)
  }

  @Test func whatIsWrongWithAStatementIsTold() throws {
    let connection = try Connection(":memory:")
    let error = #expect(throws: SQLiteError.self) { try connection.execute("SELEC 1") }
    #expect(error?.message.contains("syntax error") == true)
    #expect(error?.sql == "SELEC 1")
  }

  @Test func whatAFunctionThrewIsThrownAsItIsAndTheConnectionIsUsableAfterwards() throws {
    let connection = try Connection(":memory:")
    try connection.register(function: "twice", arguments: 1, traits: [.deterministic, .directOnly]) { call in
      if call.integer(0) == 3 { throw Refusal(reason: "three") }
      call.set(call.integer(0) * 2)
    }
    #expect(try connection.integer("SELECT twice(21)") == 42)
    #expect(throws: Refusal(reason: "three")) {
      try connection.integer("SELECT sum(twice(value)) FROM json_each('[1,2,3,4]')")
    }
    #expect(try connection.integer("SELECT twice(4)") == 8)
    let error = #expect(throws: SQLiteError.self) { try connection.execute("SELECT absent(1)") }
    #expect(error?.message == "no such function: absent")
  }

  @Test func aFileCallsNoFunctionThatDoesNotAllowIt() throws {
    let connection = try Connection(":memory:")
    for (name, traits) in [("plain", Connection.FunctionTraits()), ("harmless", .innocuous), ("direct", .directOnly)] {
      try connection.register(function: name, arguments: 0, traits: traits) { $0.set(Int64(1)) }
    }
    try connection.executeScript("CREATE TABLE a (x); CREATE TABLE b (x); CREATE TABLE c (x)")
    for (table, name) in ["a": "plain", "b": "harmless", "c": "direct"] {
      try connection.execute(
        "CREATE TRIGGER t\(table) AFTER INSERT ON \(table) BEGIN UPDATE \(table) SET x = \(name)(); END")
      #expect(try connection.integer("SELECT \(name)()") == 1, "SQL of ours calls all of them")
    }
    for (table, name) in ["a": "plain", "c": "direct"] {
      let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO \(table) VALUES (7)") }
      #expect(error?.message.contains("unsafe use of \(name)()") == true)
      #expect(try connection.integer("SELECT count(*) FROM \(table)") == 0)
    }
    try connection.execute("INSERT INTO b VALUES (7)")
    #expect(try connection.integer("SELECT x FROM b") == 1)
  }

  @Test func theSchemaIsNotWrittenAsATable() throws {
    let connection = try Connection(":memory:")
    try connection.executeScript("CREATE TABLE a (x); PRAGMA writable_schema = 1")
    #expect(throws: SQLiteError.self) { try connection.execute("UPDATE sqlite_master SET sql = 'CREATE TABLE a (y)'") }
    #expect(try connection.text("SELECT sql FROM sqlite_master") == "CREATE TABLE a (x)")
  }

  @Test func triggersDoNotCallEachOtherWithoutEnd() throws {
    let connection = try Connection(":memory:")
    try connection.executeScript(
      """
      PRAGMA recursive_triggers = 1; CREATE TABLE a (x);
      CREATE TRIGGER t AFTER INSERT ON a WHEN new.x > 0 BEGIN INSERT INTO a VALUES (new.x - 1); END
      """)
    let error = #expect(throws: SQLiteError.self) { try connection.execute("INSERT INTO a VALUES (100)") }
    #expect(error?.message.contains("too many levels of trigger recursion") == true)
    #expect(try connection.integer("SELECT count(*) FROM a") == 0)
    try connection.execute("INSERT INTO a VALUES (20)")
    #expect(try connection.integer("SELECT count(*) FROM a") == 21)
  }

  @Test func aFunctionThatAStatementUsesIsNotRedefined() throws {
    let connection = try Connection(":memory:")
    try connection.register(function: "f1", arguments: 0, traits: []) { $0.set(Int64(1)) }
    let statement = try connection.statement("SELECT f1() FROM json_each('[1,2]')")
    #expect(try statement.step())
    let error = #expect(throws: SQLiteError.self) {
      try connection.register(function: "f1", arguments: 0, traits: []) { $0.set(Int64(2)) }
    }
    #expect(error?.code == .busy)
    try connection.register(function: "f2", arguments: 0, traits: []) { $0.set(Int64(2)) }
    #expect(try connection.integer("SELECT f2()") == 2)
    #expect(try statement.step())
  }

  @Test func aValueThatIsTooBigForSQLiteIsAnErrorAndNotNull() throws {
    let connection = try Connection(":memory:")
    try connection.execute("CREATE TABLE t (a)")
    let statement = try connection.statement("INSERT INTO t VALUES (?)")
    // Only the size is checked; the pages are never touched.
    statement.bind(Data(count: 1_000_000_001), at: 1)
    let error = #expect(throws: SQLiteError.self) { try statement.run() }
    #expect(error?.code.primary == .tooBig)
    #expect(try connection.integer("SELECT COUNT(*) FROM t") == 0)
    statement.bind(Int64(7), at: 1)
    try statement.run()
    #expect(try connection.integer("SELECT a FROM t") == 7)
  }

  /// A statement is kept for the next use of its text; then unbound parameters must be NULL.
  @Test(arguments: ["reset", "run", "error", "end"])
  func aStatementThatWasResetHasNoParametersAndOneThatWasRewoundHasThem(_ way: String) throws {
    let connection = try Connection(":memory:")
    let statement = try connection.statement("SELECT ?, ?, CASE ? WHEN 1 THEN abs(-9223372036854775807 - 1) END")
    statement.bind(Int64(1), at: 1)
    statement.bind("b", at: 2)
    #expect(try statement.step() && statement.integer(0) == 1 && statement.text(1) == "b")
    statement.rewind()
    #expect(try statement.step() && statement.integer(0) == 1 && statement.text(1) == "b")
    switch way {
    case "reset": statement.reset()
    case "run": try statement.run()
    case "end":
      #expect(try !statement.step())
      statement.reset()
    default:
      statement.rewind()
      statement.bind(Int64(1), at: 3)
      #expect(throws: SQLiteError.self) { try statement.step() }
    }
    statement.bind(Int64(2), at: 1)
    #expect(try statement.step() && statement.integer(0) == 2 && statement.isNull(1) && statement.isNull(2))
    statement.reset()
  }
}
