import MoonbaseModel
import MoonbasePlatform

/// A model for programs to read: `moonbase model show --json`.
struct ModelReport: Encodable {
  struct Entity: Encodable {
    let name: String
    let parent: String?
    let abstract: Bool
    let className: String?
    let versionHash: String?
    let attributes: [Attribute]
    let relationships: [Relationship]
    let uniquenessConstraints: [[String]]
  }

  struct Attribute: Encodable {
    let name: String
    let type: String
    let optional: Bool
    let transient: Bool
    let valueClass: String?
    let transformer: String?
    let derivation: String?
    let versionHash: String?
  }

  struct Relationship: Encodable {
    let name: String
    let destination: String
    let inverse: String?
    let optional: Bool
    let toMany: Bool
    let ordered: Bool
    let deleteRule: String
    let versionHash: String?
  }

  let entities: [Entity]
  let versionIdentifiers: [String]
  let digest: String
  let checksum: String
  let configurations: [String: [String]]
  let fetchRequests: [String]
  let warnings: [String]

  init(_ model: ResolvedModel) {
    let version = model.version
    entities = model.entities.map { Entity($0.description, hash: version.hashes[$0.name]) }
    versionIdentifiers = model.description.versionIdentifiers
    digest = version.digest
    checksum = version.checksum
    configurations = model.description.configurations
    fetchRequests = model.description.fetchRequestTemplates.keys.sorted()
    warnings = model.warnings
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
    uniquenessConstraints = entity.uniquenessConstraints
  }
}

extension ModelReport.Attribute {
  init(_ attribute: AttributeDescription) {
    name = attribute.name
    type = attribute.type.modelName
    optional = attribute.isOptional
    transient = attribute.isTransient
    valueClass = attribute.valueClassName
    transformer = attribute.valueTransformerName
    derivation = attribute.derivationExpression.map { "\($0)" }
    // Transient properties are no part of the version.
    versionHash = attribute.isTransient ? nil : attribute.versionHash.hexadecimal
  }
}

extension ModelReport.Relationship {
  init(_ relationship: RelationshipDescription) {
    name = relationship.name
    destination = relationship.destinationEntityName
    inverse = relationship.inverseName
    optional = relationship.isOptional
    toMany = relationship.isToMany
    ordered = relationship.isOrdered
    deleteRule = relationship.deleteRule.modelName
    versionHash = relationship.isTransient ? nil : relationship.versionHash.hexadecimal
  }
}

extension Data {
  /// Two lower-case digits for each byte.
  var hexadecimal: String { map { String(format: "%02x", $0) }.joined() }
}
