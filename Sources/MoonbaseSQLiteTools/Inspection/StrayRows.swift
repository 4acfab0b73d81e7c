import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// Rows of a table whose `Z_ENT` does not belong to the table, so that no fetch finds them.
///
/// Core Data leaves such rows after a change of the model without a migration; a migration refuses them.
package struct StrayRows: Sendable, Hashable {
  /// The name of the table.
  package let table: String
  /// The value of `Z_ENT`; nil for null.
  package let number: String?
  /// The number of rows.
  package let count: Int
}

extension SQLiteStore {
  /// The rows that belong to no entity, by table and `Z_ENT`. Includes rows of abstract entities. Reads each table
  /// once.
  package func strayRows() throws -> [StrayRows] {
    try read { session in
      try layout.entities.compactMap(\.self).filter { $0.entity.parent == nil }.flatMap {
        try Self.strayRows(of: $0, in: layout, on: session.connection)
      }
    }
  }

  /// The rows of one table, grouped by `Z_ENT`.
  private static func strayRows(
    of root: EntityLayout, in layout: StoreLayout, on connection: Connection
  ) throws -> [StrayRows] {
    let known = layout.subtree(of: root.entity).filter { !$0.entity.isAbstract }.map { "\($0.number)" }
    let statement = try connection.statement(
      "SELECT Z_ENT, COUNT(*) FROM \(MoonbaseSQL.identifier(root.table)) WHERE Z_ENT IS NULL OR "
        + "Z_ENT NOT IN (\(known.joined(separator: ", "))) GROUP BY Z_ENT")
    defer { statement.reset() }
    var found: [StrayRows] = []
    while try statement.step() {
      found.append(
        StrayRows(
          table: root.table, number: statement.isNull(0) ? nil : statement.text(0), count: Int(statement.integer(1))))
    }
    return found
  }
}
