import MoonbaseModel
import MoonbasePlatform

/// Writes a model as Core Data archives it, in a store's model cache and in compiled models.
///
/// A value writes one model: `init` reserves references, `write` fills them in. References are
/// reserved first, because entities, relationships and inverses form cycles.
struct ArchivedModelWriter {
  /// The objects written so far.
  var archive = KeyedArchiveWriter(ofModel: ())
  /// The model, which is checked, so that names resolve.
  let model: ResolvedModel
  /// Whether settings without a place in Core Data's archive are included, under `SupplementKeys`.
  let isComplete: Bool
  /// The reference of the root object.
  let root: PropertyList
  /// Entities and properties refer to each other, so all references are reserved before writing.
  ///
  /// The references of the entities, by index.
  private(set) var entityReferences: [PropertyList] = []
  /// The references of the properties.
  private var propertyReferences: [PropertyKey: PropertyList] = [:]

  /// A property of an entity, which may be inherited.
  private struct PropertyKey: Hashable {
    var entity: EntityIndex
    var name: String
  }

  /// The binary property list of a model's archive.
  static func write(_ model: ResolvedModel, isComplete: Bool) throws(ModelError) -> Data {
    var writer = ArchivedModelWriter(model, isComplete: isComplete)
    return try writer.write().binaryData
  }

  /// Reserves references for the root, the entities and all of their properties.
  private init(_ model: ResolvedModel, isComplete: Bool) {
    self.model = model
    self.isComplete = isComplete
    root = archive.reserve()
    for entity in model.entities {
      entityReferences.append(archive.reserve())
      for name in names(of: entity) {
        propertyReferences[PropertyKey(entity: entity.index, name: name)] = archive.reserve()
      }
    }
  }

  /// The names of an entity's properties, including inherited ones.
  private func names(of entity: ResolvedEntity) -> [String] {
    entity.properties.map(\.name) + entity.fetchedProperties.keys.sorted()
  }

  /// The reference of a property; null for an unknown name.
  func reference(_ name: String, of entity: EntityIndex) -> PropertyList {
    propertyReferences[PropertyKey(entity: entity, name: name)] ?? KeyedArchiveWriter.null
  }

  /// Fills all references and returns the archive.
  private mutating func write() throws(ModelError) -> PropertyList {
    for entity in model.entities { try write(entity) }
    let entities = model.entities.map { ($0.name, entityReferences[$0.index]) }.sorted { $0.0.literallyPrecedes($1.0) }
    let identifiers = model.description.versionIdentifiers.map { archive.string($0) }
    var fields: [String: PropertyList] = [
      "NSEntities": archive.knownKeysDictionary(entities),
      "NSVersionIdentifiers": archive.array(identifiers, className: "NSSet"),
      "NSFetchRequestTemplates": try templates(),
    ]
    if !model.description.configurations.isEmpty { fields["NSConfigurations"] = configurations() }
    archive.fill(root, className: "NSManagedObjectModel", fields: fields)
    return archive.archive(root: root)
  }

  /// The dictionary of fetch request templates; null if there are none.
  private mutating func templates() throws(ModelError) -> PropertyList {
    var pairs: [(key: String, value: PropertyList)] = []
    for (name, request) in model.description.fetchRequestTemplates.sorted(by: { $0.key < $1.key }) {
      pairs.append((name, try fetchRequest(request)))
    }
    return pairs.isEmpty ? KeyedArchiveWriter.null : archive.dictionary(pairs, className: "NSMutableDictionary")
  }

  /// The dictionary of configurations, each a set of entities.
  private mutating func configurations() -> PropertyList {
    var pairs: [(key: String, value: PropertyList)] = []
    for (name, members) in model.description.configurations.sorted(by: { $0.key < $1.key }) {
      let references = members.compactMap { model.entity($0) }.map { entityReferences[$0.index] }
      pairs.append((name, archive.array(references, className: "NSSet")))
    }
    return archive.dictionary(pairs, className: "NSMutableDictionary")
  }

