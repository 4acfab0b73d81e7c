import MoonbaseModel

/// Infers a mapping entity by entity and collects the obstacles.
///
/// The value behind `MappingInference`: `build` is called once, then the results are taken.
/// Obstacles that no data can remove are `problems`. Obstacles that depend on the rows are
/// `conditions`.
struct MappingBuilder {
  /// The older model.
  let source: ResolvedModel
  /// The newer model.
  let destination: ResolvedModel
  /// The mapping so far, in the order of the newer model's entities, followed by removed entities.
  private(set) var mappings: [EntityMapping] = []
  /// The reasons why the mapping is incomplete.
  private(set) var problems: [ModelError] = []
  /// The conditions on the rows of a store.
  private(set) var conditions: [ModelError] = []
  /// The older names of the newer model's entities.
  private let oldNames: [String: String]

  /// A builder without mappings yet.
  init(source: ResolvedModel, destination: ResolvedModel) {
    self.source = source
    self.destination = destination
    oldNames = RenamingMatcher(old: source.description.entities, new: destination.description.entities).oldNames
  }

  /// Maps every entity of both models.
  mutating func build() {
    for entity in destination.entities {
      guard let old = oldNames[entity.name].flatMap({ source.entity($0) }) else {
        mappings.append(EntityMapping(.add, from: nil, to: entity.name))
        continue
      }
      map(old, to: entity)
    }
    let used = Set(oldNames.values)
    for entity in source.entities where !used.contains(entity.name) {
      mappings.append(EntityMapping(.remove, from: entity.name, to: nil))
    }
    checkHierarchies()
  }

  /// Maps an entity. The kind is `copy` if the version hashes are equal, otherwise `transform`.
  private mutating func map(_ old: ResolvedEntity, to new: ResolvedEntity) {
    let isSame = old.name == new.name && source.versionHashes[old.name] == destination.versionHashes[new.name]
    var mapping = EntityMapping(isSame ? .copy : .transform, from: old.name, to: new.name)
    if new.isAbstract, !old.isAbstract {
      ask(
        "\(new.name) became abstract: there must be no object of it, which would have no entity", entity: new.name,
        property: nil)
    }
    mapping.attributeMappings = attributes(old, new: new)
    mapping.relationshipMappings = relationships(old, new: new)
    mappings.append(mapping)
  }

  // MARK: Attributes

  /// The mappings of the stored attributes that are not derived.
  private mutating func attributes(_ old: ResolvedEntity, new: ResolvedEntity) -> [PropertyMapping] {
    let olds = old.properties.compactMap(\.attribute).filter { !$0.isTransient }
    let news = new.properties.compactMap(\.attribute).filter { !$0.isTransient }
    let matcher = RenamingMatcher(old: olds, new: news)
    return news.filter { $0.derivationExpression == nil }.map { attribute in
      guard let name = matcher.oldNames[attribute.name], let before = olds.first(where: { $0.name == name }) else {
        if !attribute.isOptional, attribute.defaultValue.isNull {
          ask(
            "is required, new and has no default: give it one or make it optional, unless there are no objects",
            entity: new.name, property: attribute.name)
        }
        return PropertyMapping(attribute.name, from: .value(attribute.defaultValue))
      }
      check(before, new: attribute, entity: new.name)
      return PropertyMapping(attribute.name, from: .property(name))
    }
  }

  /// Checks the change of an attribute's type and of its optionality.
  private mutating func check(_ old: AttributeDescription, new: AttributeDescription, entity: String) {
    if old.type == .composite, new.type == .composite { checkElements(old, new: new, entity: entity) }
    if old.type != new.type {
      let change = "changed its type from \(old.type.modelName) to \(new.type.modelName)"
      if AttributeConversion(from: old.type, to: new.type) == nil {
        report("\(change): say how values become the other type", entity: entity, property: new.name)
      } else {
        ask("\(change): all values must have a meaning in it", entity: entity, property: new.name)
      }
    }
    if old.isOptional, !new.isOptional, new.defaultValue.isNull {
      ask(
        "became required and has no default for objects without a value: give it one, unless all have one",
        entity: entity, property: new.name)
    }
  }

