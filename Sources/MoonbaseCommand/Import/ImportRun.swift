import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseScripting

/// A single import with its progress, its end and its messages.
///
/// `ImportCommand` creates it after the store and the scripts are open. The importer reads and
/// saves rows in batches, and a bookmark in the store remembers how far a file has been imported.
/// An interrupted import therefore continues with the first unsaved row.
///
/// The run prints progress on standard error, and ends with a summary or with a JSON object.
struct ImportRun {
  /// The options of the command.
  private let command: ImportCommand
  /// The rows to read.
  private let input: ImportInput
  /// Converts rows to objects and saves them.
  private let importer: Importer
  /// The saved position in the input. Nil for a dry run, and for an input without a fingerprint,
  /// which cannot be read again.
  private let bookmark: ImportBookmark?
  /// Whether the file of rejected rows may be overwritten.
  private let givesUpRejects: Bool

  /// Checks the reject file and opens the bookmark. Nothing has been read or saved when it returns.
  ///
  /// - Parameters:
  ///   - command: The options.
  ///   - entityName: The name of the entity.
  ///   - input: The rows.
  ///   - file: The name of the input, for messages.
  ///   - context: The context that saves the objects.
  ///   - script: The functions of the option `--map`, if it is given.
  /// - Throws: `.unknownName`, or a `UsageError` if the reject file is in use.
  init(
    _ command: ImportCommand, _ entityName: String, _ input: ImportInput, _ file: String,
    in context: ManagedObjectContext, _ script: ImportScript?
  ) throws {
    (self.command, self.input) = (command, input)
    guard let entity = context.model.entity(entityName) else {
      throw GraphError.unknownEntity(entityName, in: context.model)
    }
    try Self.checkRejects(of: input, command)
    if !command.quiet { for warning in input.warnings { Terminal.complain("moonbase: \(warning)") } }
    try input.claim()
    bookmark =
      try command.dryRun
      ? nil
      : input.fingerprint.map {
        let (job, store) = (Self.job(entity.name, file), try context.coordinator.storeForNewObjects(of: entity))
        let rejectPath = input.rejectPath
        if command.infer {
          return try ImportBookmark(
            job, fingerprint: $0, ofNewStore: store, rejectPath: rejectPath, usualRejectPath: input.usualRejectPath)
        }
        return try ImportBookmark(
          job, fingerprint: $0, of: store, restarting: command.restart, rejectPath: rejectPath,
          usualRejectPath: input.usualRejectPath, way: Self.way(command))
      }
    if command.dryRun, !command.quiet {
      let store = try context.coordinator.storeForNewObjects(of: entity)
      if try Ledger.entry(Self.job(entity.name, file), of: store) != nil {
        Terminal.complain(
          "moonbase: an import of this file was ended, and goes on where it stood without --dry-run, which looks at all of the file"
        )
      }
    }
    if let bookmark, bookmark.isResuming, !command.quiet {
      Terminal.complain(
        "moonbase: an import of this file was ended: it goes on in line \(bookmark.line)"
          + (command.infer ? "" : "; --restart begins anew"))
    }
    if bookmark?.changesWay == true, !command.quiet {
      Terminal.complain(
        "moonbase: --map, --upsert or what else says how rows are taken is not what it was for the rows before: those from here on are taken as it says now"
      )
    }
    if let path = bookmark?.formerRejectPath, !command.quiet {
      Terminal.complain("moonbase: what was rejected before, and why: \(path)")
    }
    // Rejected rows of a dry run are not needed after it, so a new dry run may replace them.
    let isOfDryRun = command.dryRun && command.rejects == nil
    let owner = bookmark?.rejectFile ?? .another
    givesUpRejects = command.force || command.dryRun || owner == .this
    // If the import resumes, it reports by itself that the file belongs to another import.
    if owner == .another, !command.force, !isOfDryRun, bookmark?.keepsRejects != true {
      try Self.requireNoRejects(input.rejectPath)
    }
    importer = try Importer(
      entity, from: input, in: context, options: command.options, script: script, bookmark: bookmark,
      replacesRejects: givesUpRejects)
  }

