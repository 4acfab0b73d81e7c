import MoonbaseModel

/// Rows of a table whose `Z_ENT` does not belong to the table, so that they are no objects.
///
/// Core Data leaves such rows after a change of the model without a migration; a migration refuses them.
package struct StrayRows: Sendable, Hashable {
  /// The name of the table.
  package let table: String
  /// The value of `Z_ENT`; nil for null.
  package let number: String?
  /// The number of rows.
  package let count: Int

  /// Makes the rows of one table with the same number.
  package init(table: String, number: String?, count: Int) {
    (self.table, self.number, self.count) = (table, number, count)
  }

  /// The tables of a store, each with the statement that selects the numbers and counts of its stray rows. Rows of
  /// abstract entities are stray too.
  package static func statements(_ layout: StoreLayout) -> [(table: String, sql: String)] {
    layout.entities.compactMap(\.self).filter { $0.entity.parent == nil }.map { root in
      let known = layout.subtree(of: root.entity).filter { !$0.entity.isAbstract }.map { "\($0.number)" }
      return (
        root.table,
        "SELECT Z_ENT, COUNT(*) FROM \(identifier(root.table)) WHERE Z_ENT IS NULL OR "
          + "Z_ENT NOT IN (\((known.isEmpty ? ["NULL"] : known).joined(separator: ", "))) GROUP BY Z_ENT"
      )
    }
  }
}
