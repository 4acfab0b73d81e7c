import MoonbaseSQL
import MoonbaseSQLite

/// Permission for the triggers of spatial indexes.
extension Connection {
  /// Lets triggers write to R-trees, if the file has no other virtual tables. Programs keep spatial indexes this way.
  /// In an untrusted file SQLite 3.40 considers an R-tree as unsafe as any virtual table. Does nothing for a file
  /// without R-trees, and for one with any other virtual table.
  package func trustRTrees() throws {
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

/// The R-trees that queries may use.
extension StoreLayout {
  /// Keeps only those R-trees of the layout whose triggers the file has word for word. The file may maintain other
  /// trees differently, or not at all. Queries then do not use the removed trees, and the file is not changed.
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

  /// A statement without differences in white space and letter case. For comparing the SQL of two programs.
  private static func words(_ sql: String) -> String {
    sql.uppercased().split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
