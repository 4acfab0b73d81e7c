import MoonbaseModel

/// The statements of repairs that lose no data, on any engine.
package struct RepairStatements {
  /// The tables and columns of the store.
  private let layout: StoreLayout
  /// The dialect of the statements.
  private let dialect: Dialect

  /// Makes the statements for a store.
  package init(_ layout: StoreLayout, dialect: Dialect) { (self.layout, self.dialect) = (layout, dialect) }

  /// The statements that raise counters to the greatest keys of their tables. A counter beyond the greatest key is
  /// lowered if the rows allow it.
  ///
  /// `historyTables` are the tables of the history, with their numbers in `Z_PRIMARYKEY`.
  package func counters(historyTables: [(number: Int64, table: String)]) -> [String] {
    let entities = layout.entities.compactMap(\.self).filter { $0.entity.parent == nil }.map { ($0.number, $0.table) }
    let isNoNumber = dialect.hasColumnTypes ? "Z_MAX IS NULL" : "TYPEOF(Z_MAX) <> 'integer'"
    return (entities + historyTables).flatMap { number, table in
      let greatest = "(SELECT MAX(Z_PK) FROM \(identifier(table)))"
      return [
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(greatest) WHERE Z_ENT = \(number) AND \(greatest) > 0 "
          + "AND (Z_MAX < \(greatest) OR \(isNoNumber))",
        "UPDATE Z_PRIMARYKEY SET Z_MAX = COALESCE(\(greatest), 0) WHERE Z_ENT = \(number) "
          + "AND Z_MAX > \(StoreLayout.greatestKey) AND COALESCE(\(greatest), 0) <= \(StoreLayout.greatestKey)",
      ]
    }
  }

  /// The statements that remove links with a missing end, from the pair tables of all many-to-many relationships.
  package var pairs: [String] {
    layout.entities.compactMap(\.self).flatMap { entity in
      zip(entity.entity.properties, entity.slots).compactMap { property, slot -> String? in
        guard case .join(let join) = slot, property.declaringEntity == entity.entity.index,
          let destination = layout.entities[join.destination]
        else { return nil }
        let (owner, other) = (identifier(join.ownerColumn), identifier(join.destinationColumn))
        return "DELETE FROM \(identifier(join.table)) WHERE \(Self.hasNoRow(owner, entity.table)) "
          + "OR \(Self.hasNoRow(other, destination.table))"
      }
    }
  }

  /// The condition that a key has no row in a table.
  static func hasNoRow(_ column: String, _ table: String) -> String {
    "NOT EXISTS (SELECT 1 FROM \(identifier(table)) x WHERE x.Z_PK = \(column))"
  }
}
