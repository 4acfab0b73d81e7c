import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The one row of `Z_METADATA`: the store's identifier and a property list.
struct StoreMetadata: Sendable {
  var identifier: String
  var entries: [String: PropertyList]

  /// The framework version that new stores bear: that of iOS 17, the newest one whose stores were seen.
  private static let frameworkVersion: Int64 = 1344

  /// For a new store.
  init(model: ResolvedModel, entities: [ResolvedEntity]) {
    identifier = UUID.random().uuidString
    let version = Self.version(model, entities: entities)
    entries = [
      "NSStoreType": "SQLite",
      "NSStoreModelVersionHashes": .dictionary(version.hashes.mapValues(PropertyList.data)),
      "NSStoreModelVersionHashesVersion": 3,
      "NSStoreModelVersionIdentifiers": .array(
        model.description.versionIdentifiers.map { PropertyList.string($0) }),
      "NSPersistenceFrameworkVersion": .integer(Self.frameworkVersion),
      "_NSAutoVacuumLevel": "2",
      "NSStoreModelVersionHashesDigest": .string(version.digest),
      "NSStoreModelVersionChecksumKey": .string(version.checksum),
    ]
  }

  /// Makes it the metadata of a store of another model. The store stays the same, and so does what is the program's own.
  mutating func adopt(_ model: ResolvedModel, entities: [ResolvedEntity]) {
    let new = StoreMetadata(model: model, entities: entities).entries
    entries[Self.modelKey] = nil
    // Of which framework a file is, and how it gives up pages, no model says.
    for (key, entry) in new where entries[key] == nil || key.hasPrefix("NSStoreModel") { entries[key] = entry }
  }

  /// The entities of a model that the store holds.
  func held(of model: ResolvedModel) -> [ResolvedEntity] {
    let names = hashes.keys
    return model.entities.filter { names.contains($0.name) }
  }

  /// Reads the row. Throws `.invalidStore` where there is none.
  init(_ connection: Connection, path: String) throws {
    let columns = try FileSchema.columns(of: "Z_METADATA", on: connection)
    guard !columns.isEmpty else {
      throw GraphError(
        .invalidStore,
        message: "\(path) is a SQLite database but no Core Data store (it has no table Z_METADATA): moonbase import "
          + "\(path) --infer --store new.sqlite makes a store of its tables")
    }
    try FileSchema.require(["Z_VERSION", "Z_UUID", "Z_PLIST"], in: "Z_METADATA", found: columns, path: path)
    let statement = try connection.statement("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1")
    defer { statement.reset() }
    guard try statement.step() else {
      throw GraphError(.invalidStore, message: "\(path) is damaged: its table Z_METADATA is empty")
    }
    guard !statement.isNull(1) else { throw Self.lacking(path) }
    let text = statement.text(0)
    identifier = UUID(literal: text)?.uuidString ?? text
    do {
      entries = try PropertyList(binary: statement.data(1)).dictionary ?? [:]
    } catch {
      throw GraphError(.invalidStore, message: "\(path) is damaged: its metadata cannot be read", underlying: error)
    }
  }

  /// A new file has no property list before the first checkpoint: until then all is in the log.
  private static func lacking(_ path: String) -> GraphError {
    let hasLog = access(path + "-wal", F_OK) == 0
    let advice =
      hasLog
      ? "restore it from a backup"
      : "most likely it was copied without its write-ahead log, which has it: copy \(path)-wal too, or take a copy "
        + "that moonbase backup makes"
    return GraphError(
      .invalidStore,
      message: "\(path) is not whole: its Z_METADATA has no property list (Z_PLIST), and so no model: \(advice)")
  }

