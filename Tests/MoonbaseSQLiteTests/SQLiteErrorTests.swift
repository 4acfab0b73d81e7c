import MoonbasePlatform
import MoonbaseSQLite
import Testing

@Suite struct SQLiteErrorTests {
  @Test func foundationHearsTheMessage() {
    let error: any Error = SQLiteError(.busy, message: "database is locked", sql: "SELECT 1")
    #expect(error.localizedDescription == "SQLite: database is locked (5) in: SELECT 1")
  }

  @Test func withoutJSONAStatementAsksForTooMuch() throws {
    let connection = try Connection(":memory:")
    // A SQLite without JSON is recognized by its message about a missing table.
    let lists = #expect(throws: SQLiteError.self) { try connection.statement("SELECT value FROM json_each_(?)") }
    #expect(lists?.isLimit == true)
    let table = #expect(throws: SQLiteError.self) { try connection.statement("SELECT value FROM absent") }
    #expect(table?.isLimit == false)
  }
}
