import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// `moonbase import --all`, which creates a store from a folder.
///
/// The folder contains a model and a file of rows for each entity, as `moonbase export --all`
/// writes them. Objects keep their keys and relationships. If the command is given again after an
/// interruption, it continues after the last saved rows.
struct StoreImportRun {
  /// The path of the folder.
  private let folder: String
  /// The options of the new store.
  private let settings: StoreSettings
  /// Whether progress and summary are left out.
  private let isQuiet: Bool
  /// Whether the summary is printed as JSON.
  private let summary: SummaryOptionGroup

  /// Checks the options, before the folder is read.
  ///
  /// - Throws: A `UsageError` if not exactly one writable store is named.
  init(_ folder: String, _ settings: StoreSettings, quiet: Bool, _ summary: SummaryOptionGroup) throws {
    (self.folder, self.settings, isQuiet, self.summary) = (folder, settings, quiet, summary)
    guard settings.stores.count == 1 else {
      throw UsageError("import --all fills one store: name it with --store PATH")
    }
    guard !settings.readOnly else { throw UsageError("import --all makes a store: leave --read-only out") }
  }

  /// Creates the store and copies all objects. The folder is locked meanwhile against other
  /// imports.
  func run() throws {
    let folder = try ExportedFolder(folder)
    try folder.claim()
    var place = settings.stores[0]
    place.busyTimeout = settings.busyTimeout
    let isNew = try place.isBare()
    var description = try settings.container
    if let path = settings.model ?? (isNew ? folder.modelPath : nil) {
      var model = try ManagedObjectModel(contentsOf: ModelFile.url(path))
      // Values are imported in their stored form, and transformers are not called.
      model.allowsUnknownClasses = true
      description.model = .value(model)
    }
    let container = try PersistentContainer(description)
    let bar = ProgressBar(quiet: isQuiet)
    let began = Date()
    let job = try StoreImport(folder, into: container.coordinator.persistentStores[0], of: container.coordinator.model)
    if job.isResuming, !isQuiet { Terminal.complain("moonbase: an import of this folder was ended: it goes on") }
    Interruption.isWaitedFor()
    job.progress = { done, total in
      let seconds = Date().timeIntervalSince(began)
      bar.show(done, of: total, rate: Double(done) / max(seconds, 0.001), unit: "rows", seconds: seconds)
      return Interruption.hasCome
    }
    defer { bar.end() }
    try job.run()
    bar.end()
    try tell(job.count, of: folder.contents.entities.count, isDone: job.isDone, Date().timeIntervalSince(began))
    guard job.isDone else {
      if !isQuiet { Terminal.complain("moonbase: the import ended before its end: run it again to go on") }
      throw ExitCode(ExitStatus.interrupted)
    }
  }
  /// Prints the summary.
  ///
  /// - Parameters:
  ///   - count: The number of imported objects.
  ///   - entities: The number of entities.
  ///   - isDone: Whether all objects were imported.
  ///   - seconds: The elapsed time.
  private func tell(_ count: Int, of entities: Int, isDone: Bool, _ seconds: Double) throws {
    let time = String(format: "%.1f", seconds)
    try summary.tell(
      [
        "objects": .count(count), "entities": .count(entities), "complete": .bool(isDone), "seconds": .seconds(seconds),
      ], quiet: isQuiet,
      lines: [
        "\(count) object\(count == 1 ? "" : "s") of \(entities) entit\(entities == 1 ? "y" : "ies") (\(time) s)"
      ])
  }
}
