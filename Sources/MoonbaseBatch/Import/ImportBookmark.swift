package import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The place in a file up to which an import has taken all rows, as the store notes it.
package final class ImportBookmark {
  /// The job's name in the ledger.
  package let job: String
  private let store: any PersistentStore
  private let fingerprint: InputFingerprint
  private let rejectPath: String?
  /// A digest of how rows are taken.
  private let way: String
  /// Whether an earlier run took them otherwise.
  package private(set) var changesWay = false
  /// Whether an earlier run of the import was ended.
  package private(set) var isGoingOn = false
  /// Where the input goes on, and in which line.
  package private(set) var offset: Int64 = 0
  package private(set) var line: Int64 = 1
  private(set) var rejectLength: Int64 = 0
  /// Whether the file for rejected rows has those of an earlier run.
  package private(set) var ownsRejectFile = false
  /// That of an earlier run, where rejected rows are to go to another one and it has some.
  package private(set) var formerRejectPath: String?
  private(set) var report = ImportReport()
  /// The place that the store has noted.
  private(set) var noted: Int64?
  /// Which of several inputs it is, that follow each other.
  package private(set) var step = 0

  /// The place that an earlier run came to, or the beginning with `restarting`.
  ///
  /// Throws where the file has changed since.
  package init(
    _ job: String, fingerprint: InputFingerprint, of store: any PersistentStore, restarting: Bool,
    rejectPath: String? = nil, way: String = "", mayBeginAnew: Bool = true,
    advice: String = "--restart begins anew, which takes those rows once more"
  ) throws {
    (self.job, self.store, self.fingerprint) = (job, store, fingerprint)
    self.rejectPath = rejectPath.map { URL(literalPath: $0).standardizedFileURL.path }
    self.way = InputFingerprint.digest(Data(way.utf8))
    guard let entry = try Ledger.entry(job, of: store) else { return }
    noted = entry.number("offset")
    let formerPath: String? = if case .string(let path)? = entry["rejects"] { path } else { nil }
    ownsRejectFile = formerPath == nil ? !restarting : formerPath == self.rejectPath
    if restarting { return }
    if case .string(let former)? = entry["way"] { changesWay = former != self.way && entry.number("rows") ?? 0 > 0 }
    // Where no row was taken, it is all the same which file it was.
    let isAtBeginning = entry.number("rows") ?? 0 == 0 && entry.number("offset") ?? 0 == 0
    if !mayBeginAnew || !isAtBeginning { try requireSameInput(as: entry, advice) }
    isGoingOn = true
    step = Int(entry.number("step") ?? 0)
    offset = entry.number("offset") ?? 0
    line = entry.number("line") ?? 1
    rejectLength = entry.number("rejectLength") ?? 0
    if let formerPath, self.rejectPath != nil, !ownsRejectFile { leaveRejects(formerPath) }
    report.rows = Int(entry.number("rows") ?? 0)
    report.inserted = Int(entry.number("inserted") ?? 0)
    report.updated = Int(entry.number("updated") ?? 0)
    report.skipped = Int(entry.number("skipped") ?? 0)
    report.rejected = Int(entry.number("rejected") ?? 0)
  }

  private func requireSameInput(as entry: Ledger.Entry, _ advice: String) throws {
    let stand =
      "an import of this file ended in line \(entry.number("line") ?? 1), behind \(entry.number("rows") ?? 0) rows, and "
    var (noted, before) = ("", String?.none)
    if case .string(let text)? = entry["file"] { noted = text }
    if case .string(let text)? = entry["before"] { before = text }
    switch fingerprint.agreement(with: noted, before: before, at: entry.number("offset") ?? 0) {
    case .same: return
    case .changed: throw ImportError(message: "\(stand)the file has changed since: \(advice)")
    case .unknown:
      throw ImportError(
        message:
          "\(stand)the file has another time now. An older moonbase noted nothing else of it, so that nobody knows "
          + "whether it has changed: \(advice)")
    }
  }

  /// Rows that are rejected from now on go to another file; that of before keeps what is saved.
  private func leaveRejects(_ path: String) {
    if rejectLength > 0 {
      RejectFile.leave(path, at: rejectLength)
      formerRejectPath = path
    }
    rejectLength = 0
  }

  /// Notes that all is done up to the end of a row, with the save of the rows before it, where the store has noted `expected` before.
  func change(
    from expected: Int64?, to row: StagedRows.Row, _ report: ImportReport, rejectLength: Int64
  ) -> MetadataChange {
    change(from: expected, to: entry(row.end, row.endLine, report, rejectLength))
  }

  /// Notes that the import has begun, before anything is written: what a run that is killed at once leaves is known to be its own.
  func begin(_ report: ImportReport) throws -> Int64 {
    try store.change(change(from: noted, to: entry(offset, line, report, rejectLength)))
    return offset
  }

  /// One input is over, and the next one follows.
  func advance(_ report: ImportReport) throws {
    step += 1
    (offset, line, rejectLength, self.report) = (0, 1, 0, report)
    let entry = entry(0, 1, report, 0)
    try store.change(Ledger.change(job, of: store) { _ in entry })
    noted = 0
  }

  private func entry(_ offset: Int64, _ line: Int64, _ report: ImportReport, _ rejectLength: Int64) -> Ledger.Entry {
    var entry: Ledger.Entry = [
      "kind": .string("import"), "file": .string(fingerprint.content), "step": .int(Int64(step)),
      "offset": .int(offset), "line": .int(line), "rejectLength": .int(rejectLength),
      "rows": .int(Int64(report.rows)), "inserted": .int(Int64(report.inserted)),
      "updated": .int(Int64(report.updated)), "skipped": .int(Int64(report.skipped)),
      "rejected": .int(Int64(report.rejected)), "date": .date(Date()), "way": .string(way),
    ]
    entry["before"] = fingerprint.before(offset).map(Value.string)
    entry["rejects"] = rejectPath.map(Value.string)
    return entry
  }

  private func change(from expected: Int64?, to entry: Ledger.Entry) -> MetadataChange {
    Ledger.change(job, of: store) { known in
      // Another process imports the same file.
      guard known?.number("offset") == expected else {
        throw GraphError(
          .storeFailure,
          message:
            "another import of this file wrote to the store meanwhile: see what it took before this one is run again")
      }
      return entry
    }
  }

  /// The import is over.
  func remove() throws { try store.change(Ledger.change(job, of: store) { _ in nil }) }
}

extension Ledger.Entry {
  func number(_ key: String) -> Int64? { if case .int(let number)? = self[key] { number } else { nil } }
}
