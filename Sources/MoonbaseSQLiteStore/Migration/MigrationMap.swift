import MoonbaseModel
import MoonbaseModelFormats
import MoonbaseSQL

/// Which rows of an old file become which of a new one: an entity mapping with the places of both sides.
struct EntityMigration {
  let mapping: EntityMapping
  let old: EntityLayout
  let new: EntityLayout

  /// The old derived attributes that new ones were, by the names of these: no mapping has them.
  private let formerDerived: [String: String]
  /// Where the values of the new properties come from, by their names.
  private let sources: [String: PropertyMapping.Source]
  /// The old properties of which new ones get what rows have there.
  private(set) var kept: Set<PropertyID> = []

  init(_ mapping: EntityMapping, from old: EntityLayout, to new: EntityLayout) {
    (self.mapping, self.old, self.new) = (mapping, old, new)
    let all = mapping.attributeMappings + mapping.relationshipMappings
    sources = Dictionary(all.map { ($0.name, $0.source) }) { first, _ in first }
    formerDerived = Self.formerDerived(from: old.entity, to: new.entity)
    for property in new.entity.properties where !property.isTransient {
      guard let before = origin(of: property)?.property else { continue }
      // What is derived from now on is not what was given.
      let isComputed = property.attribute?.derivationExpression != nil && before.attribute?.derivationExpression == nil
      if !isComputed { kept.insert(before.id) }
    }
  }

  /// Derived attributes are matched as all attributes are, and the remaining ones by their derivation: a derived
  /// attribute may have taken the name of a plain one.
  private static func formerDerived(from old: ResolvedEntity, to new: ResolvedEntity) -> [String: String] {
    let (olds, news) = (old.storedAttributes, new.storedAttributes)
    var result = RenamingMatcher(oldAttributes: olds, newAttributes: news).oldNames
    let used = Set(result.values)
    var left = olds.filter { $0.derivationExpression != nil && !used.contains($0.name) }
    for attribute in news where attribute.derivationExpression != nil && result[attribute.name] == nil {
      let same = left.firstIndex {
        $0.derivationExpression == attribute.derivationExpression && $0.type == attribute.type
      }
      if let same { result[attribute.name] = left.remove(at: same).name }
    }
    return result
  }

  /// Where the value of a property comes from; nil where the mapping says nothing of it.
  func source(of property: ResolvedProperty) -> PropertyMapping.Source? { sources[property.name] }

  /// The old property whose values a property gets, with its place.
  func origin(of property: ResolvedProperty) -> (property: ResolvedProperty, slot: SlotLayout)? {
    let name: String
    switch source(of: property) {
    case .property(let old): name = old
    // Derived attributes are in no mapping: the old values of the attribute are kept until its triggers compute them
    // anew.
    case nil, .automatic:
      name =
        property.attribute?.derivationExpression == nil ? property.name : formerDerived[property.name] ?? property.name
    case .value, .expression: return nil
    }
    guard let slot = old.entity.slot(name) else { return nil }
    let found = old.entity.properties[slot]
    guard (found.attribute == nil) == (property.attribute == nil), !found.isTransient else { return nil }
    return (found, old.slots[slot])
  }
}

extension ResolvedEntity {
  fileprivate var storedAttributes: [AttributeDescription] {
    properties.compactMap(\.attribute).filter { !$0.isTransient }
  }
}

/// A mapping between two models together with where their objects lie: in a file as it is, and as it is to be.
struct MigrationMap {
  let old: StoreLayout
  let new: StoreLayout
  /// The entities whose rows stay.
  let entities: [EntityMigration]
  /// The entities whose rows go.
  let removed: [EntityLayout]
  /// Old tables that bear another name until their rows are in new ones.
  var setAside: Set<String> = []
  /// What the entities of the old model become, by their index in it.
  private let successors: [EntityIndex: EntityLayout]

  init(_ mapping: MappingModel, from old: StoreLayout, to new: StoreLayout) {
    (self.old, self.new) = (old, new)
    entities = mapping.entityMappings.compactMap { mapping in
      guard let source = mapping.sourceEntityName.flatMap({ old.held($0) }),
        let destination = mapping.destinationEntityName.flatMap({ new.held($0) }), !destination.entity.isAbstract
      else { return nil }
      return EntityMigration(mapping, from: source, to: destination)
    }
    let pairs = entities.map { ($0.old.entity.index, $0.new) }
    let successors = Dictionary(pairs) { first, _ in first }
    self.successors = successors
    removed = old.entities.compactMap { $0 }.filter { !$0.entity.isAbstract && successors[$0.entity.index] == nil }
  }

  /// What an entity's objects become.
  func successor(of entity: EntityIndex) -> EntityLayout? { successors[entity] }

  /// An old table as it is called now.
  func oldTable(_ name: String) -> String { identifier(setAside.contains(name) ? "\(Self.prefix)\(name)" : name) }

  static let prefix = "moonbase_old_"

  /// Whether an old table holds rows of several entities, so that their numbers tell them apart.
  func isShared(_ entity: EntityLayout) -> Bool { old.model.entities[entity.entity.root].hasSubentities }

  /// The rows of an old entity: a condition for its table, or nothing where all of them are.
  func condition(_ entity: EntityLayout) -> String { isShared(entity) ? "Z_ENT = \(entity.number)" : "1" }

  // MARK: Destinations

  /// The numbers that old destinations have, with those that they get. Nil for one that cannot be a destination any more: its entity is
  /// gone, or is none of those that the relationship leads to.
  func destinationNumbers(from old: EntityIndex, to new: EntityIndex) -> [(old: Int64, new: Int64?)] {
    let reach = self.new.model.entities[new].subtree
    return self.old.subtree(of: self.old.model.entities[old]).filter { !$0.entity.isAbstract }.map { entity in
      let successor = successors[entity.entity.index]
      return (entity.number, successor.flatMap { reach.contains($0.entity.index) ? $0.number : nil })
    }
  }
}

extension StoreLayout {
  /// The layout of an entity that the store holds.
  func held(_ name: String) -> EntityLayout? { model.entity(name).flatMap { entities[$0.index] } }

  /// The properties that a store keeps, each once, with the entity that declares it.
  var keptProperties: [(entity: EntityLayout, property: ResolvedProperty)] {
    entities.compactMap { $0 }.flatMap { entity in
      entity.entity.properties.filter { $0.declaringEntity == entity.entity.index && !$0.isTransient }.map {
        (entity, $0)
      }
    }
  }

  /// The other side of a relationship, with its place.
  func inverse(of property: ResolvedProperty) -> (entity: EntityLayout, property: ResolvedProperty)? {
    guard let relationship = property.relationship, let slot = relationship.inverseSlot,
      let destination = entities[relationship.destination]
    else { return nil }
    return (destination, destination.entity.properties[slot])
  }
}
