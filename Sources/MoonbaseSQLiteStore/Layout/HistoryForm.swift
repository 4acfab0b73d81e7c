import MoonbaseSQLite

/// Which history tables a file has: frameworks made them in two forms.
struct HistoryForm {
  /// The columns of `ATRANSACTION`.
  let columns: Set<String>
  /// Whether texts stand in a table of their own, which the transactions refer to; in macOS 10.13 they stood in the transactions.
  let internsTexts: Bool
  /// The columns of `ACHANGE`.
  let changeColumns: Set<String>

  /// Nil for a file that keeps no history.
  init?(_ connection: Connection) throws {
    columns = try Self.columns("ATRANSACTION", on: connection)
    changeColumns = try Self.columns("ACHANGE", on: connection)
    guard !columns.isEmpty, !changeColumns.isEmpty else { return nil }
    internsTexts = try columns.contains("ZAUTHORTS") && !Self.columns("ATRANSACTIONSTRING", on: connection).isEmpty
  }

  private static func columns(_ table: String, on connection: Connection) throws -> Set<String> {
    let statement = try connection.statement(
      "SELECT name FROM pragma_table_info((SELECT name FROM sqlite_master "
        + "WHERE type = 'table' AND rootpage > 0 AND name = '\(table)'))")
    defer { statement.reset() }
    var names: Set<String> = []
    while try statement.step() { names.insert(statement.text(0)) }
    return names
  }
}
