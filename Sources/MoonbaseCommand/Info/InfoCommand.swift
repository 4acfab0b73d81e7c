import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Says what is in a store: its identity, its model's version, its entities.")

  @OptionGroup var place: StoreArgument

  private var store: String { place.path }

  @OptionGroup var file: FileOptionGroup

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws { try file.limits.run { _ in try tell() } }

  private func tell() throws {
    try checkForm()
    var report = try StoreReport(
      URL(literalPath: store), model: file.model.map { try ManagedObjectModel(contentsOf: URL(literalPath: $0)) },
      busyTimeout: file.settings().busyTimeout)
    report.project = try Project.current()?.file
    Terminal.print(try json ? Terminal.json(report) : report.text)
  }
}

extension InfoCommand {
  /// Tells of what is no store what it is, and which command takes it.
  private func checkForm() throws {
    guard access(store, F_OK) == 0 || errno != ENOENT else {
      let isOfProject = try Project.current()?.stores.contains {
        $0.path.text == store || store.hasSuffix("/\($0.path.text)")
      }
      let project = try isOfProject == true ? Project.current()?.file : nil
      let advice = project.map { "it is the store of \($0), and the first save makes it" } ?? "name a store"
      throw GraphError(.cannotOpenFile, message: "\(store): there is no such file: \(advice)")
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
