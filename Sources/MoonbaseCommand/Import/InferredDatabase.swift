import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// `moonbase import --infer` with a SQLite database. Tables become entities, foreign keys become relationships, and
/// rows become objects.
///
/// The database is opened read-only. It is read twice: once to determine types, keys and foreign
/// keys, and once to copy the rows. An interrupted copy continues when the command is run again,
/// because the new store contains a bookmark.
struct InferredDatabase {
  /// The options of the command.
  private let command: ImportCommand
  /// The path of the database.
  private let path: String

  /// Checks that only options are given that have a meaning for a database.
  ///
  /// - Parameters:
  ///   - command: The options.
  ///   - entity: The name of an entity, which must be nil. Tables give the names.
  ///   - path: The path of the database.
  /// - Throws: A `UsageError` for an option that applies to rows only.
  init(_ command: ImportCommand, _ entity: String?, _ path: String) throws {
    (self.command, self.path) = (command, path)
    if let entity {
      throw UsageError("\(path) is a database, whose tables are entities: leave '\(entity)' out")
    }
    let others: [(String, Bool)] = [
      ("--format", command.format != nil), ("--null", !command.null.isEmpty), ("--upsert", command.upsert != nil),
      ("--rejects", command.rejects != nil),
    ]
    if let option = others.first(where: \.1)?.0 {
      throw UsageError("\(option) is for files of rows, not for a database")
    }
  }

  /// Runs the import. Scripts of the model can be called, so a script domain is opened for the time
  /// of the run.
  func run() throws {
    let stores = command.dryRun ? StoreSettings() : try command.storeSettings()
    let scripts = try command.scripts.settings()
    let domain = try scripts.openDomain(forScriptsIn: ".", stores)
    defer { domain.close() }
    scripts.boundSQLite()
    let watch = InterruptionWatch()
    defer { watch.end() }
    watch.add(domain.state.interrupter)
    Interruption.isWaitedFor()
    // The whole import is one run, so the limits also apply to the analysis of the rows.
    try domain.state.run {
      try importDatabase(stores, in: domain)
      try domain.state.flushFiles()
    }
  }

  /// Infers the plan, writes the model, creates the store and copies the rows. A dry run prints the
  /// model and ends.
  private func importDatabase(_ stores: StoreSettings, in domain: ScriptDomain) throws {
    let database = try OpenDatabase(path)
    let place = command.dryRun ? nil : try InferredStore(stores)
    let isGoingOn = try Interruption.endingProcess { try place?.hasBegun(DatabaseImport.job(path)) ?? false }
    let plan = try plan(of: database)
    guard let place else { return Terminal.write(try plan.inferred.luaSource()) }
    if !isGoingOn {
      for path in DatabaseImport.rejectPaths(of: plan, database) where FileManager.default.fileExists(atPath: path) {
        guard !command.force else { continue }
        throw UsageError("\(path) is there from an earlier import: move it, or give --force")
      }
      try place.write(plan.inferred, replacing: command.force, quiet: command.quiet)
    }
    let description = try isGoingOn ? place.description : place.description(with: plan.inferred.model)
    let container = try Interruption.endingProcess {
      try PersistentContainer(command.scripts.settings().limiting(description, stores))
    }
    try copyRows(plan, of: database, into: container, in: domain)
  }

  /// Reads all tables and decides about entities, attributes and relationships. Shows the progress
  /// by table.
  private func plan(of database: OpenDatabase) throws -> DatabasePlan {
    let inference = DatabaseInference(database)
    let bar = ProgressBar(quiet: command.quiet)
    let began = Date()
    inference.progress = { table, rows in
      let seconds = Date().timeIntervalSince(began)
      bar.show(0, of: 0, rate: Double(rows) / max(seconds, 0.001), unit: "rows of \(table) looked at", seconds: seconds)
      return Interruption.hasCome
    }
    defer { bar.end() }
    guard let plan = try inference.plan() else { throw ExitCode(ExitStatus.interrupted) }
    _ = try plan.inferred.model.resolved()
    return plan
  }

  /// Copies the rows into the opened store.
  ///
  /// - Parameters:
  ///   - plan: The entities and relationships for the tables.
  ///   - database: The source.
  ///   - container: The container over the new store.
  ///   - domain: The scripts of the run.
  private func copyRows(
    _ plan: DatabasePlan, of database: OpenDatabase, into container: PersistentContainer, in domain: ScriptDomain
  ) throws {
    let context = try domain.context(of: container.opened)
    let bookmark = try ImportBookmark(
      DatabaseImport.job(path), fingerprint: database.fingerprint,
      ofNewStore: container.coordinator.persistentStores[0])
    if bookmark.isResuming, !command.quiet {
      Terminal.complain("moonbase: an import of this database was ended: it goes on")
    }
    try run(
      DatabaseImport(
        plan, of: database, in: context, options: command.options, bookmark: bookmark, replacesRejects: command.force))
  }

  /// Runs the copy with a progress bar, and prints the summary even if an error ends it.
  private func run(_ job: DatabaseImport) throws {
    let bar = ProgressBar(quiet: command.quiet)
    let began = Date()
    job.progress = { name, done, total in
      let seconds = Date().timeIntervalSince(began)
      bar.show(
        Int(done), of: Int(total), rate: Double(done) / max(seconds, 0.001), unit: "rows of \(name)", seconds: seconds)
      return Interruption.hasCome
    }
    let isDone: Bool
    do { isDone = try job.run() } catch {
      bar.end()
      try summarize(job, began, isDone: false)
      throw error
    }
    bar.end()
    try summarize(job, began, isDone: isDone)
    if !isDone { throw ExitCode(ExitStatus.interrupted) }
    if job.report.rejected > 0 { throw ExitCode(ExitStatus.rejects) }
  }

  /// Prints the summary, or the JSON object with the same numbers.
  private func summarize(_ job: DatabaseImport, _ began: Date, isDone: Bool) throws {
    let report = job.report
    let seconds = Date().timeIntervalSince(began)
    let files = job.rejectPaths.filter { FileManager.default.fileExists(atPath: $0) }
    let linked = report.updated == 0 ? "" : ", \(report.updated) linked later"
    let time = String(format: "%.1f", seconds)
    var lines = ["\(report.inserted) objects\(linked), \(report.rejected) rejected (\(time) s)"]
    if report.rejected > 0 { lines.append("what was rejected, and why: \(files.joined(separator: ", "))") }
    if !isDone { lines.append("the import ended before its end: run it again to go on") }
    try command.summary.tell(
      [
        "inserted": .count(report.inserted), "linked": .count(report.updated), "rejected": .count(report.rejected),
        "rejects": .texts(report.rejected > 0 ? files : []), "complete": .bool(isDone), "seconds": .seconds(seconds),
      ], quiet: command.quiet, lines: lines)
  }
}
