import MoonbaseModel
import MoonbasePlatform

/// Reads the keyed archive of a managed object model: a `.mom` file, or a store's model cache.
///
/// The reader follows the objects from the root and makes descriptions. Unknown keys and settings
/// without a counterpart become warnings, damaged parts throw `.malformedFile`. A value reads one
/// model.
struct ArchivedModelReader {
  /// The warnings so far, for the model.
  var warnings: [String] = []

  /// Reads the bytes of a binary property list.
  static func read(_ data: Data) throws(ModelError) -> ManagedObjectModel {
    let root = try KeyedArchive(try PropertyList(binary: data)).root()
    guard root.className == "NSManagedObjectModel" else {
      throw ModelError(.malformedFile, message: "the archive holds a \(root.className), not a managed object model")
    }
    var reader = ArchivedModelReader()
    return try reader.model(root)
  }

  /// Reads the model from its root object: entities, fetch request templates, configurations and
  /// version identifiers. The default configuration of Core Data is skipped.
  private mutating func model(_ root: ArchivedObject) throws(ModelError) -> ManagedObjectModel {
    guard let entities = root.pairs("NSEntities") else {
      throw ModelError(.malformedFile, message: "the archived model has no entities")
    }
    report(root, subject: "the model")
    var model = ManagedObjectModel()
    model.allowsUnknownClasses = true
    model.versionIdentifiers = (root.elements("NSVersionIdentifiers") ?? []).compactMap(\.string).sorted()
    for (name, value) in entities {
      guard let object = value.object, object.className == "NSEntityDescription" else {
        throw ModelError(.malformedFile, message: "entity \(name) is archived as something else", entity: name)
      }
      model.entities.append(try entity(object, name: name))
    }
    for (name, value) in root.pairs("NSFetchRequestTemplates") ?? [] {
      guard let object = value.object else { continue }
      model.fetchRequestTemplates[name] = try fetchRequest(object, subject: "fetch request \(name)")
    }
    for (name, value) in root.pairs("NSConfigurations") ?? [] where name != "PF_DEFAULT_CONFIGURATION_NAME" {
      let members = value.object?.elements ?? []
      model.configurations[name] = members.compactMap { $0.string ?? $0.object?.string("NSEntityName") }.sorted()
    }
    try root.archive.checkBudget()
    model.warnings = warnings
    return model
  }

  // MARK: Entities

  /// Reads an entity with the properties that it declares itself. Inherited properties are archived
  /// in each subentity too, and are recognised by the parent's list.
  private mutating func entity(_ object: ArchivedObject, name: String) throws(ModelError) -> EntityDescription {
    report(object, subject: "entity \(name)")
    var entity = EntityDescription(name)
    let parent = object["NSSuperentity"]?.object
    entity.superentityName = parent?.string("NSEntityName")
    entity.managedObjectClassName = object.string("NSClassNameForEntity").flatMap {
      $0.isEmpty || $0 == "NSManagedObject" ? nil : $0
    }
    object.read(into: &entity)
    entity.renamingIdentifier = other(object.string("NSRenamingIdentifier"), than: name)
    entity.userInfo = userInfo(object, subject: "entity \(name)")
    entity.uniquenessConstraints = constraints(object)
    let inherited = Set((parent?.pairs("NSProperties") ?? []).map(\.key))
    for (key, value) in object.pairs("NSProperties") ?? [] where !inherited.contains(key) {
      guard let property = value.object else { continue }
      try read(property.underlying, name: key, into: &entity)
    }
    entity.indexes = indexes(object, of: entity)
    for names in object.elements("NSCompoundIndexes") ?? [] {
      entity.addCompoundIndex((names.object?.elements ?? []).compactMap(\.propertyName))
    }
    return entity
  }

  /// Reads a property by its class, and adds it to the entity.
  private mutating func read(_ object: ArchivedObject, name: String, into entity: inout EntityDescription)
    throws(ModelError)
  {
    let subject = "\(entity.name).\(name)"
    report(object, subject: subject)
    switch object.className {
    case "NSAttributeDescription", "NSDerivedAttributeDescription", "NSCompositeAttributeDescription":
      entity.attributes.append(try attribute(object, name: name, subject: subject))
    case "NSRelationshipDescription":
      entity.relationships.append(try relationship(object, name: name, subject: subject))
    case "NSFetchedPropertyDescription":
      entity.fetchedProperties.append(try fetchedProperty(object, name: name, subject: subject))
    case "NSExpressionDescription": warnings.append("\(subject): expression descriptions are left out of a model")
    default:
      throw ModelError(
        .malformedFile, message: "\(subject) is archived as \(object.className), which is no property",
        entity: entity.name,
        property: name)
    }
  }

