import MoonbasePlatform
import MoonbaseSQLite
import Testing

@Suite("A connection")
struct ConnectionTests {
  private struct Refusal: Error, Equatable {
    var reason: String
  }

  @Test("binds and reads every storage class without loss")
  func values() throws {
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

  @Test(
    "refuses a text of several statements, of which SQLite would run the first alone",
    arguments: [
      "CREATE TABLE a (x); CREATE TABLE b (x)", "CREATE TABLE a (x);CREATE", "CREATE TABLE a (x)\u{0}; SELECT 1",
      "CREATE TABLE a (x); -- then\n SELECT 1", "CREATE TABLE a (x); /* and */ SELECT 1",
    ])
  func severalStatements(_ sql: String) throws {
    let connection = try Connection(":memory:")
    let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
    #expect(error?.message.contains("another one follows") == true)
    #expect(try connection.integer("SELECT COUNT(*) FROM sqlite_master") == 0)
  }

  @Test(
    "takes blanks, semicolons and comments around a statement",
    arguments: [
      "SELECT 1;", " SELECT 1 ; ;\n", "-- one\nSELECT 1; -- it was", "SELECT 1 /* so", "SELECT 1;/* a */\t--",
    ])
  func blanksAndComments(_ sql: String) throws {
    #expect(try Connection(":memory:").integer(sql) == 1)
  }

  @Test(
    "refuses a text without a statement, and a script that a zero byte cuts off", arguments: ["", "  -- nothing", ";"])
  func noStatement(_ sql: String) throws {
    let connection = try Connection(":memory:")
    let error = #expect(throws: SQLiteError.self) { try connection.execute(sql) }
    #expect(error?.message.contains("no statement") == true)
    #expect(throws: SQLiteError.self) { try connection.executeScript("SELECT 1\u{0}; SELECT") }
  }

  @Test("prepares a statement once and counts each run")
  func statements() throws {
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

  @Test("keeps so many statements, those that were asked for last")
  func statementsAreBounded() throws {
    let connection = try Connection(":memory:")
    let used = try connection.statement("SELECT 'used'")
    var others: [Kept] = []
    for index in 0..<3000 {
      others.append(Kept(statement: try connection.statement("SELECT \(index)")))
      #expect(try connection.statement("SELECT 'used'") === used)
    }
    let alive = others.indices.filter { others[$0].statement != nil }
    #expect(alive.count <= 512 && alive.count >= 255)
    #expect(alive == Array((3000 - alive.count)..<3000))
  }

  @Test("keeps no more text of statements than a megabyte")
  func longStatementsAreBounded() throws {
    let connection = try Connection(":memory:")
    var others: [Kept] = []
    for index in 0..<40 {
      let long = "SELECT '" + String(repeating: "x", count: index == 39 ? 900_000 : 100_000) + "', \(index)"
      others.append(Kept(statement: try connection.statement(long)))
      #expect(others.filter { $0.statement != nil }.count <= 10)
    }
  }

  @Test("a statement that others drive out goes on to its end")
  func runningStatementsStay() throws {
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

  @Test("rolls a failed transaction back and is usable afterwards")
  func transactions() throws {
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

  @Test("says what is wrong with a statement")
  func badSQL() throws {
    let connection = try Connection(":memory:")
    let error = #expect(throws: SQLiteError.self) { try connection.execute("SELEC 1") }
    #expect(error?.message.contains("syntax error") == true)
    #expect(error?.sql == "SELEC 1")
  }

  @Test("throws what a function threw, as it is, and is usable afterwards")
  func functions() throws {
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

  @Test("refuses to redefine a function while a statement uses it, and takes a new name")
  func redefinition() throws {
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

  @Test("a value that is too big for SQLite is an error, not NULL")
  func tooBig() throws {
    let connection = try Connection(":memory:")
    try connection.execute("CREATE TABLE t (a)")
    let statement = try connection.statement("INSERT INTO t VALUES (?)")
    // Only the size is looked at; the pages are never touched.
    statement.bind(Data(count: 1_000_000_001), at: 1)
    let error = #expect(throws: SQLiteError.self) { try statement.run() }
    #expect(error?.code.primary == .tooBig)
    #expect(try connection.integer("SELECT COUNT(*) FROM t") == 0)
    statement.bind(Int64(7), at: 1)
    try statement.run()
    #expect(try connection.integer("SELECT a FROM t") == 7)
  }
}
