package import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Imports the rows of a database into the store of its model: first the objects, table by table, and then
/// relationships that had to wait for their destinations.
///
/// Each chunk is a single transaction with its place in the ledger, as in other imports.
///
/// Each step of the plan is an `Importer` with a `TableReader` as its input. The `ImportBookmark`
/// records the step and the row, so that a killed import continues. The object is used once, on the
/// thread of its context.
package final class DatabaseImport {
  /// The database to read.
  private let database: OpenDatabase
  /// The steps, in the order of their dependencies.
  private let plan: DatabasePlan
  /// The context of the store to write.
  private let context: ManagedObjectContext
  /// The position in the store's ledger.
  private let bookmark: ImportBookmark
  /// The options, of which each step changes the keys.
  private let options: ImportOptions
  /// Whether existing files of rejected rows may be overwritten.
  private let replacesRejects: Bool

  /// The totals of all runs.
  package private(set) var report: ImportReport
  /// The paths of the files of rejected rows.
  package private(set) var rejectPaths: [String] = []
  /// Called between chunks. Returning true ends the import.
  package var progress: (_ name: String, _ done: Int64, _ total: Int64) -> Bool = { _, _, _ in false }

  /// The name of a file's import in the ledger.
  package static func job(_ path: String) -> String {
    "import --infer \(URL(literalPath: path).standardizedFileURL.path)"
  }

  /// An import by this plan, which continues at the bookmark.
  package init(
    _ plan: DatabasePlan, of database: OpenDatabase, in context: ManagedObjectContext, options: ImportOptions,
    bookmark: ImportBookmark, replacesRejects: Bool
  ) {
    (self.plan, self.database, self.context) = (plan, database, context)
    (self.options, self.bookmark, self.replacesRejects) = (options, bookmark, replacesRejects)
    report = bookmark.report
  }

  /// The paths of the files for rejected rows.
  package static func rejectPaths(of plan: DatabasePlan, _ database: OpenDatabase) -> [String] {
    plan.steps.map { "\(stem(database.name)).\($0.name).rejects.ndjson" }
  }

  /// The path without its ending: `people.sqlite` becomes `people`.
  private static func stem(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    guard let point = name.lastIndex(of: "."), point > name.startIndex else { return path }
    return String(path.dropLast(name[point...].count))
  }

  /// Imports all rows. Returns false if `progress` ended the import.
  ///
  /// Throws `.storeFailure` if the database was written to meanwhile, and the errors of
  /// `Importer.run`.
  package func run() throws -> Bool {
    let paths = Self.rejectPaths(of: plan, database)
    rejectPaths = Array(paths[..<min(bookmark.step, paths.count)])
    for (step, path) in zip(plan.steps, paths).dropFirst(bookmark.step) {
      rejectPaths.append(path)
      guard try run(step, rejectPath: path) else { return false }
      try bookmark.advance(report)
      try context.reset()
    }
    try database.requireOneState()
    try bookmark.remove()
    return true
  }

  /// Imports the rows of a step. Returns false if `progress` ended it.
  private func run(_ step: DatabasePlan.Step, rejectPath: String) throws -> Bool {
    guard let entity = context.model.entity(step.entity) else {
      throw ImportError(
        message: "\(database.name): the store has no entity \(step.entity), so that it is of another model")
    }
    let reader = try TableReader(step.sql, names: step.columns, keys: step.keys, in: database)
    let input = ImportInput(reader, of: database.name, count: step.count, rejectPath: rejectPath)
    var options = options
    (options.keys, options.updatesOnly) = (step.found, !step.found.isEmpty)
    let importer = try Importer(
      entity, from: input, in: context, options: options, bookmark: bookmark, replacesRejects: replacesRejects)
    var isEnded = false
    importer.progress = { [progress] done, _ in
      isEnded = progress(step.name, done, step.count)
      return isEnded
    }
    defer { report = importer.report }
    try importer.run()
    return !isEnded
  }
}
