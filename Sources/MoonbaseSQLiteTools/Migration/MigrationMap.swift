package import MoonbaseModel
package import MoonbaseModelFormats
package import MoonbaseSQL
import MoonbaseSQLiteStore

/// The migration of the rows of one entity: an entity mapping with the layouts of both sides.
///
/// The answer to two questions about a property of the new entity: where its values come from (`origin`), and which old
/// properties are kept.
package struct EntityMigration {
  /// The entity mapping.
  package let mapping: EntityMapping
  /// The old entity's layout.
  let old: EntityLayout
  /// The new entity's layout.
  let new: EntityLayout

  /// For each new derived attribute, the name of the old one. Mappings do not include derived attributes.
  private let formerDerived: [String: String]
  /// The sources of new properties' values, by name.
  private let sources: [String: PropertyMapping.Source]
  /// The old properties whose values are kept in new ones.
  private(set) var kept: Set<PropertyID> = []

  /// Matches derived attributes by name, then by derivation.
  init(_ mapping: EntityMapping, from old: EntityLayout, to new: EntityLayout) {
    (self.mapping, self.old, self.new) = (mapping, old, new)
    let all = mapping.attributeMappings + mapping.relationshipMappings
    sources = Dictionary(all.map { ($0.name, $0.source) }) { first, _ in first }
    formerDerived = Self.formerDerived(from: old.entity, to: new.entity)
    for property in new.entity.properties where !property.isTransient {
      guard let before = origin(of: property)?.property else { continue }
      // A newly derived attribute does not keep the values that were set.
      let isComputed = property.attribute?.derivationExpression != nil && before.attribute?.derivationExpression == nil
      if !isComputed { kept.insert(before.id) }
    }
  }

  /// The old derived attributes by new name: matched by name as all attributes are, and the remaining ones by
  /// derivation, because a derived attribute may have exchanged names with a plain one. Renaming identifiers count as
  /// names.
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

  /// The source of a property's values; nil if the mapping has none. As the mapping states it.
  package func source(of property: ResolvedProperty) -> PropertyMapping.Source? { sources[property.name] }

  /// The old property that provides a property's values, with its layout.
  ///
  /// Nil for a property with a constant or an expression as its source, for an attribute that was a relationship, and
  /// for a property that the old entity lacks.
  func origin(of property: ResolvedProperty) -> (property: ResolvedProperty, slot: SlotLayout)? {
    let name: String
    switch source(of: property) {
    case .property(let old): name = old
    // Derived attributes are in no mapping: the old values are kept until triggers compute them again.
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

/// The attributes with a column.
extension ResolvedEntity {
  /// The attributes with a column in the file.
  fileprivate var storedAttributes: [AttributeDescription] {
    properties.compactMap(\.attribute).filter { !$0.isTransient }
  }
}

/// A mapping between two models, with the layout of the existing file and of the new file.
///
/// Built once per migration. Tables that exist under the same name in both files are renamed first (`setAside`),
/// because rows of one table may go to several new tables.
package struct MigrationMap {
  /// The layout of the existing file.
  package let old: StoreLayout
  /// The layout of the new file.
  package let new: StoreLayout
  /// The entities whose rows stay.
  let entities: [EntityMigration]
  /// The entities whose rows are removed.
  let removed: [EntityLayout]
  /// Old tables that are renamed until their rows are in new tables.
  var setAside: Set<String> = []
  /// The new layouts of old entities, by index.
  private let successors: [EntityIndex: EntityLayout]

  /// Entity mappings without a source or a destination in the store are left out.
  package init(_ mapping: MappingModel, from old: StoreLayout, to new: StoreLayout) {
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

  /// The layout of the entity that replaces an old one. Nil for a removed entity.
  func successor(of entity: EntityIndex) -> EntityLayout? { successors[entity] }

  /// The current name of an old table. Quoted for SQL.
  func oldTable(_ name: String) -> String { identifier(setAside.contains(name) ? "\(Self.prefix)\(name)" : name) }

  /// The prefix of renamed tables.
  static let prefix = "moonbase_old_"

  /// Whether an old table has rows of several entities, distinguished by number. Rows of a shared table need a
  /// condition on `Z_ENT`.
  func isShared(_ entity: EntityLayout) -> Bool { old.model.entities[entity.entity.root].hasSubentities }

  /// The SQL condition for rows of an old entity in its table. `1` for all rows.
  func condition(_ entity: EntityLayout) -> String { isShared(entity) ? "Z_ENT = \(entity.number)" : "1" }

  // MARK: Destinations

  /// The old and new entity numbers of a relationship's destinations. The new number is nil if objects of the entity
  /// cannot be destinations any more, because the entity is removed or the relationship has another destination entity.
  /// Ordered as the old subtree.
  func destinationNumbers(from old: EntityIndex, to new: EntityIndex) -> [(old: Int64, new: Int64?)] {
    let reach = self.new.model.entities[new].subtree
    return self.old.subtree(of: self.old.model.entities[old]).filter { !$0.entity.isAbstract }.map { entity in
      let successor = successors[entity.entity.index]
      return (entity.number, successor.flatMap { reach.contains($0.entity.index) ? $0.number : nil })
    }
  }
}

/// Lookups by name, and properties with their declaring entities.
extension StoreLayout {
  /// The layout of an entity that the store holds. Nil for an entity that the store does not hold.
  func held(_ name: String) -> EntityLayout? { model.entity(name).flatMap { entities[$0.index] } }

  /// The persistent properties, each once with the entity that declares it. In the order of entities and slots.
  var keptProperties: [(entity: EntityLayout, property: ResolvedProperty)] {
    entities.compactMap { $0 }.flatMap { entity in
      entity.entity.properties.filter { $0.declaringEntity == entity.entity.index && !$0.isTransient }.map {
        (entity, $0)
      }
    }
  }

  /// The inverse of a relationship, with the layout of its entity. Nil without an inverse.
  func inverse(of property: ResolvedProperty) -> (entity: EntityLayout, property: ResolvedProperty)? {
    guard let relationship = property.relationship, let slot = relationship.inverseSlot,
      let destination = entities[relationship.destination]
    else { return nil }
    return (destination, destination.entity.properties[slot])
  }
}
