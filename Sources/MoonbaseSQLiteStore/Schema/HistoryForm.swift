import MoonbaseGraph
import MoonbaseSQL
package import MoonbaseSQLite

/// The history tables of a file. Core Data's frameworks made them in two forms.
///
/// Both forms are read and written; new files get the current form (`HistorySchema`). The columns of optional texts
/// vary, so each user checks the column that it needs.
package struct HistoryForm {
  /// The columns of `ATRANSACTION`.
  let columns: Set<String>
  /// Whether texts are interned in a table of their own. macOS 10.13 stored them in the transactions.
  package let internsTexts: Bool
  /// The columns of `ACHANGE`.
  let changeColumns: Set<String>

  /// The columns for values of deleted rows, in order.
  package var tombstoneColumns: [String] {
    changeColumns.filter { $0.hasPrefix("ZTOMBSTONE") }.sorted { ($0.count, $0) < ($1.count, $1) }
  }

  /// Returns nil for a file without a history. Throws `.invalidStore` where tables or columns of the history are
  /// missing. Reads at most three tables of the schema.
  package init?(_ connection: Connection, path: String) throws {
    columns = try FileSchema.columns(of: "ATRANSACTION", on: connection)
    changeColumns = try FileSchema.columns(of: "ACHANGE", on: connection)
    if let half = Self.half(hasChanges: !changeColumns.isEmpty, hasTransactions: !columns.isEmpty) {
      throw half.error(in: path)
    }
    if columns.isEmpty { return nil }
    let texts = try FileSchema.columns(of: "ATRANSACTIONSTRING", on: connection)
    internsTexts = columns.contains("ZAUTHORTS") && !texts.isEmpty
    let head = ["Z_PK", "Z_ENT", "Z_OPT"]
    let change = ["ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]
    try FileSchema.require(head + ["ZTIMESTAMP"], in: "ATRANSACTION", found: columns, path: path)
    try FileSchema.require(head + change, in: "ACHANGE", found: changeColumns, path: path)
    guard internsTexts else { return }
    try FileSchema.require(head + ["ZNAME"], in: "ATRANSACTIONSTRING", found: texts, path: path)
  }

  /// The missing table where a file has changes without transactions, or transactions without changes. Readers of such
  /// a history would miss saves. Nil for a complete history and for none.
  static func half(hasChanges: Bool, hasTransactions: Bool) -> MissingFeature? {
    if hasChanges == hasTransactions { return nil }
    let (there, lost) = hasChanges ? ("ACHANGE", "ATRANSACTION") : ("ATRANSACTION", "ACHANGE")
    return MissingFeature(
      table: lost, reason: "it has the table \(there) of a history but no \(lost), so that no save could be told in it",
      advice: "restore the file from a backup, or end the history (DROP TABLE \(there))")
  }
}
