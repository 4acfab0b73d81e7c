import MoonbaseModel
import MoonbasePlatform

/// A model for programs to read: `moonbase model show --json`. Settings without a value are left out.
///
/// Most keys come from the table of aspects in `Described`, which the Lua writer uses too, so that
/// both contain the same settings. The remaining keys are the names of the properties.
struct ModelReport: Encodable {
  /// An entity with its properties and indexes.
  struct Entity: Encodable {
    /// The entity of the model.
    let entity: EntityDescription
    /// The version hash, or nil for an entity without one.
    let versionHash: Data?

    /// Writes the names and lists first, and then the settings.
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

  /// An index that an entity declares.
  struct Index: Encodable {
    /// A property or an expression of an index.
    struct Element: Encodable {
      /// The name of the property, or the expression as a text.
      let property: String
      /// Whether `property` is an expression.
      let isExpression: Bool
      /// Whether the index is in ascending order.
      let ascending: Bool
      /// The kind of the index: binary or R-tree.
      let kind: String
    }

    /// The name of the index.
    let name: String
    let elements: [Element]
    let predicate: String?
  }

  /// The entities in the order of the model.
  let entities: [Entity]
  /// The version identifiers, as the author of the model named them.
  let versionIdentifiers: [String]
  /// In Base64, as in the metadata of a store. The hashes are hexadecimal.
  let digest: String
  /// In Base64, as in the metadata of a store.
  let checksum: String
  /// The names of the entities in each configuration.
  let configurations: [String: [String]]
  /// The fetch request templates.
  let fetchRequests: [Fetch]
  /// The warnings about the model.
  let warnings: [String]

  /// Creates the report of a model, with the version hashes of its entities.
  ///
  /// - Parameter model: The resolved model, which has the hashes.
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
  /// Creates the report of an index with its elements.
  ///
  /// - Parameter index: The index of the model.
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
