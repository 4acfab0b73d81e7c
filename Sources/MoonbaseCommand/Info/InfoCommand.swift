import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// The command `moonbase info`. It opens each store read-only, without extensions, and prints a
/// report. Several stores are separated by empty lines, or become a JSON array.
struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Says what is in a store: its identity, its model's version, its entities.")

  @OptionGroup var place: StoresArgument

  @OptionGroup var file: FileOptionGroup

  @Flag(help: "Print JSON.")
  var json = false

  /// Runs the command under the limits for time and memory.
  func run() throws { try file.limits.run { _ in try tell() } }

  /// Creates and prints the reports. All reports are complete before the first is printed.
  private func tell() throws {
    let reports = try place.places.map(report)
    guard json else { return Terminal.print(reports.map(\.text).joined(separator: "\n\n")) }
    Terminal.print(try reports.count == 1 ? Terminal.json(reports[0]) : Terminal.json(reports))
  }

  /// The report about one store.
  ///
  /// - Parameter store: The store, with the configuration if one is named.
  /// - Throws: The error of `checkForm`, and the errors of reading the model or the store.
  private func report(on store: NamedStore) throws -> StoreReport {
    if !store.isOnServer { try checkForm(of: store.path) }
    let model = try file.model.map { try ManagedObjectModel(contentsOf: ModelFile.url($0)) }
    let busyTimeout = try file.settings().busyTimeout
    try store.requireConfiguration(model, busyTimeout: busyTimeout)
    var report = try report(on: store, model: model, busyTimeout)
    report.project = try Project.current()?.file
    return report
  }
}

extension InfoCommand {
  private func report(on store: NamedStore, model: ManagedObjectModel?, _ busyTimeout: Duration?) throws -> StoreReport
  {
    #if PostgreSQL
      if store.isOnServer {
        return try StoreReport(store, at: store.address, model: model, busyTimeout: busyTimeout)
      }
    #endif
    return try StoreReport(URL(literalPath: store.path), model: model, busyTimeout: busyTimeout)
  }

  /// Throws if the file is not a store. The error names the form of the file and the command for it.
  ///
  /// - Parameter store: The path of the file.
  /// - Throws: `.cannotOpenFile` if there is no file, and an error that names the detected form for
  ///   a model, an archive or text.
  private func checkForm(of store: String) throws {
    try Project.requireStore(store)
    guard access(store, F_OK) == 0 || errno != ENOENT else {
      throw GraphError(.cannotOpenFile, message: "\(store): there is no such file: name a store")
    }
    if let form = FileForm(store), form != .store {
      throw GraphError(
        .invalidStore,
        message: "\(store) is not a SQLite database but \(form), and info tells of stores: \(form.advice(store))")
    }
    var status = stat()
    guard stat(store, &status) != 0 || status.st_mode & S_IFMT != S_IFREG || status.st_size > 0 else {
      throw GraphError(
        .invalidStore, message: "\(store) is empty: there is no store in it, so there is nothing to tell")
    }
  }
}
