import MoonbasePlatform
import MoonbaseSQLite
import Testing

@Suite struct SQLiteErrorTests {
  @Test func foundationHearsTheMessage() {
    let error: any Error = SQLiteError(.busy, "database is locked", sql: "SELECT 1")
    #expect(error.localizedDescription == "SQLite: database is locked (5) in: SELECT 1")
  }
}
