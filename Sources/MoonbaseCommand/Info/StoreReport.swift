import Moonbase
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// The report of `moonbase info`. The store is opened read-only.
///
/// It has the identity of the store, the model with the number of objects per entity, and the facts
/// about the file. For a store of an old framework without a stored model, the tables are listed in
/// place of the entities. The type is encoded for `--json`, and `text` is printed otherwise.
struct StoreReport: Encodable {
  /// An entity of the stored model with the number of its objects, without objects of its
  /// subentities.
  struct Entity: Encodable {
    /// The name of the entity.
    let name: String
    /// Nil if the file lacks the table of the entity.
    let count: Int?
    /// The name of the parent entity, or nil for a root entity.
    let superentity: String?
    /// The number of ancestors of the entity.
    fileprivate let depth: Int

    /// The keys in JSON. The depth is used for the indentation of the text only.
    enum CodingKeys: String, CodingKey {
      case name, count, superentity
    }
  }

  /// A table of a store without a model.
  struct Table: Encodable {
    /// The name of the table.
    let name: String
    /// The number of its rows.
    let rows: Int
  }

  /// The path of the store as given.
  let path: String
  /// The project file that applies here, or nil if there is none.
  var project: String?
  /// The extensions that were loaded when the store was saved. Their versions by name.
  let extensions: [String: String]
  /// The UUID of the store, the key `NSStoreUUID` of its metadata.
  let identifier: String
  /// The version of the framework that wrote the store, or nil if the metadata does not contain it.
  let frameworkVersion: String?
  /// The version identifiers of the model, as its author named them.
  let versionIdentifiers: [String]
  /// The checksum that Core Data uses to identify a version of a model.
  let modelChecksum: String?
  /// The configuration of the model that the store contains, or nil if it contains all entities.
  let configuration: String?
  /// The entities in the order of the model, each followed by its subentities.
  let entities: [Entity]
  /// The tables of a store from an old framework. The store contains no model with the names of its entities.
  let tables: [Table]?

  /// Indexes of the model that Moonbase does not create, with the reasons.
  let unmadeIndexes: [String]
  /// The size of the file, its log and journal, its history, and the tables that do not belong to the model.
  let file: FileReport?
  /// The server, the size of the schema, its history, and the tables that do not belong to the model.
  let server: ServerReport?

  /// `model` replaces the model in the store.
  ///
  /// - Parameters:
  ///   - url: The location of the store.
  ///   - named: A model in place of the model in the store, or nil.
  ///   - busyTimeout: The time to wait for a writing process.
  init(_ url: URL, model named: ManagedObjectModel?, busyTimeout: Duration?) throws {
    let metadata = try SQLiteStore.metadata(ofStoreAt: url, busyTimeout: busyTimeout)
    path = url.relativePath
    server = nil
    identifier = metadata["NSStoreUUID"]?.text ?? ""
    frameworkVersion = metadata["NSPersistenceFrameworkVersion"]?.text
    modelChecksum = metadata["NSStoreModelVersionChecksumKey"]?.text
    extensions = RememberedExtensions.versions(in: metadata)
    guard try named != nil || SQLiteStore.modelCache(ofStoreAt: url, busyTimeout: busyTimeout) != nil else {
      (versionIdentifiers, configuration, entities, unmadeIndexes) = ([], nil, [], [])
      tables = try SQLiteStore.rowCounts(ofStoreAt: url, busyTimeout: busyTimeout).map(Table.init)
      file = FileReport(try SQLiteStore.facts(ofStoreAt: url, model: nil, busyTimeout: busyTimeout))
      return
    }
    tables = nil
    let model = try named ?? SQLiteStore.cachedModel(ofStoreAt: url, busyTimeout: busyTimeout)
    let held = metadata["NSStoreModelVersionHashes"]?.keys ?? []
    configuration = held.count < model.entities.count ? model.configuration(of: held) : nil
    var store = PersistentStoreDescription.sqlite(url, readOnly: true, configuration: configuration)
    store.busyTimeout = busyTimeout
    let container = try PersistentContainer(model: model, stores: [store])
    versionIdentifiers = container.coordinator.model.description.versionIdentifiers
    let facts = try SQLiteStore.facts(
      ofStoreAt: url, model: container.coordinator.model, busyTimeout: busyTimeout)
    let missing = Set((facts.missingFeatures ?? []).filter { $0.property == nil }.compactMap(\.entity))
    entities = try Self.entities(held, without: missing, of: ManagedObjectContext(container.coordinator))
    file = FileReport(facts)
    unmadeIndexes = container.coordinator.model.entities.flatMap { entity in
      SQLiteStore.unmadeIndexes(of: entity).map { "\(entity.name).\($0.index.name): \($0.reason)" }
    }
  }

