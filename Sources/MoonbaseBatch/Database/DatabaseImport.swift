package import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Takes the rows of a database into the store of its model: first the objects, table by table, then relationships that had to wait for them.
///
/// Each chunk is one transaction with its place in the ledger, as of any import.
package final class DatabaseImport {
  private let database: OpenDatabase
  private let plan: DatabasePlan
  private let context: ManagedObjectContext
  private let bookmark: ImportBookmark
  private let options: ImportOptions
  private let replacesRejects: Bool

  /// What was done, by all runs together.
  package private(set) var report: ImportReport
  /// The files of rejected rows.
  package private(set) var rejectPaths: [String] = []
  /// Called between chunks; true ends the import there.
  package var progress: (_ name: String, _ done: Int64, _ total: Int64) -> Bool = { _, _, _ in false }

  /// The name in the ledger of an import of a file.
  package static func job(_ path: String) -> String {
    "import --infer \(URL(literalPath: path).standardizedFileURL.path)"
  }

  package init(
    _ plan: DatabasePlan, of database: OpenDatabase, in context: ManagedObjectContext, options: ImportOptions,
    bookmark: ImportBookmark, replacesRejects: Bool
  ) {
    (self.plan, self.database, self.context) = (plan, database, context)
    (self.options, self.bookmark, self.replacesRejects) = (options, bookmark, replacesRejects)
    report = bookmark.report
  }

  /// The files that rejected rows would go to.
  package static func rejectPaths(of plan: DatabasePlan, _ database: OpenDatabase) -> [String] {
    plan.steps.map { "\(stem(database.name)).\($0.name).rejects.ndjson" }
  }

  private static func stem(_ path: String) -> String {
    let name = path.split(separator: "/").last ?? ""
    guard let point = name.lastIndex(of: "."), point > name.startIndex else { return path }
    return String(path.dropLast(name[point...].count))
  }

  /// Imports all; false where `progress` ended it.
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
