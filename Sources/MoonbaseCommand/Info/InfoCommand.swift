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
    let superentity: String?
    /// How many ancestors it has.
    fileprivate let depth: Int

    enum CodingKeys: String, CodingKey {
      case name, count, superentity
    }
  }

  let path: String
  let identifier: String
  let frameworkVersion: String?
  let versionIdentifiers: [String]
  /// The checksum by which Core Data knows a version of a model.
  let modelChecksum: String?
  let entities: [Entity]

  init(_ url: URL) throws {
    let metadata = try SQLiteStore.metadata(ofStoreAt: url)
    let container = try PersistentContainer(
      model: SQLiteStore.cachedModel(ofStoreAt: url), store: .sqlite(url, readOnly: true))
    let context = try ManagedObjectContext(container.coordinator)
    path = url.relativePath
    identifier = metadata["NSStoreUUID"]?.text ?? container.coordinator.persistentStores.first?.identifier ?? ""
    frameworkVersion = metadata["NSPersistenceFrameworkVersion"]?.text
    versionIdentifiers = container.coordinator.model.description.versionIdentifiers
    modelChecksum = metadata["NSStoreModelVersionChecksumKey"]?.text
    let model = container.coordinator.model
    var depths: [Int] = []
    entities = try model.entities.map { entity in
      depths.append(entity.parent.map { depths[$0] + 1 } ?? 0)
      var request = FetchRequest(entity.name)
      request.includesSubentities = false
      return Entity(
        name: entity.name, count: try context.count(request),
        superentity: entity.parent.map { model.entities[$0].name },
        depth: depths[entity.index])
    }
  }

  var text: String {
    var lines = ["store       \(path)", "identifier  \(identifier)"]
    if let frameworkVersion { lines.append("framework   \(frameworkVersion)") }
    if let modelChecksum { lines.append("model       \(modelChecksum)") }
    if !versionIdentifiers.isEmpty { lines.append("version     \(versionIdentifiers.joined(separator: ", "))") }
    let names = entities.map { String(repeating: "  ", count: $0.depth) + $0.name }
    let width = max(32, (names.map(\.count).max() ?? 0) + 2)
    lines += ["", column("entity", width) + "objects"]
    lines += zip(names, entities).map { column($0, width) + "\($1.count)" }
    return lines.joined(separator: "\n")
  }

  private func column(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