  /// The uniqueness constraints, each a list of property names.
  private func constraints(_ object: ArchivedObject) -> [[String]] {
    (object.elements("NSUniqueTuples") ?? []).map { ($0.object?.elements ?? []).compactMap(\.propertyName) }
      .filter { !$0.isEmpty }
  }

  /// Reads the fetch indexes. An index without a name, and an unreadable predicate of an index, are
  /// left out with a warning.
  private mutating func indexes(_ object: ArchivedObject, of entity: EntityDescription) -> [FetchIndexDescription] {
    let properties = Set((object.pairs("NSProperties") ?? []).map(\.key))
    var result: [FetchIndexDescription] = []
    for archived in (object.elements("NSFetchIndexDescriptions") ?? []).compactMap(\.object) {
      guard let name = archived.string("NSIndexName") else {
        warnings.append("entity \(entity.name): an index without a name is left out")
        continue
      }
      let subject = "\(entity.name), index \(name)"
      report(archived, subject: subject)
      let elements = (archived.elements("NSIndexElements") ?? []).compactMap(\.object)
      for element in elements { report(element, subject: subject) }
      var index = FetchIndexDescription(
        name, elements: elements.compactMap { indexElement($0, properties: properties) })
      if let text = archived.string(SupplementKeys.partialIndexPredicate) {
        index.partialIndexPredicate = text
      } else if let predicate = archived["NSPartialIndexPredicate"]?.object {
        do { index.partialIndexPredicate = "\(try ArchivedPredicateReader().predicate(predicate))" } catch {
          warnings.append("\(subject): its predicate is left out: \(error.message)")
        }
      }
      // An index over a single attribute with the attribute's name represents the legacy flag.
      let isLegacy = entity.attributes.contains { $0.name == name && $0.isIndexed }
      if !isLegacy || index.elements != [FetchIndexDescription.Element(name)] { result.append(index) }
    }
    return result
  }

  /// Reads an element of an index; nil if it names no property.
  private func indexElement(_ object: ArchivedObject, properties: Set<String>) -> FetchIndexDescription.Element? {
    guard let name = object.string("NSPropertyName") else { return nil }
    var element = FetchIndexDescription.Element(name)
    element.isExpression = object[SupplementKeys.isExpression]?.bool ?? !properties.contains(name)
    element.expressionType = object.string(SupplementKeys.expressionType)
    element.isAscending = object.bool("NSAscending")
    element.kind = object.integer("NSFetchIndexElementType") == 1 ? .rTree : .binary
    return element
  }

  // MARK: Parts

  /// Reports the unknown keys of an object.
  ///
  /// Each warning names the subject, the key and the class.
  mutating func report(_ object: ArchivedObject, subject: String) {
    for key in ArchivedKeys.unknown(in: object) {
      warnings.append("\(subject): \(key) of \(object.className) is not understood")
    }
  }

  /// The user info, with values of Foundation's plain classes. The rest is left out with a
  /// warning.
  mutating func userInfo(_ object: ArchivedObject, subject: String) -> [String: Value] {
    guard let archived = object["NSUserInfo"]?.object else { return [:] }
    let pairs = archived.pairs ?? []
    let values = pairs.compactMap { key, value in value.modelValue.map { (key, $0) } }
    if values.count < max(pairs.count, archived.fields["NS.keys"]?.array?.count ?? 0) {
      warnings.append("\(subject): user info that is no value of Foundation's plain classes is left out")
    }
    let info = Dictionary(values) { first, _ in first }
    if info.count < values.count {
      warnings.append("\(subject): of keys of user info that differ in their form of Unicode only, the first is kept")
    }
    return info
  }

  /// The renaming identifier, or nil if it equals the name.
  ///
  /// Core Data archives the name as the identifier where none is set.
  func other(_ identifier: String?, than name: String) -> String? { identifier == name ? nil : identifier }
}

extension ArchivedObject {
  /// The property behind a proxy, in which old frameworks archive inherited properties.
  fileprivate var underlying: ArchivedObject {
    className == "_NSPropertyDescriptionProxy" ? self["NSUnderlyingProperty"]?.object ?? self : self
  }
}

extension ArchivedValue {
  /// The name of a property given by name or as an object.
  var propertyName: String? { string ?? object?.string("NSPropertyName") }
}
