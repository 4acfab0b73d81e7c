import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

/// The report of `moonbase info` about the file.
///
/// `StoreReport` contains it. The keys of the JSON object are the names of the properties, and
/// absent values are left out. The facts come from the header of the file, the SQLite schema and
/// the tables of Core Data.
struct FileReport: Encodable {
  /// A feature that the model requires and that the file lacks.
  struct Missing: Encodable {
    /// The entity that lacks something, or nil.
    let entity: String?
    /// The property that lacks a column, or nil.
    let property: String?
    /// The missing table, or nil.
    let table: String?
    /// The reason in words, such as a missing column.
    let reason: String
    /// The advice for the user, such as a migration.
    let advice: String
  }

  /// The extent of the history. The dates are the dates of the first and the last transaction.
  struct History: Encodable {
    /// The number of transactions.
    let transactions: Int
    /// The date of the first transaction in ISO form.
    let first: String?
    /// The date of the last transaction in ISO form.
    let last: String?

    /// The line of the report.
    var line: String {
      let span = first.flatMap { first in last.map { ", from \(first) to \($0)" } } ?? ""
      return "history     \(transactions) transaction\(transactions == 1 ? "" : "s")\(span)"
    }
  }

  /// The size of the file in bytes, without its log.
  let size: Int
  /// The size of the unused pages in bytes. `moonbase vacuum` would release them.
  let freeSize: Int
  /// `wal` for a write-ahead log, or `delete` for a rollback journal.
  let journalMode: String
  /// The size of the write-ahead log in bytes, or nil if there is no log.
  let logSize: Int?
  /// Whether a process is writing, or has crashed during a write.
  let hasJournal: Bool
  /// Whether the file has the tables that a CloudKit mirror of Core Data creates.
  let isMirroredByCloudKit: Bool
  /// Nil if the store keeps no history.
  let history: History?
  /// Tables that do not belong to the model, or nil if no model is known.
  let unknownTables: [String]?
  /// Missing features that prevent writing to the store, or nil if no model is known.
  let missingFeatures: [Missing]?

  /// Creates the report from facts in bytes and pages.
  ///
  /// - Parameter facts: The facts that were read from the file.
  init(_ facts: StoreFacts) {
    size = facts.size
    freeSize = facts.freePageCount * facts.pageSize
    journalMode = facts.wantsLog ? "wal" : "delete"
    logSize = facts.logSize
    hasJournal = facts.hasJournal
    isMirroredByCloudKit = facts.isMirrored
    history = facts.history.map {
      History(
        transactions: $0.transactions, first: $0.first.map(ISODate.text), last: $0.last.map(ISODate.text))
    }
    unknownTables = facts.foreignTables
    missingFeatures = facts.missingFeatures?.map {
      Missing(entity: $0.entity, property: $0.property, table: $0.table, reason: $0.reason, advice: $0.advice)
    }
  }

  /// The report as lines for `StoreReport.text`, with labels in a column of 12 characters.
  var lines: [String] {
    var lines = [
      "size        \(size) bytes\(freeSize > 0 ? ", \(freeSize) of them free" : "")", "journal     \(journal)",
    ]
    if let history { lines.append(history.line) }
    if isMirroredByCloudKit { lines.append("CloudKit    mirrors it: it is written with --allow-cloudkit only") }
    for missing in missingFeatures ?? [] { lines.append("read-only   \(missing.reason); \(missing.advice)") }
    if let unknownTables, !unknownTables.isEmpty {
      lines.append("others'     \(unknownTables.listed()) (tables that the model does not know)")
    }
    return lines
  }

  /// The journal mode and the state of the journal, such as `write-ahead log, empty`.
  private var journal: String {
    if hasJournal { return "rollback journal, one is there: a process writes, or died writing" }
    guard journalMode == "wal" else { return "rollback journal" }
    switch logSize {
    case nil: return "write-ahead log, none there"
    case 0: return "write-ahead log, empty"
    case let size?: return "write-ahead log of \(size) bytes: a copy of the file alone may lack what was saved last"
    }
  }
}
