import MoonbaseGraph
package import MoonbaseModel

/// The statements that write rows of one entity.
///
/// Made once per entity and kept for the connection. Texts of insertions are fixed. Texts of updates depend on the
/// changed slots, and the caller caches them by slots.
package struct RowStatements: Sendable {
  /// A slot that has a column.
  package struct Column: Sendable {
    /// The slot in the entity.
    package var slot: Slot
    /// The quoted column; empty for a composite.
    package var name: String
    /// The columns of a relationship.
    package var toOne: ToOneLayout?
    /// The columns of a composite.
    package var composite: CompositeLayout?
    /// Whether the value may be in an external file.
    package var isExternal = false
  }

  /// The condition that the version of a row `t0` may rise: the version is an integer or null, and not the greatest
  /// integer. A damaged version stays as it is: `versionMayRise` is part of the condition of batch updates.
  package static let versionMayRise = "(t0.Z_OPT | 0) IS t0.Z_OPT AND t0.Z_OPT IS NOT \(Int64.max)"

  /// The entity with its places.
  package let layout: EntityLayout
  /// The slots that have columns.
  package let columns: [Column]
  /// Inserts a row. The parameters are key, entity number, version and the columns' values. For a relationship with an
  /// entity column the entity number follows.
  package let insertion: String
  /// The number of rows of one insertion. 1 for an engine with prepared statements per row.
  package let insertionSize: Int
  /// The dialect of the store.
  private let dialect: Dialect
  /// The quoted table.
  private let table: String
  /// The columns of an insertion, in order.
  private let names: [String]

  /// Throws where the file lacks columns that rows of the entity need. The thrown error is that of the first missing
  /// column (`SlotLayout.lost`).
  package init(_ layout: EntityLayout, dialect: Dialect) throws {
    for case .lost(let error) in layout.slots { throw error }
    self.layout = layout
    self.dialect = dialect
    table = identifier(layout.table)
    columns = layout.slots.enumerated().compactMap { slot, place in
      switch place {
      case .none, .lost, .foreignKey, .join: nil
      case .attribute(let name, .externalData): Column(slot: slot, name: identifier(name), isExternal: true)
      case .attribute(let name, _): Column(slot: slot, name: identifier(name))
      case .toOne(let toOne): Column(slot: slot, name: identifier(toOne.column), toOne: toOne)
      case .composite(let composite): Column(slot: slot, name: "", composite: composite)
      }
    }
    names = ["Z_PK", "Z_ENT", "Z_OPT"] + columns.flatMap(\.names)
    insertionSize = dialect.rowsPerStatement(names.count)
    insertion = Self.insertion(1, into: table, names, dialect)
  }

  /// Inserts `count` rows, with the parameters of one row after those of the other. For an engine that writes sets of
  /// rows; `count` is at most `insertionSize`.
  package func insertion(_ count: Int) -> String { Self.insertion(count, into: table, names, dialect) }

  /// `INSERT INTO table (columns) VALUES (?, …), (?, …)`.
  private static func insertion(_ count: Int, into table: String, _ names: [String], _ dialect: Dialect) -> String {
    let rows = [String](repeating: "(\(parameters(names.count)))", count: count).joined(separator: ", ")
    return dialect.statement("INSERT\(dialect.failing) INTO \(table) (\(names.joined(separator: ", "))) VALUES \(rows)")
  }

  /// Changes some slots. The parameters are the values, the new version, the key and the expected version; without a
  /// check the key only.
  ///
  /// An object that leaves an ordered relationship loses its place.
  ///
  /// Optimistic locking as in Core Data: `Z_OPT` rises with each save, and a row with another version than expected is
  /// not changed, so that the save finds a conflict.
  package func update(_ slots: [Slot], checksVersion: Bool) -> String {
    var parts: [String] = []
    for column in columns where slots.contains(column.slot) {
      parts += column.names.map { "\($0) = ?" }
      if let orderColumn = column.toOne?.orderColumn { parts.append("\(identifier(orderColumn)) = NULL") }
    }
    parts.append(checksVersion ? "Z_OPT = ?" : "Z_OPT = COALESCE(Z_OPT, 0) + 1")
    return dialect.statement(
      "UPDATE\(dialect.failing) \(table) SET \(parts.joined(separator: ", ")) WHERE Z_PK = ?\(Self.check(checksVersion))"
    )
  }

  /// Deletes a row. The parameters are the key and the expected version. Without a check the only parameter is the key.
  package func deletion(checksVersion: Bool) -> String {
    dialect.statement("DELETE FROM \(table) WHERE Z_PK = ?\(Self.check(checksVersion))")
  }

  /// The condition on the version; empty without a check.
  private static func check(_ checksVersion: Bool) -> String { checksVersion ? " AND COALESCE(Z_OPT, 0) = ?" : "" }

  /// Sets some slots of a row to null, so that other rows can take unique values. Nil where no slot has a column. Two
  /// rows that exchange a unique value would conflict at the first update.
  package func clearing(_ slots: Set<Slot>) -> String? {
    let parts = columns.filter { slots.contains($0.slot) }.flatMap(\.names).map { "\($0) = NULL" }
    return parts.isEmpty
      ? nil : dialect.statement("UPDATE\(dialect.failing) \(table) SET \(parts.joined(separator: ", ")) WHERE Z_PK = ?")
  }

  /// Selects the version of a row. The parameter is the key. No row means that the object was deleted.
  package var version: String { dialect.statement("SELECT COALESCE(Z_OPT, 0) FROM \(table) WHERE Z_PK = ?") }

  /// Selects the columns of external values, of all or of some slots. Nil where there are none. Used to find external
  /// files that an update or deletion leaves behind.
  package func externals(of slots: [Slot]?) -> String? {
    let names = columns.filter { $0.isExternal && slots?.contains($0.slot) ?? true }.map(\.name)
    return names.isEmpty
      ? nil : dialect.statement("SELECT \(names.joined(separator: ", ")) FROM \(table) WHERE Z_PK = ?")
  }
}

extension RowStatements.Column {
  /// The columns that a value sets, in the order of their parameters. A relationship also sets the column of the
  /// destination's entity.
  fileprivate var names: [String] {
    if let composite { return composite.leaves.map { identifier($0.column) } }
    return [name] + (toOne?.entityColumn.map { [identifier($0)] } ?? [])
  }
}

extension Dialect {
  /// The condition that the version of a row `t0` may rise.
  var versionMayRise: String {
    hasColumnTypes ? "t0.Z_OPT IS NULL OR t0.Z_OPT < \(Int64.max)" : RowStatements.versionMayRise
  }
}
