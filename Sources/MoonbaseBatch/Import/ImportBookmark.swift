package import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The position in a file up to which an import has processed all rows, as recorded in the store.
///
/// The bookmark reads its entry of the `Ledger` once, in `init`. `change(from:to:_:_:)` then makes
/// the change that is committed with each chunk. `remove` deletes the entry after the last chunk.
/// An object belongs to one import.
package final class ImportBookmark {
  /// The job's name in the ledger.
  package let job: String
  /// The store with the ledger.
  private let store: any PersistentStore
  /// The identity of the input, which the entry records.
  private let fingerprint: InputFingerprint
  /// The standardized path of the file of rejected rows.
  private let rejectPath: String?
  /// A digest of the options of the import.
  ///
  /// Another way is only noted in `changesWay`; the command then warns.
  private let way: String
  /// Whether an earlier run used other options.
  package private(set) var changesWay = false
  /// Whether an earlier run of the import was ended early.
  package private(set) var isResuming = false
  /// The position in the input at which to continue.
  package private(set) var offset: Int64 = 0
  /// The line at which to continue.
  package private(set) var line: Int64 = 1
  /// The length and the digest of the file of rejected rows.
  private(set) var rejects = RejectTrace()
  /// The owner of the file of rejected rows: the run that was ended, or another import.
  package private(set) var rejectFile = RejectFileOwner.another
  /// Whether the import continues a file of rejected rows.
  package var keepsRejects: Bool { rejects.length > 0 }
  /// The file of rejected rows of an earlier run, if it has rows and this run uses another file.
  package private(set) var formerRejectPath: String?
  /// The totals of all runs.
  private(set) var report = ImportReport()
  /// The position last recorded in the store.
  private(set) var noted: Int64?
  /// The index of the current input among several.
  package private(set) var step = 0

  /// Reads the position of an earlier run; with `restarting`, starts from the beginning.
  ///
  /// Throws if the file has changed since.
  ///
  /// - Parameters:
  ///   - job: The name of the job in the ledger.
  ///   - fingerprint: The identity of the input.
  ///   - rejectPath: The file of rejected rows of this run.
  ///   - usualRejectPath: The file that is derived from the input's name.
  ///   - way: The options of the import, as a text to be compared.
  ///   - mayBeginAnew: Whether another file is acceptable if no row was processed.
  ///   - advice: The remedy that the error names.
  ///
  /// Throws `ImportError` for a changed file, and `.invalidStore` for a damaged entry.
  package init(
    _ job: String, fingerprint: InputFingerprint, of store: any PersistentStore, restarting: Bool,
    rejectPath: String? = nil, usualRejectPath: String? = nil, way: String = "", mayBeginAnew: Bool = true,
    advice: String = "--restart begins anew, which takes those rows once more"
  ) throws {
    (self.job, self.store, self.fingerprint) = (job, store, fingerprint)
    self.rejectPath = rejectPath.map(Self.wholePath)
    self.way = SHA2.shortText(Data(way.utf8))
    guard let entry = try Ledger.entry(job, of: store) else { return }
    let reader = LedgerReader(entry, of: job, advice: advice)
    noted = entry.number("offset")
    let formerPath = reader.text("rejects")
    let namesFile = formerPath == nil ? !restarting : formerPath == self.rejectPath
    if restarting {
      let former = RejectTrace(entry)
      rejectFile = owner(namesFile, former)
      if namesFile { rejects.number = former.number }
      return
    }
    isResuming = true
    try readTotals(reader)
    rejectFile = owner(namesFile, rejects)
    if let former = reader.text("way") { changesWay = former != self.way && report.rows > 0 }
    // If no row was processed, another file is acceptable.
    if !mayBeginAnew || report.rows > 0 || offset > 0 { try requireSameInput(as: reader, advice) }
    if let formerPath, self.rejectPath != nil, !namesFile {
      leaveRejects(formerPath, isUsual: usualRejectPath.map(Self.wholePath) == formerPath)
    }
  }

  /// The standardized absolute path.
  private static func wholePath(_ path: String) -> String { URL(literalPath: path).standardizedFileURL.path }

  /// Reads the position and the totals of an entry.
  private func readTotals(_ reader: LedgerReader) throws {
    step = Int(try reader.number("step"))
    offset = try reader.number("offset")
    line = try reader.number("line", in: 1...LedgerReader.greatestCount, otherwise: 1)
    _ = try reader.number("rejectLength")
    rejects = RejectTrace(reader.entry)
    report.rows = Int(try reader.number("rows"))
    report.inserted = Int(try reader.number("inserted"))
    report.updated = Int(try reader.number("updated"))
    report.skipped = Int(try reader.number("skipped"))
    report.rejected = Int(try reader.number("rejected"))
  }

  /// The owner of the file of rejected rows, judged by its path and its trace.
  private func owner(_ namesFile: Bool, _ trace: RejectTrace) -> RejectFileOwner {
    guard namesFile else { return .another }
    guard trace.length > 0 else { return .unsaved }
    return rejectPath.map(trace.matches) == false ? .another : .this
  }

  /// Throws `ImportError` if the input is not the one of the entry.
  private func requireSameInput(as entry: LedgerReader, _ advice: String) throws {
    let stand = "an import of this file ended in line \(line), behind \(report.rows) rows, and "
    switch fingerprint.agreement(with: entry.text("file") ?? "", before: entry.text("before"), at: offset) {
    case .same: return
    case .changed: throw ImportError(message: "\(stand)the file has changed since: \(advice)")
    case .unknown:
      throw ImportError(
        message:
          "\(stand)the file has another time now. An older moonbase noted nothing else of it, so that nobody knows "
          + "whether it has changed: \(advice)")
    }
  }

  /// Directs rejected rows to another file. The former file keeps its saved rows. It is modified only if it is at the
  /// place derived from the input's name, and not wherever the store says.
  private func leaveRejects(_ path: String, isUsual: Bool) {
    if rejects.length > 0 {
      if isUsual { RejectFile.leave(path, at: rejects) }
      formerRejectPath = path
    }
    rejects = RejectTrace()
  }

  /// A change that records the end of a row, to be saved with the rows before it, provided that the store has recorded
  /// `expected` before.
  func change(
    from expected: Int64?, to row: StagedRows.Row, _ report: ImportReport, _ rejects: RejectTrace
  ) -> MetadataChange {
    change(from: expected, to: entry(row.end, row.endLine, report, rejects))
  }

  /// Records the start of the import before anything is written, so that files left by a run that is killed at once are
  /// recognised.
  func begin(_ report: ImportReport) throws -> Int64 {
    try store.change(change(from: noted, to: entry(offset, line, report, rejects)))
    return offset
  }

  /// Records that an input is complete and the next one follows.
  func advance(_ report: ImportReport) throws {
    step += 1
    (offset, line, rejects, self.report) = (0, 1, RejectTrace(), report)
    let entry = entry(0, 1, report, rejects)
    try store.change(Ledger.change(job, of: store) { _ in entry })
    noted = 0
  }

  /// The entry of the ledger for a position.
  private func entry(_ offset: Int64, _ line: Int64, _ report: ImportReport, _ rejects: RejectTrace) -> Ledger.Entry {
    var entry: Ledger.Entry = [
      "kind": .string("import"), "file": .string(fingerprint.content), "step": .int(Int64(step)),
      "offset": .int(offset), "line": .int(line), "rejectLength": .int(rejects.length),
      "rows": .int(Int64(report.rows)), "inserted": .int(Int64(report.inserted)),
      "updated": .int(Int64(report.updated)), "skipped": .int(Int64(report.skipped)),
      "rejected": .int(Int64(report.rejected)), "date": .date(Date()), "way": .string(way),
    ]
    entry["before"] = fingerprint.before(offset).map(Value.string)
    entry["rejects"] = rejectPath.map(Value.string)
    entry["rejectEnd"] = rejects.digest.map(Value.string)
    entry["rejectFile"] = rejects.number.map { .int(Int64(bitPattern: $0)) }
    return entry
  }

  /// The change fails with `.storeFailure` if another process has moved the position.
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

  /// Records the file of rejected rows before its first row is written.
  ///
  /// `number` is the file's inode.
  func note(rejectFile number: UInt64) throws {
    rejects.number = number
    try store.change(
      Ledger.change(job, of: store) { known in
        var entry = known
        entry?["rejectFile"] = .int(Int64(bitPattern: number))
        return entry
      })
  }

  /// Removes the entry of a completed import.
  func remove() throws { try store.change(Ledger.change(job, of: store) { _ in nil }) }
}

/// The owner of a file of rejected rows.
package enum RejectFileOwner: Sendable {
  /// The run that was ended.
  case this
  /// The run that was ended, which may have written rejected rows that were not saved and will be rejected again.
  case unsaved
  /// Another import, or none.
  case another
}

extension RejectTrace {
  /// The trace recorded in an entry of the ledger.
  init(_ entry: Ledger.Entry) {
    length = max(0, entry.number("rejectLength") ?? 0)
    if case .string(let text)? = entry["rejectEnd"] { digest = text }
    number = entry.number("rejectFile").map(UInt64.init(bitPattern:))
  }
}

extension Ledger.Entry {
  /// The integer of a key; nil for a missing key and other values.
  func number(_ key: String) -> Int64? { if case .int(let number)? = self[key] { number } else { nil } }
}