  /// Throws where there is no UUID: it stands in the URIs of the store's objects.
  func checkIdentifier(_ path: String) throws {
    guard UUID(literal: identifier) == nil else { return }
    let shown = identifier.isEmpty ? "empty" : Value.string(identifier).beginning ?? identifier
    throw GraphError(
      .invalidStore,
      message:
        "\(path) is damaged: Z_UUID of its Z_METADATA is \(shown), which is no UUID; restore it from a backup, or give it "
        + "one: sqlite3 \(path) \"UPDATE Z_METADATA SET Z_UUID = '$(uuidgen)'\"")
  }

  /// The version hashes by entity.
  var hashes: [String: Data] { entries["NSStoreModelVersionHashes"]?.dictionary?.compactMapValues(\.data) ?? [:] }

  static func version(_ model: ResolvedModel, entities: [ResolvedEntity]) -> ModelVersion {
    let names = Set(entities.map(\.name))
    return ModelVersion(
      hashes: model.version.hashes.filter { names.contains($0.key) },
      unprovenEntities: model.version.unprovenEntities)
  }

  // MARK: As values

  /// The property list, and the identifier as `NSStoreUUID`.
  var values: [String: Value] {
    entries.filter { !Self.isHidden($0.key) }.mapValues(\.metadataValue).merging(["NSStoreUUID": .string(identifier)]) {
      entry, _ in entry
    }
  }

  /// The entries that are not the store's own.
  var foreignValues: [String: Value] { entries.filter { !Self.isOwn($0.key) }.mapValues(\.metadataValue) }

  /// Replaces the entries that are not the store's own.
  mutating func replaceForeignEntries(with values: [String: Value]) throws {
    entries = entries.filter { Self.isOwn($0.key) }
    for (key, value) in values where !Self.isOwn(key) {
      _ = try value.checkedNesting()
      guard let entry = PropertyList(metadataValue: value) else {
        throw GraphError(
          .invalidValue, message: "metadata \(key): \(value.typePhrase) cannot be kept in it", value: value)
      }
      entries[key] = entry
    }
  }

  private static func isOwn(_ key: String) -> Bool {
    key.hasPrefix("NSStore") || key.hasPrefix("_NS") || key == "NSPersistenceFrameworkVersion" || isHidden(key)
  }

  /// What is nobody's but the store's.
  private static func isHidden(_ key: String) -> Bool { key == modelKey || key == elementsKey }

  func write(_ connection: Connection) throws {
    let statement = try connection.statement(
      "INSERT OR REPLACE INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)")
    statement.bind(identifier, at: 1)
    statement.bind(PropertyList.dictionary(entries).binaryData, at: 2)
    try statement.run()
  }
}

extension PropertyList {
  fileprivate var metadataValue: MoonbaseModel.Value {
    switch self {
    case .dictionary(let entries): .map(entries.mapValues(\.metadataValue))
    case .array(let elements): .list(elements.map(\.metadataValue))
    case .string(let string): .string(string)
    case .integer(let integer): .int(integer)
    case .real(let real): .double(real)
    case .data(let data): .data(data)
    case .date(let date): .date(date)
    case .bool(let bool): .bool(bool)
    case .uid(let number): .int(Int64(number))
    }
  }

  fileprivate init?(metadataValue: MoonbaseModel.Value) {
    switch metadataValue {
    case .null, .objectID, .object: return nil
    case .bool(let bool): self = .bool(bool)
    case .int(let integer): self = .integer(integer)
    case .double(let double): self = .real(double)
    case .decimal(let decimal): self = .string(decimal.description)
    case .string(let string): self = .string(string)
    case .date(let date): self = .date(date)
    case .data(let data): self = .data(data)
    case .uuid(let uuid): self = .string(uuid.uuidString)
    case .uri(let url): self = .string(url.absoluteString)
    case .list(let values):
      let elements = values.compactMap(PropertyList.init(metadataValue:))
      guard elements.count == values.count else { return nil }
      self = .array(elements)
    case .map(let values):
      let entries = values.compactMapValues(PropertyList.init(metadataValue:))
      guard entries.count == values.count else { return nil }
      self = .dictionary(entries)
    }
  }
}
