import MoonbaseSQL
import MoonbaseSQLite

extension Connection {
  /// Lets triggers write to R-trees, where the file has no other virtual tables: programs keep indexes of places so, and SQLite 3.40 takes
  /// an R-tree for no safer than any virtual table in a file that is not trusted.
  func trustRTrees() throws {
    let statement = try statement("SELECT sql FROM sqlite_master WHERE type = 'table' AND rootpage = 0")
    defer { statement.reset() }
    var isThere = false
    while try statement.step() {
      guard statement.text(0).contains(/(?is)^CREATE VIRTUAL TABLE .+ USING +rtree(_i32)? *\(/) else { return }
      isThere = true
    }
    if isThere { trustSchema() }
  }
}

extension StoreLayout {
  /// Leaves the R-trees that a file has, with their triggers, word for word: others may be kept otherwise, or not at all.
  mutating func keepRTrees(of connection: Connection) throws {
    if rTrees.isEmpty { return }
    let statement = try connection.statement(
      "SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL AND (type = 'trigger' OR rootpage = 0)")
    defer { statement.reset() }
    var found: [String: String] = [:]
    while try statement.step() { found[statement.text(0).lowercased()] = Self.words(statement.text(1)) }
    rTrees = rTrees.filter { tree in
      ([(name: tree.name, sql: tree.creation)] + tree.triggers).allSatisfy {
        found[$0.name.lowercased()] == Self.words($0.sql)
      }
    }
  }

  /// A statement whatever spaces and letters it is written with.
  private static func words(_ sql: String) -> String {
    sql.uppercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