  /// Checks the elements of a composite, leaf by leaf.
  private mutating func checkElements(_ old: AttributeDescription, new: AttributeDescription, entity: String) {
    let mapping = ElementMapping(from: old, to: new)
    for leaf in new.leaves {
      let name = leaf.path.joined(separator: ".")
      guard let before = mapping.origins[leaf.path]?.attribute else { continue }
      if before.type != leaf.attribute.type {
        let change = "changed the type of \(name) from \(before.type.modelName) to \(leaf.attribute.type.modelName)"
        if AttributeConversion(from: before.type, to: leaf.attribute.type) == nil {
          report("\(change): say how values become the other type", entity: entity, property: new.name)
        } else {
          ask("\(change): all values must have a meaning in it", entity: entity, property: new.name)
        }
      }
      if before.isOptional, !leaf.attribute.isOptional {
        ask("requires \(name) now: no value may be without it", entity: entity, property: new.name)
      }
    }
    for leaf in mapping.removed {
      ask(
        "lost its element \(leaf.path.joined(separator: ".")): what objects have there goes", entity: entity,
        property: new.name)
    }
  }

  // MARK: Relationships

  /// The mappings of the stored relationships.
  private mutating func relationships(_ old: ResolvedEntity, new: ResolvedEntity) -> [PropertyMapping] {
    let olds = old.properties.compactMap { $0.relationship?.description }.filter { !$0.isTransient }
    let news = new.properties.compactMap { $0.relationship?.description }.filter { !$0.isTransient }
    let matcher = RenamingMatcher(old: olds, new: news)
    return news.map { relationship in
      guard let name = matcher.oldNames[relationship.name], let before = olds.first(where: { $0.name == name }) else {
        if relationship.requiresDestination {
          ask(
            "is required and new: no object has a destination for it yet", entity: new.name, property: relationship.name
          )
        }
        return PropertyMapping(relationship.name, from: .value(.null))
      }
      check(before, new: relationship, entity: new.name)
      return PropertyMapping(relationship.name, from: .property(name))
    }
  }

  /// Checks the change of a relationship: its kind, its requirement and its destination.
  private mutating func check(_ old: RelationshipDescription, new: RelationshipDescription, entity: String) {
    if old.isToMany, !new.isToMany {
      ask("became to-one: no object may have several destinations", entity: entity, property: new.name)
    }
    if !old.requiresDestination, new.requiresDestination {
      ask("became required: every object needs a destination", entity: entity, property: new.name)
    }
    if !leads(new, whereItLed: old) {
      report(
        "leads to \(new.destinationEntityName) instead of \(old.destinationEntityName)", entity: entity,
        property: new.name)
    }
  }

  /// Whether every former destination may remain one: the destination entity is the same or more general.
  private func leads(_ new: RelationshipDescription, whereItLed old: RelationshipDescription) -> Bool {
    guard let entity = destination.entity(new.destinationEntityName) else { return false }
    return entity.subtree.contains { oldNames[destination.entities[$0].name] == old.destinationEntityName }
  }

  // MARK: Hierarchies

  /// Checks that no hierarchies are merged: the objects of a hierarchy share a table with its keys, so two tables
  /// cannot become one.
  private mutating func checkHierarchies() {
    var roots: [Int: String] = [:]
    for entity in destination.entities {
      guard let name = oldNames[entity.name], let old = source.entity(name) else { continue }
      let root = source.entities[old.root].name
      if let other = roots[entity.root], other != root {
        report(
          "\(entity.name) joined a hierarchy with entities of \(other): two hierarchies cannot become one",
          entity: entity.name,
          property: nil)
      }
      roots[entity.root] = roots[entity.root] ?? root
    }
  }

  // MARK: What stands against it

  /// Adds a reason why the mapping cannot be inferred.
  private mutating func report(_ what: String, entity: String, property: String?) {
    Self.note(what, entity: entity, property: property, in: &problems)
  }

  /// Adds a condition on the rows of a store.
  private mutating func ask(_ what: String, entity: String, property: String?) {
    Self.note(what, entity: entity, property: property, in: &conditions)
  }

  /// Adds an error with code `.cannotInferMapping` to a list, unless the list has it.
  private static func note(_ what: String, entity: String, property: String?, in list: inout [ModelError]) {
    let message = property.map { "\(entity).\($0) \(what)" } ?? what
    // A subentity repeats the problems of its parent's properties.
    let isKnown = list.contains { $0.property == property && $0.property != nil && $0.message.hasSuffix(" \(what)") }
    if !isKnown { list.append(ModelError(.cannotInferMapping, message: message, entity: entity, property: property)) }
  }
}
