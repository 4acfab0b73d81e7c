import ArgumentParser
import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

struct InfoCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "info", abstract: "Says what is in a store: its identity, its model's version, its entities.")

  @Argument(help: "The store.")
  var store: String

  @Flag(help: "Print JSON.")
  var json = false

  func run() throws {
    let report = try StoreReport(URL(fileURLWithPath: store))
    Terminal.print(try json ? Terminal.json(report) : report.text)
  }
}

/// What `moonbase info` tells. The store is opened read-only.
private struct StoreReport: Encodable {
  struct Entity: Encodable {
    let name: String
    let count: Int
  }

  let path: String
  let identifier: String
  let frameworkVersion: String?
  let versionIdentifiers: [String]
  let entities: [Entity]

  init(_ url: URL) throws {
    let metadata = try SQLiteStore.metadata(ofStoreAt: url)
    let container = try PersistentContainer(
      model: ManagedObjectModel(contentsOf: url), store: .sqlite(url, readOnly: true))
    let context = try ManagedObjectContext(container.coordinator)
    path = url.relativePath
    identifier = metadata["NSStoreUUID"]?.text ?? container.coordinator.persistentStores.first?.identifier ?? ""
    frameworkVersion = metadata["NSPersistenceFrameworkVersion"]?.text
    versionIdentifiers = container.coordinator.model.description.versionIdentifiers
    entities = try container.coordinator.model.entities.map { entity in
      var request = FetchRequest(entity.name)
      request.includesSubentities = false
      return Entity(name: entity.name, count: try context.count(request))
    }
  }

  var text: String {
    var lines = ["store       \(path)", "identifier  \(identifier)"]
    if let frameworkVersion { lines.append("framework   \(frameworkVersion)") }
    lines += ["", "entity".padding(toLength: 32, withPad: " ", startingAt: 0) + "objects"]
    lines += entities.map { $0.name.padding(toLength: 32, withPad: " ", startingAt: 0) + "\($0.count)" }
    return lines.joined(separator: "\n")
  }
}