  #if PostgreSQL
    /// The report on a store on a server.
    init(_ store: NamedStore, at address: URL, model named: ManagedObjectModel?, busyTimeout: Duration?) throws {
      let description = store.description(busyTimeout: busyTimeout)
      let metadata = try description.keptMetadata()
      path = store.name
      identifier = metadata["NSStoreUUID"]?.text ?? ""
      frameworkVersion = metadata["NSPersistenceFrameworkVersion"]?.text
      modelChecksum = metadata["NSStoreModelVersionChecksumKey"]?.text
      extensions = RememberedExtensions.versions(in: metadata)
      (tables, file) = (nil, nil)
      let model = try named ?? description.keptModel()
      let held = metadata["NSStoreModelVersionHashes"]?.keys ?? []
      configuration = held.count < model.entities.count ? model.configuration(of: held) : nil
      // Asked before the store is opened, whose connections would count.
      server = ServerReport(
        try PostgreSQLStore.facts(ofStoreAt: address, model: model.resolved(), busyTimeout: busyTimeout))
      var opened = PersistentStoreDescription.postgreSQL(address, readOnly: true, configuration: configuration)
      opened.busyTimeout = busyTimeout
      let container = try PersistentContainer(model: model, stores: [opened])
      versionIdentifiers = container.coordinator.model.description.versionIdentifiers
      entities = try Self.entities(held, without: [], of: ManagedObjectContext(container.coordinator))
      unmadeIndexes = container.coordinator.model.entities.flatMap { entity in
        SQLiteStore.unmadeIndexes(of: entity, keepsRTrees: false).map {
          "\(entity.name).\($0.index.name): a store in PostgreSQL has indexes of columns alone"
        }
      }
    }
  #endif

  /// `missing` contains the root entities of the tables that the file lacks.
  ///
  /// Counts the objects of each entity.
  ///
  /// - Parameters:
  ///   - held: The names of the entities that the store contains. If the set is empty, the store
  ///     contains all entities.
  ///   - missing: The root entities without a table. Their count is nil.
  ///   - context: A context over the opened store.
  private static func entities(
    _ held: Set<String>, without missing: Set<String>, of context: ManagedObjectContext
  ) throws -> [Entity] {
    let model = context.model
    var depths: [Int] = []
    return try model.entities.compactMap { entity in
      depths.append(entity.parent.map { depths[$0] + 1 } ?? 0)
      guard held.isEmpty || held.contains(entity.name) else { return nil }
      var request = FetchRequest(entity.name)
      request.includesSubentities = false
      return Entity(
        name: entity.name, count: missing.contains(model.entities[entity.root].name) ? nil : try context.count(request),
        superentity: entity.parent.map { model.entities[$0].name },
        depth: depths[entity.index])
    }
  }

  /// The report as a text for people. Labels are in a column of 12 characters, and entities are in
  /// a table.
  var text: String {
    var lines = [
      "store       \(path)", "identifier  \(identifier)",
    ]
    if let project { lines.insert("project     \(project)", at: 0) }
    if let frameworkVersion { lines.append("framework   \(frameworkVersion)") }
    if let modelChecksum { lines.append("model       \(modelChecksum)") }
    // Xcode writes an empty identifier for a model without identifiers.
    let versions = versionIdentifiers.filter { !$0.isEmpty }
    if !versions.isEmpty { lines.append("version     \(versions.listed())") }
    if !extensions.isEmpty {
      let all = extensions.sorted { $0.key < $1.key }.map { $0.value.isEmpty ? $0.key : "\($0.key) \($0.value)" }
      lines.append("extensions  \(all.listed()) (saves ran with them)")
    }
    if let configuration { lines.append("holds       configuration \(configuration) of the model") }
    lines += file?.lines ?? server?.lines ?? []
    lines += unmadeIndexes.map { "not indexed \($0)" }
    if let tables {
      lines += [
        "", SQLiteStore.withoutModel(path),
      ]
      return (lines + [""] + rows(tables.map { ($0.name, "\($0.rows)") }, name: "table", count: "rows")).joined(
        separator: "\n")
    }
    let names = entities.map { String(repeating: "  ", count: $0.depth) + $0.name }
    let counts = zip(names, entities).map { ($0, $1.count.map(String.init) ?? "cannot be read") }
    return (lines + [""] + rows(counts, name: "entity", count: "objects")).joined(separator: "\n")
  }

  /// Longer names do not determine the width of the first column.
  private static let widestName = 128

  /// The lines of a table with two columns.
  ///
  /// - Parameters:
  ///   - counts: The texts of both columns for each row.
  ///   - name: The heading of the first column.
  ///   - count: The heading of the second column.
  private func rows(_ counts: [(String, String)], name: String, count: String) -> [String] {
    // A very long name must not widen all lines.
    let width = max(32, (counts.map(\.0.count).filter { $0 <= Self.widestName }.max() ?? 0) + 2)
    return [column(name, width: width) + count] + counts.map { column($0.0, width: width) + $0.1 }
  }

  /// Pads a text with at least two spaces.
  private func column(_ text: String, width: Int) -> String {
    text + String(repeating: " ", count: max(2, width - text.count))
  }
}

extension Value {
  /// The keys of a map, or an empty set for other values.
  fileprivate var keys: Set<String> {
    if case .map(let map) = self { Set(map.keys) } else { [] }
  }
}
