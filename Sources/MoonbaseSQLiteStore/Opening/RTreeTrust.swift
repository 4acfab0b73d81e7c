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
