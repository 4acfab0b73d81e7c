import ArgumentParser
import Moonbase
import MoonbaseBatch
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// `moonbase import --all`: a folder becomes a store.
struct StoreImportRun {
  private let folder: String
  private let settings: StoreSettings
  private let isQuiet: Bool

  init(_ folder: String, _ settings: StoreSettings, quiet: Bool) throws {
    (self.folder, self.settings, isQuiet) = (folder, settings, quiet)
    guard settings.stores.count == 1 else {
      throw UsageError("import --all fills one store: name it with --store PATH")
    }
    guard !settings.readOnly else { throw UsageError("import --all makes a store: leave --read-only out") }
  }

  func run() throws {
    let folder = try ExportedFolder(folder)
    try folder.claim()
    let isNew =
      try settings.stores[0].url.map { try SQLiteStore.isBare(at: $0, busyTimeout: settings.busyTimeout) } ?? true
    var description = try settings.container
    if let path = settings.model ?? (isNew ? folder.modelPath : nil) {
      var model = try ManagedObjectModel(contentsOf: URL(literalPath: path))
      // Values are taken as they are stored: nobody asks a transformer.
      model.allowsUnknownClasses = true
      description.model = .value(model)
    }
    let container = try PersistentContainer(description)
    let bar = ProgressBar(quiet: isQuiet)
    let began = Date()
    let job = try StoreImport(folder, into: container.coordinator.persistentStores[0], of: container.coordinator.model)
    if job.isGoingOn, !isQuiet { Terminal.complain("moonbase: an import of this folder was ended: it goes on") }
    Interruption.isWaitedFor()
    job.progress = { done, total in
      let seconds = Date().timeIntervalSince(began)
      bar.show(done, of: total, rate: Double(done) / max(seconds, 0.001), unit: "rows", seconds: seconds)
      return Interruption.hasCome
    }
    defer { bar.end() }
    try job.run()
    bar.end()
    let seconds = String(format: "%.1f", Date().timeIntervalSince(began))
    if !isQuiet {
      let entities = folder.contents.entities.count
      Terminal.complain(
        "moonbase: \(job.count) object\(job.count == 1 ? "" : "s") of \(entities) entit\(entities == 1 ? "y" : "ies") (\(seconds) s)"
      )
    }
    guard job.isDone else {
      if !isQuiet { Terminal.complain("moonbase: the import ended before its end: run it again to go on") }
      throw ExitCode(ExitStatus.interrupted)
    }
  }
}
