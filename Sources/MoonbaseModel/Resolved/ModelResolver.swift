import MoonbasePlatform

/// Resolves a checked model: orders the inheritance forest, numbers slots and finds destinations and inverses.
///
/// The model must have passed `ModelChecker`, so every name resolves. The result does not depend on
/// the order in which entities are written, because siblings are sorted.
struct ModelResolver {
  /// The checked model.
  let model: ManagedObjectModel

  /// An entity whose index is known and whose properties are not resolved yet.
  private struct Numbered {
    /// The entity as declared.
    var description: EntityDescription
    /// The index of its parent; nil for a root.
    var parent: EntityIndex?
    /// The indexes of the entity and its descendants.
    var subtree: Range<EntityIndex>
  }

  /// Resolves the model. Throws only the error that ends a script's run.
  func resolve() throws(ModelError) -> ResolvedModel {
    let numbered = number()
    let indexes = Dictionary(uniqueKeysWithValues: numbered.enumerated().map { ($1.description.name, $0) })
    let places = relationshipPlaces(of: numbered, indexes: indexes)
    // Inherited properties multiply the size of the model, so memory is charged before each entity is made.
    var memory = HostMemory()
    var entities: [ResolvedEntity] = []
    for (index, entry) in numbered.enumerated() {
      try ModelError.chargeEntity()
      let parent = entry.parent.map { entities[$0] }
      let own = ownProperties(of: entry.description)
      let first = parent?.properties.count ?? 0
      try ModelError.charge((first + own.count) >> 3)
      try memory.holdForModel(ResolvedEntity.weight(of: entry.description, parent: parent))
      let properties = own.enumerated().map { offset, property in
        resolve(property, slot: first + offset, entity: index, indexes: indexes, places: places, numbered: numbered)
      }
      entities.append(
        ResolvedEntity(
          index: index, description: entry.description, parent: parent, subtree: entry.subtree,
          properties: (parent?.properties ?? []) + properties))
    }
    return ResolvedModel(description: model, entities: entities, warnings: model.warnings)
  }

  // MARK: Numbering

  /// Numbers entities depth first, siblings by name ignoring case: Core Data's Z_ENT order.
  ///
  /// For example, a model with `Person`, its subentities `Boss` and `Clerk`, and `Address` is
  /// numbered `Address` 0, `Person` 1, `Boss` 2, `Clerk` 3.
  private func number() -> [Numbered] {
    let children = Dictionary(grouping: model.entities) { $0.superentityName ?? "" }
    var result: [Numbered] = []
    func visit(_ name: String, parent: EntityIndex?) {
      let siblings = (children[name] ?? []).sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
      for entity in siblings {
        let index = result.count
        result.append(Numbered(description: entity, parent: parent, subtree: index..<index + 1))
        visit(entity.name, parent: index)
        result[index].subtree = index..<result.count
      }
    }
    visit("", parent: nil)
    return result
  }

  // MARK: Slots

  /// A property before it has a slot.
  private enum Property {
    /// An attribute.
    case attribute(AttributeDescription)
    /// A relationship.
    case relationship(RelationshipDescription)

    /// The name of the property.
    var name: String {
      switch self {
      case .attribute(let attribute): attribute.name
      case .relationship(let relationship): relationship.name
      }
    }
  }

  /// The properties that an entity declares, in slot order: attributes, to-one, to-many.
  private func ownProperties(of entity: EntityDescription) -> [Property] {
    entity.attributes.map(Property.attribute)
      + entity.relationships.filter { !$0.isToMany }.map(Property.relationship)
      + entity.relationships.filter(\.isToMany).map(Property.relationship)
  }

  /// The facts about a relationship that are needed when it is the inverse of another.
  private struct Place {
    /// The slot in its entity.
    var slot: Slot
    /// Whether it is to-many.
    var isToMany: Bool
    /// The name of its own inverse.
    var inverseName: String?
    /// The index of its destination; nil for an unknown entity.
    var destination: EntityIndex?

    /// The place of a relationship.
    init(slot: Slot, of relationship: RelationshipDescription, indexes: [String: EntityIndex]) {
      self.slot = slot
      isToMany = relationship.isToMany
      inverseName = relationship.inverseName
      destination = indexes[relationship.destinationEntityName]
    }
  }

  /// The relationships that each entity declares, by name.
  private func relationshipPlaces(of numbered: [Numbered], indexes: [String: EntityIndex]) -> [[String: Place]] {
    var slotCounts: [Int] = []
    return numbered.map { entry in
      let own = ownProperties(of: entry.description)
      let first = entry.parent.map { slotCounts[$0] } ?? 0
      slotCounts.append(first + own.count)
      var places: [String: Place] = [:]
      for (slot, property) in zip(first..., own) {
        guard case .relationship(let relationship) = property else { continue }
        places[relationship.name] = Place(slot: slot, of: relationship, indexes: indexes)
      }
      return places
    }
  }

  /// Resolves a property: its destination and its inverse are looked up in `places`.
  private func resolve(
    _ property: Property, slot: Slot, entity: EntityIndex, indexes: [String: EntityIndex],
    places: [[String: Place]], numbered: [Numbered]
  ) -> ResolvedProperty {
    let kind: ResolvedProperty.Kind
    switch property {
    case .attribute(let attribute): kind = .attribute(attribute)
    case .relationship(let relationship):
      let destination = indexes[relationship.destinationEntityName] ?? 0
      let named = relationship.inverseName.flatMap { place(of: $0, in: destination, places: places, of: numbered) }
      let inverse = named.flatMap { leads($0, backTo: relationship, of: entity, in: numbered) ? $0 : nil }
      let resolved = ResolvedRelationship(
        description: relationship, destination: destination, inverseSlot: inverse?.slot,
        isInverseToMany: inverse?.isToMany ?? false)
      kind = relationship.isToMany ? .toMany(resolved) : .toOne(resolved)
    }
    return ResolvedProperty(
      name: property.name, slot: slot, declaringEntity: entity, kind: kind)
  }

  /// Whether an inverse refers back to a relationship. Files of released apps have inverses that do not, which are
  /// ignored.
  private func leads(
    _ inverse: Place, backTo relationship: RelationshipDescription, of entity: EntityIndex, in numbered: [Numbered]
  ) -> Bool {
    guard inverse.inverseName == nil || inverse.inverseName == relationship.name, let there = inverse.destination else {
      return false
    }
    return numbered[there].subtree.contains(entity) || numbered[entity].subtree.contains(there)
  }

  /// The place of a relationship that an entity declares or inherits; nil if there is none.
  private func place(
    of name: String, in index: EntityIndex, places: [[String: Place]], of numbered: [Numbered]
  ) -> Place? {
    var current: Int? = index
    while let entity = current {
      if let found = places[entity][name] { return found }
      current = numbered[entity].parent
    }
    return nil
  }
}
