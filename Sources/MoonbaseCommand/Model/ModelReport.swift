import MoonbaseModel
import MoonbasePlatform

/// A model for programs to read: `moonbase model show --json`. What says nothing is left out.
struct ModelReport: Encodable {
  struct Entity: Encodable {
    let name: String
    let parent: String?
    let abstract: Bool
    let className: String?
    let versionHash: String?
    let attributes: [Attribute]
    let relationships: [Relationship]
    let fetchedProperties: [Fetch]
    let uniquenessConstraints: [[String]]
    let indexes: [Index]
    let renamingIdentifier: String?
    let versionHashModifier: String?
    let codeGeneration: String?
    let spotlightName: String?
    let userInfo: [String: ReportValue]?
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
  /// In base64, as a store's metadata holds it; the hashes are hexadecimal.
  let digest: String
  /// In base64, as a store's metadata holds it.
  let checksum: String
  let configurations: [String: [String]]
  let fetchRequests: [Fetch]
  let warnings: [String]

  init(_ model: ResolvedModel) {
    let version = model.version
    entities = model.entities.map { Entity($0.description, hash: version.hashes[$0.name]) }
    versionIdentifiers = model.description.versionIdentifiers
    digest = version.digest
    checksum = version.checksum
    configurations = model.description.configurations
    fetchRequests = model.description.fetchRequestTemplates.sorted { $0.key < $1.key }.map { Fetch($0.key, $0.value) }
    warnings = model.warnings
  }

  /// User info for a report; nothing where there is none.
  static func userInfo(_ entries: [String: Value]) -> [String: ReportValue]? {
    entries.isEmpty ? nil : entries.mapValues(ReportValue.init)
  }
}

extension ModelReport.Entity {
  init(_ entity: EntityDescription, hash: Data?) {
    name = entity.name
    parent = entity.superentityName
    abstract = entity.isAbstract
    className = entity.managedObjectClassName
    versionHash = hash?.hexadecimal
    attributes = entity.attributes.map(ModelReport.Attribute.init)
    relationships = entity.relationships.map(ModelReport.Relationship.init)
    fetchedProperties = entity.fetchedProperties.map(ModelReport.Fetch.init)
    uniquenessConstraints = entity.uniquenessConstraints
    indexes = entity.indexes.map(ModelReport.Index.init)
    renamingIdentifier = entity.renamingIdentifier
    versionHashModifier = entity.versionHashModifier
    codeGeneration = entity.codeGenerationType
    spotlightName = entity.coreSpotlightDisplayNameExpression
    userInfo = ModelReport.userInfo(entity.userInfo)
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
  /// Two lower-case digits for each byte.
  var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
