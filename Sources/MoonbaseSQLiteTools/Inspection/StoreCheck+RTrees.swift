import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The check of R-trees.
extension StoreCheck {
  /// Finds rows that a fetch through an R-tree would miss, and entries of the R-tree without a row. Two queries over
  /// the whole tree. The finding is repaired by filling the tree again.
  func check(_ tree: RTreeLayout) throws {
    let entity = layout.model.entities[tree.entity].symbol
    for (sql, what) in [
      (tree.strays, "has another place in \(tree.name) than its values say, or none: fetches by it miss the row"),
      (tree.leftovers, "has a place in \(tree.name) and none by its values, or is not there"),
    ] {
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      while try statement.step() {
        try HostWork.charge()
        try tell(
          StoreFinding(
            kind: .index, of: ManagedObjectID(store: number, entity: entity, key: statement.integer(0)), in: tree.table,
            message: what, repair: .file))
      }
    }
  }
}

/// The repair of R-trees.
extension RTreeLayout {
  /// Fills the R-tree again if it differs from the rows.
  func repair(_ connection: Connection) throws {
    let question = "SELECT EXISTS (\(strays)) OR EXISTS (\(leftovers))"
    guard try connection.integer(question) == 1 else { return }
    try connection.execute(emptying)
    try connection.execute(filling)
  }
}