  /// The settings that decide how rows are imported.
  ///
  /// The bookmark contains their digest. An import with other settings cannot continue an
  /// interrupted import. The text contains the source of the `--map` file, so that a changed script
  /// counts as another setting.
  private static func way(_ command: ImportCommand) -> String {
    let map = command.map.flatMap { FileManager.default.contents(atPath: $0) }.map {
      String(decoding: $0, as: UTF8.self)
    }
    let nulls = command.null.joined(separator: "\u{1}")
    var parts = [command.upsert ?? "", nulls, command.dates.rawValue, "\(command.createMissing)", map ?? ""]
    let form = [command.separator?.text, command.encoding?.name, command.noHeader ? "no header" : nil]
    if form.contains(where: { $0 != nil }) { parts += form.map { $0 ?? "" } }
    return parts.joined(separator: "\0")
  }

  /// Throws if the file contains rejected rows of an earlier import.
  ///
  /// - Parameter path: The path of the reject file.
  /// - Throws: A `UsageError` that names the ways to continue.
  static func requireNoRejects(_ path: String) throws {
    guard keepsRows(path) else { return }
    throw UsageError(
      "\(path) is there from an earlier import: import or move it, name another file with --rejects, or give --force")
  }

  /// Whether there is a file with rejected rows of an earlier import. Pipes and devices keep no rows.
  private static func keepsRows(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && FileIdentity.kind(path) == nil
  }

  /// Rejected rows must not overwrite the input.
  private static func checkRejects(of input: ImportInput, _ command: ImportCommand) throws {
    let place = input.rejectPath
    guard place != "-" else { throw UsageError("--rejects takes the path of a file, not standard output") }
    // The folder of a read-only file may have no room for another file. This does not matter if no row is rejected.
    if command.rejects != nil { try RejectFailure.check(place) }
    try requireUnused(place, input, command)
    if command.rejects != nil { try RejectFailure.checkIsNoLink(place) }
  }

  /// Throws if the reject file would replace the input, a script, a model or a file of an open
  /// store.
  private static func requireUnused(_ place: String, _ input: ImportInput, _ command: ImportCommand) throws {
    guard let path = FileIdentity.truePath(place) else { return }
    let used =
      [input.path, command.map, command.stores.stores.model].compactMap(\.self) + command.stores.stores.modules
    let isUsed = used.contains { FileIdentity.truePath($0) == path }
    guard !isUsed, !SQLiteStore.isFileOfOpenStore(atPath: path, writing: true) else {
      throw UsageError("\(place) is read by this import: name another file for rejected rows with --rejects")
    }
  }

  /// The name of an import in the ledger.
  ///
  /// Two imports of one file as different entities have different names.
  ///
  /// Example: `import Person /data/people.csv`.
  static func job(_ entity: String, _ file: String) -> String {
    "import \(entity) \(URL(literalPath: file).standardizedFileURL.path)"
  }

