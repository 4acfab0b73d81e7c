import MoonbaseGraph
package import MoonbaseModel
import MoonbaseModelFormats
package import MoonbasePlatform

/// The row of `Z_METADATA`: the store's identifier and a property list.
///
/// Core Data stores one row with `Z_UUID` and the binary property list `Z_PLIST`. The keys that begin with `NS` and
/// `_NS` are the store's own; a program may add entries of its own names.
package struct StoreMetadata: Sendable {
  /// The UUID of the store, as text.
  package var identifier: String
  /// The property list.
  package var entries: [String: PropertyList]

  /// The framework version of new stores: that of iOS 17, the newest with a known store.
  private static let frameworkVersion: Int64 = 1344

  /// Makes metadata from its parts. For metadata that was read.
  package init(identifier: String, entries: [String: PropertyList]) {
    (self.identifier, self.entries) = (identifier, entries)
  }

  /// The metadata of a new store.
  ///
  /// The entries are those of Core Data: the store type, the version hashes with their digest, and the framework
  /// version. The identifier is a new random UUID.
  package init(model: ResolvedModel, entities: [ResolvedEntity], type: String = "SQLite") {
    identifier = UUID.random().uuidString
    let version = Self.version(model, entities: entities)
    entries = [
      "NSStoreType": .string(type),
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

  /// Changes the metadata to that of another model. The store's identity and the program's own entries are kept. Used
  /// after a migration. The whole model is dropped, because it describes the former version.
  package mutating func adopt(_ model: ResolvedModel, entities: [ResolvedEntity]) {
    let new = StoreMetadata(model: model, entities: entities).entries
    entries[Self.modelKey] = nil
    // No model determines the framework version of a file, or its way of releasing pages.
    for (key, entry) in new where entries[key] == nil || key.hasPrefix("NSStoreModel") { entries[key] = entry }
  }

  /// The entities of a model that the store holds. In the order of the model.
  package func held(of model: ResolvedModel) -> [ResolvedEntity] {
    let names = hashes.keys
    return model.entities.filter { names.contains($0.name) }
  }

  /// The version hashes by entity. SHA-256 of each entity, as `NSEntityDescription.versionHash` is.
  package var hashes: [String: Data] {
    entries["NSStoreModelVersionHashes"]?.dictionary?.compactMapValues(\.data) ?? [:]
  }

  /// The version hashes of the entities that a store holds. Digest and checksum concern these entities only, as for a
  /// configuration.
  package static func version(_ model: ResolvedModel, entities: [ResolvedEntity]) -> ModelVersion {
    let names = Set(entities.map(\.name))
    return ModelVersion(
      hashes: model.version.hashes.filter { names.contains($0.key) },
      unprovenEntities: model.version.unprovenEntities)
  }

  // MARK: As values

  /// The property list, with the identifier as `NSStoreUUID`. This is what `metadata` of a store shows to programs;
  /// internal entries are left out.
  package var values: [String: Value] {
    entries.filter { !Self.isHidden($0.key) }.mapValues(\.metadataValue).merging(["NSStoreUUID": .string(identifier)]) {
      entry, _ in entry
    }
  }

  /// The entries that are not the store's own.
  package var foreignValues: [String: Value] { entries.filter { !Self.isOwn($0.key) }.mapValues(\.metadataValue) }

  /// Replaces the entries that are not the store's own. The store's own entries stay. Throws `.invalidValue` for values
  /// that property lists cannot hold, such as null.
  package mutating func replaceForeignEntries(with values: [String: Value]) throws {
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

  /// Whether a key belongs to the store.
  private static func isOwn(_ key: String) -> Bool {
    key.hasPrefix("NSStore") || key.hasPrefix("_NS") || key == "NSPersistenceFrameworkVersion" || isHidden(key)
  }

  /// Whether an entry is internal to the store.
  private static func isHidden(_ key: String) -> Bool { key == modelKey || key == elementsKey }
}

extension PropertyList {
  /// The property list as a value. A `uid` of a keyed archive becomes an integer.
  package var metadataValue: MoonbaseModel.Value {
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

  /// Makes a property list from a value. Returns nil for values that property lists cannot hold. Decimals, UUIDs and
  /// URIs become texts. An element that cannot be held makes the whole value nil.
  package init?(metadataValue: MoonbaseModel.Value) {
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
