import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The report of `moonbase info` about the file.
struct FileReport: Encodable {
  /// A feature that the model requires and that the file lacks.
  struct Missing: Encodable {
    let entity: String?
    let property: String?
    let table: String?
    let reason: String
    let advice: String
  }

  struct History: Encodable {
    let transactions: Int
    let first: String?
    let last: String?

    /// The line of the report.
    var line: String {
      let span = first.flatMap { first in last.map { ", from \(first) to \($0)" } } ?? ""
      return "history     \(transactions) transaction\(transactions == 1 ? "" : "s")\(span)"
    }
  }

  let size: Int
  let freeSize: Int
  /// `wal` for a write-ahead log, or `delete` for a rollback journal.
  let journalMode: String
  /// The size of the write-ahead log in bytes, or nil if there is no log.
  let logSize: Int?
  /// Whether a process is writing, or has crashed during a write.
  let hasJournal: Bool
  let isMirroredByCloudKit: Bool
  /// Nil if the store keeps no history.
  let history: History?
  /// Tables that do not belong to the model, or nil if no model is known.
  let unknownTables: [String]?
  /// Missing features that prevent writing to the store, or nil if no model is known.
  let missingFeatures: [Missing]?

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
