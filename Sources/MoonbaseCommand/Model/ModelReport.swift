import MoonbaseModel
import MoonbasePlatform

/// A model for programs to read: `moonbase model show --json`. Settings with default values are left out.
struct ModelReport: Encodable {
  struct Entity: Encodable {
    let entity: EntityDescription
    let versionHash: Data?

    func encode(to encoder: any Encoder) throws {
      var report = encoder.container(keyedBy: ReportKey.self)
      try report.encode(entity.name, forKey: "name")
      try report.encodeIfPresent(versionHash?.hexadecimal, forKey: "versionHash")
      try report.encode(entity.attributes.map(Attribute.init), forKey: "attributes")
      try report.encode(entity.relationships.map(Relationship.init), forKey: "relationships")
      try report.encode(entity.fetchedProperties.map(Fetch.init(property:)), forKey: "fetchedProperties")
      try report.encode(entity.uniquenessConstraints, forKey: "uniquenessConstraints")
      try report.encode(entity.indexes.map(Index.init), forKey: "indexes")
      try report.encode(whatIsSaidBy: entity)
    }
  }

  struct Index: Encodable {
    struct Element: Encodable {
      let property: String
      let isExpression: Bool
      let ascending: Bool
      let kind: String
    }

    let name: String
    let elements: [Element]
    let predicate: String?
  }

  let entities: [Entity]
  let versionIdentifiers: [String]
  /// In Base64, as in the metadata of a store. The hashes are hexadecimal.
  let digest: String
  /// In Base64, as in the metadata of a store.
  let checksum: String
  let configurations: [String: [String]]
  let fetchRequests: [Fetch]
  let warnings: [String]

  init(_ model: ResolvedModel) {
    let version = model.version
    entities = model.entities.map { Entity(entity: $0.description, versionHash: version.hashes[$0.name]) }
    versionIdentifiers = model.description.versionIdentifiers
    digest = version.digest
    checksum = version.checksum
    configurations = model.description.configurations
    fetchRequests = model.description.fetchRequestTemplates.sorted { $0.key < $1.key }.map {
      Fetch($0.key, request: $0.value)
    }
    warnings = model.warnings
  }
}

extension ModelReport.Index {
  init(_ index: FetchIndexDescription) {
    name = index.name
    predicate = index.partialIndexPredicate
    elements = index.elements.map { element in
      Element(
        property: element.property, isExpression: element.isExpression, ascending: element.isAscending,
        kind: element.kind == .rTree ? "rtree" : "binary")
    }
  }
}

extension Data {
  /// The bytes as two lower-case hexadecimal digits each.
  var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
