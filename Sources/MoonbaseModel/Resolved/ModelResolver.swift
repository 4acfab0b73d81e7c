/// Resolves a checked model: orders the inheritance forest, numbers slots, finds destinations and inverses.
struct ModelResolver {
  let model: ManagedObjectModel

  /// An entity on its way to being resolved: its place in the order is known, its properties are not.
  private struct Numbered {
    var description: EntityDescription
    var parent: EntityIndex?
    var subtree: Range<EntityIndex>
  }

  func resolve() throws(ModelError) -> ResolvedModel {
    let numbered = number()
    let indexes = Dictionary(uniqueKeysWithValues: numbered.enumerated().map { ($1.description.name, $0) })
    let slots = slotNames(of: numbered)
    var entities: [ResolvedEntity] = []
    for (index, entry) in numbered.enumerated() {
      try ModelError.chargeEntity()
      let parent = entry.parent.map { entities[$0] }
      let own = ownProperties(of: entry.description)
      let first = parent?.properties.count ?? 0
      let properties = own.enumerated().map { offset, property in
        resolve(property, slot: first + offset, entity: index, indexes: indexes, slots: slots, numbered: numbered)
      }
      entities.append(
        ResolvedEntity(
          index: index, description: entry.description, parent: parent, subtree: entry.subtree,
          properties: (parent?.properties ?? []) + properties))
    }
    return ResolvedModel(description: model, entities: entities, warnings: model.warnings)
  }

  // MARK: Numbering

  /// Depth first, siblings by name without regard to case: Core Data's Z_ENT order.
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

  private enum Property {
    case attribute(AttributeDescription)
    case relationship(RelationshipDescription)

    var name: String {
      switch self {
      case .attribute(let attribute): attribute.name
      case .relationship(let relationship): relationship.name
      }
    }
  }

  /// An entity's own properties in slot order: attributes, to-one, to-many.
  private func ownProperties(of entity: EntityDescription) -> [Property] {
    entity.attributes.map(Property.attribute)
      + entity.relationships.filter { !$0.isToMany }.map(Property.relationship)
      + entity.relationships.filter(\.isToMany).map(Property.relationship)
  }

  /// Slots of all properties by name, for each entity.
  private func slotNames(of numbered: [Numbered]) -> [[String: Int]] {
    var result: [[String: Int]] = []
    for entry in numbered {
      var names = entry.parent.map { result[$0] } ?? [:]
      for property in ownProperties(of: entry.description) { names[property.name] = names.count }
      result.append(names)
    }
    return result
  }

  private func resolve(
    _ property: Property, slot: Slot, entity: EntityIndex, indexes: [String: EntityIndex], slots: [[String: Slot]],
    numbered: [Numbered]
  ) -> ResolvedProperty {
    let kind: ResolvedProperty.Kind
    switch property {
    case .attribute(let attribute): kind = .attribute(attribute)
    case .relationship(let relationship):
      let destination = indexes[relationship.destinationEntityName] ?? 0
      let inverse = relationship.inverseName.flatMap { relationshipDescription($0, in: destination, of: numbered) }
      let resolved = ResolvedRelationship(
        description: relationship, destination: destination,
        inverseSlot: inverse.flatMap { slots[destination][$0.name] }, isInverseToMany: inverse?.isToMany ?? false)
      kind = relationship.isToMany ? .toMany(resolved) : .toOne(resolved)
    }
    return ResolvedProperty(
      name: property.name, slot: slot, declaringEntity: entity, kind: kind)
  }

  private func relationshipDescription(_ name: String, in index: EntityIndex, of numbered: [Numbered])
    -> RelationshipDescription?
  {
    var current: Int? = index
    while let entity = current {
      if let found = numbered[entity].description.relationships.first(where: { $0.name == name }) { return found }
      current = numbered[entity].parent
    }
    return nil
  }
}
