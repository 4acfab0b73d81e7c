import MoonbaseModel

/// What an in-memory store must keep for the rows of one entity beside the rows.
struct InMemoryPlan {
  struct Constraint {
    var number: Int
    var slots: [Slot]
    var entity: ResolvedEntity
  }

  /// Uniqueness constraints of the entity and its ancestors.
  let constraints: [Constraint]
  /// To-one relationships that have another side, and that side where it is ordered.
  let pointers: [(slot: Slot, key: PropertyID, list: PropertyID?)]
  /// Attributes that are the number of destinations of a to-many relationship, whose other side the key is.
  let counts: [(slot: Slot, key: PropertyID)]

  /// Plans for all entities of a model, by index.
  static func plans(for model: ResolvedModel) -> [InMemoryPlan] {
    var constraints: [EntityIndex: [Constraint]] = [:]
    var number = 0
    for entity in model.entities {
      let own = entity.uniquenessConstraints.suffix(entity.description.uniquenessConstraints.count)
      for slots in own {
        for index in entity.subtree {
          constraints[index, default: []].append(Constraint(number: number, slots: slots, entity: entity))
        }
        number += 1
      }
    }
    return model.entities.map { InMemoryPlan($0, constraints: constraints[$0.index] ?? [], model: model) }
  }

  private init(_ entity: ResolvedEntity, constraints: [Constraint], model: ResolvedModel) {
    self.constraints = constraints
    pointers = entity.toOneSlots.compactMap { slot in
      guard let relationship = entity.properties[slot].relationship, let inverse = relationship.inverseSlot
      else { return nil }
      let other = model.destination(of: relationship).properties[inverse]
      return (slot, entity.properties[slot].id, other.relationship?.isOrdered == true ? other.id : nil)
    }
    counts = entity.countedRelationships.compactMap { slot, relationship in
      guard let inverse = relationship.inverseSlot else { return nil }
      return (slot, model.destination(of: relationship).properties[inverse].id)
    }
  }
}

extension ResolvedEntity {
  /// Attributes derived as `relationship.@count` from a one-to-many relationship: the derivation that stores keep.
  var countedRelationships: [(slot: Slot, relationship: ResolvedRelationship)] {
    attributeSlots.compactMap { slot in
      let keys = properties[slot].attribute?.derivationExpression?.split(separator: ".").map(String.init) ?? []
      guard keys.count == 2, keys[1] == "@count", let relationship = property(keys[0])?.relationship,
        relationship.isToMany, !relationship.isManyToMany, relationship.inverseSlot != nil
      else { return nil }
      return (slot, relationship)
    }
  }
}
