import MoonbaseModel

/// The checks of the counters in `Z_PRIMARYKEY`.
extension StoreChecking {
  /// Checks the counters of all tables. Counters are the rows of `Z_PRIMARYKEY` for tables of objects and of the
  /// history.
  package func checkCounters() throws {
    for entity in layout.entities.compactMap(\.self) where entity.entity.parent == nil {
      try checkCounter(number: entity.number, name: entity.entity.name, table: entity.table)
    }
    for (number, table) in try historyTables { try checkCounter(number: number, name: table, table: table) }
  }

  /// Checks that a counter is not below the greatest key of its table. `Z_MAX` is the last key that was given out. A
  /// lower counter would give a key twice.
  private func checkCounter(number: Int64, name: String, table: String) throws {
    let row = "FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)"
    let isNumber = dialect.hasColumnTypes ? "" : " AND TYPEOF(Z_MAX) IN ('integer', 'real')"
    let given = try integer("SELECT Z_MAX \(row)\(isNumber)")
    let hasRow = try integer("SELECT 1 \(row)") != nil
    let greatest = try integer("SELECT MAX(Z_PK) FROM \(identifier(table))") ?? 0
    guard greatest > given ?? 0 else {
      if let given, given > StoreLayout.greatestKey { try tellFullCounter(number, name, given, table, greatest) }
      return
    }
    try tell(
      StoreFinding(
        kind: .counter, place: "Z_PRIMARYKEY \(number) (\(name))",
        message:
          "Z_MAX is \(given.map(String.init) ?? (hasRow ? "no number" : "not there")), and \(table) has a row \(greatest): a new one could get its key",
        repair: hasRow ? .file : .none))
  }

  /// Reports a counter that cannot increase any more. Keys beyond `StoreLayout.greatestKey` are not given out.
  private func tellFullCounter(_ number: Int64, _ name: String, _ given: Int64, _ table: String, _ greatest: Int64)
    throws
  {
    let isOfRow = greatest > StoreLayout.greatestKey
    try tell(
      StoreFinding(
        kind: .counter, place: "Z_PRIMARYKEY \(number) (\(name))",
        message:
          "Z_MAX is \(given), which leaves no keys for new rows"
          + (isOfRow ? ": \(table) has a row \(greatest), which needs another key" : ""),
        repair: isOfRow ? .none : .file))
  }
}

extension StoreLayout {
  /// The greatest key that may be assigned. The margin leaves room for imports; no table has so many rows.
  package static let greatestKey = Int64.max - Int64(1) << 32
}