  /// Imports all rows, and prints the summary.
  ///
  /// - Throws: An exit code for partial success if rows were rejected, and for an interruption.
  ///   Errors of the input are thrown after the summary.
  func run() throws {
    let bar = ProgressBar(quiet: command.quiet)
    let began = Date()
    Interruption.isWaitedFor()
    var failuresAfterSaves = 0
    importer.didFailAfterSave = { error in
      failuresAfterSaves += 1
      if failuresAfterSaves <= 20 { Terminal.complain("moonbase: it is saved, but then: \(error)") }
    }
    importer.progress = { [input] offset, report in
      bar.show(
        Int(offset), of: Int(input.size ?? 0),
        rate: Double(report.rows) / max(Date().timeIntervalSince(began), 0.001), unit: "rows",
        seconds: Date().timeIntervalSince(began))
      return Interruption.hasCome
    }
    do {
      if !Interruption.hasCome { try importer.run() }
    } catch {
      bar.end()
      try summarize(began, isWhole: false, ofInput: error is ImportError)
      throw error
    }
    bar.end()
    if Interruption.hasCome {
      try summarize(began, isWhole: false)
      throw ExitCode(ExitStatus.interrupted)
    }
    try importer.close()
    // Remove the reject file of an earlier import. Its rows have been imported and need no correction.
    if givesUpRejects, importer.report.rejected == 0, Self.keepsRows(input.rejectPath) { unlink(input.rejectPath) }
    try summarize(began, isWhole: true)
    if failuresAfterSaves > 20 {
      Terminal.complain("moonbase: and \(failuresAfterSaves - 20) more failed after they were saved")
    }
    if importer.report.rejected > 0 || failuresAfterSaves > 0 { throw ExitCode(ExitStatus.rejects) }
  }

  /// Prints the summary, or the JSON object with the same numbers.
  ///
  /// - Parameters:
  ///   - began: The start of the import.
  ///   - isWhole: Whether all rows were read.
  ///   - ofInput: Whether an error in the input ended the import.
  private func summarize(_ began: Date, isWhole: Bool, ofInput: Bool = false) throws {
    let report = importer.report
    let seconds = Date().timeIntervalSince(began)
    let derived = importer.derivedColumns
    try command.summary.tell(
      [
        "rows": .count(report.rows), "inserted": .count(report.inserted), "updated": .count(report.updated),
        "unchanged": .count(unchanged), "skipped": .count(report.skipped), "rejected": .count(report.rejected),
        "rejects": .text(report.rejected > 0 ? input.rejectPath : nil), "derived": .texts(derived),
        "dryRun": .bool(command.dryRun), "complete": .bool(isWhole), "seconds": .seconds(seconds),
      ], quiet: command.quiet, lines: lines(seconds, isWhole: isWhole, ofInput: ofInput))
  }

  /// The number of rows whose objects already had all values.
  private var unchanged: Int {
    let report = importer.report
    return report.rows - report.inserted - report.updated - report.skipped - report.rejected
  }

  /// The lines of the summary, such as `3 inserted, 1 updated, 1 rejected in 0.2 s`.
  private func lines(_ seconds: Double, isWhole: Bool, ofInput: Bool) -> [String] {
    let report = importer.report
    var parts = ["\(report.inserted) inserted"]
    if !command.options.keys.isEmpty { parts.append("\(report.updated) updated") }
    if unchanged > 0 { parts.append("\(unchanged) unchanged") }
    if report.skipped > 0 { parts.append("\(report.skipped) passed over") }
    parts.append("\(report.rejected) rejected")
    let rate = Int(Double(report.rows) / max(seconds, 0.001))
    let verb = command.dryRun ? "would be " : ""
    let time = String(format: "%.1f", seconds)
    var lines = [
      "\(report.rows) row\(report.rows == 1 ? "" : "s"): \(verb)\(parts.joined(separator: ", ")) (\(time) s, \(rate) rows/s)"
    ]
    let derived = importer.derivedColumns
    if !derived.isEmpty { lines.append("derived, and passed over: \(derived.listed(atMost: 20))") }
    if report.rejected > 0 { lines.append("what was rejected, and why: \(input.rejectPath)") }
    return isWhole ? lines : lines + ["the import ended before the end of the file: \(advice(ofInput: ofInput))"]
  }

  /// A hint how to continue an import that ended early.
  private func advice(ofInput: Bool) -> String {
    if command.dryRun { return "nothing of it is saved" }
    if ofInput {
      return importer.report.rows == 0
        ? "no row was taken"
        : "the \(importer.report.rows) rows before are done: import what follows them, mended, from a file of its own"
    }
    return bookmark == nil ? "what is said above is saved" : "run it again to go on"
  }
}