  // MARK: Entities

  /// Archives an entity with all of its properties.
  private mutating func write(_ entity: ResolvedEntity) throws(ModelError) {
    let description = entity.description
    let children = model.entities[entity.subtree].filter { $0.parent == entity.index }.map {
      ($0.name, entityReferences[$0.index])
    }
    let properties = names(of: entity).map { ($0, reference($0, of: entity.index)) }
    for property in entity.properties { try write(property, of: entity) }
    for property in entity.fetchedProperties.values.sorted(by: { $0.name < $1.name }) {
      try write(property, of: entity.index)
    }
    var fields: [String: PropertyList] = [
      "NSEntityName": archive.string(entity.name),
      "NSClassNameForEntity": archive.string(description.managedObjectClassName ?? "NSManagedObject"),
      "NSManagedObjectModel": root,
      "NSSuperentity": entity.parent.map { entityReferences[$0] } ?? KeyedArchiveWriter.null,
      "NSSubentities": archive.dictionary(children, className: "NSMutableDictionary"),
      "NSProperties": archive.dictionary(properties, className: "NSMutableDictionary"),
      "NSRenamingIdentifier": archive.string(description.renamingIdentifier ?? entity.name),
      "NSUserInfo": try archive.userInfo(description.userInfo, of: entity.name),
    ]
    add(description, to: &fields)
    if !description.uniquenessConstraints.isEmpty { fields["NSUniqueTuples"] = constraints(description) }
    if !description.indexes.isEmpty { fields["NSFetchIndexDescriptions"] = try indexes(entity) }
    archive.fill(entityReferences[entity.index], className: "NSEntityDescription", fields: fields)
  }

  /// The uniqueness constraints as arrays of names.
  private mutating func constraints(_ entity: EntityDescription) -> PropertyList {
    let tuples = entity.uniquenessConstraints.map { names in
      archive.array(names.map { archive.string($0) }, className: "NSMutableArray")
    }
    return archive.array(tuples, className: "NSMutableArray")
  }

  /// The fetch indexes with their elements. A predicate that cannot be parsed is kept as text only.
  private mutating func indexes(_ entity: ResolvedEntity) throws(ModelError) -> PropertyList {
    var references: [PropertyList] = []
    for index in entity.description.indexes {
      let reference = archive.reserve()
      let elements = index.elements.map { self.element($0, of: entity, index: reference) }
      var fields: [String: PropertyList] = [
        "NSIndexName": archive.string(index.name), "NSPartialIndexPredicate": KeyedArchiveWriter.null,
        "NSIndexElements": archive.array(elements), "NSEntity": entityReferences[entity.index],
      ]
      if let text = index.partialIndexPredicate {
        let predicate = try? Predicate(format: text)
        if let predicate { fields["NSPartialIndexPredicate"] = try archive.predicate(predicate) }
        if isComplete, predicate?.description != text {
          fields[SupplementKeys.partialIndexPredicate] = archive.string(text)
        }
      }
      archive.fill(reference, className: "NSFetchIndexDescription", fields: fields)
      references.append(reference)
    }
    return archive.array(references, className: "NSMutableArray")
  }

  /// The element of an index, which refers back to its index.
  private mutating func element(
    _ element: FetchIndexDescription.Element, of entity: ResolvedEntity, index: PropertyList
  ) -> PropertyList {
    var fields: [String: PropertyList] = [
      "NSPropertyName": archive.string(element.property), "NSAscending": .bool(element.isAscending),
      "NSFetchIndexElementType": .integer(Int64(element.kind.rawValue)), "NSFetchIndexDescription": index,
    ]
    let isKnown = names(of: entity).contains(element.property)
    if isComplete, element.isExpression == isKnown { fields[SupplementKeys.isExpression] = .bool(element.isExpression) }
    if isComplete, let type = element.expressionType { fields[SupplementKeys.expressionType] = archive.string(type) }
    return archive.object("NSFetchIndexElementDescription", fields: fields)
  }
}
