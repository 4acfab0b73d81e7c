import MoonbaseModel

/// The constraints, indexed relationships and derivations that an in-memory store maintains for the rows of one entity.
struct InMemoryPlan {
  /// A uniqueness constraint.
  struct Constraint {
    var number: Int
    var slots: [Slot]
    var entity: ResolvedEntity
  }

  /// Uniqueness constraints of the entity and its ancestors.
  let constraints: [Constraint]
  /// The to-one relationships that have an inverse (`list` is the inverse if it is ordered) or that derivations use.
  let pointers: [(slot: Slot, key: PropertyID, list: PropertyID?)]
  /// Attributes that the store derives.
  let derivations: [StoredDerivation]

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
    let derivations = model.entities.map(model.storedDerivations(of:))
    var steps: Set<PropertyID> = []
    for derivation in derivations.joined() {
      for (slot, entity) in zip(derivation.path, derivation.entities) {
        steps.insert(model.entities[entity].properties[slot].id)
      }
    }
    return zip(model.entities, derivations).map {
      InMemoryPlan($0, constraints: constraints[$0.index] ?? [], derivations: $1, steps: steps, model: model)
    }
  }

  private init(
    _ entity: ResolvedEntity, constraints: [Constraint], derivations: [StoredDerivation], steps: Set<PropertyID>,
    model: ResolvedModel
  ) {
    (self.constraints, self.derivations) = (constraints, derivations)
    pointers = entity.toOneSlots.compactMap { slot in
      let property = entity.properties[slot]
      guard let relationship = property.relationship else { return nil }
      guard let inverse = relationship.inverseSlot else {
        return steps.contains(property.id) ? (slot, property.id, nil) : nil
      }
      let other = model.destination(of: relationship).properties[inverse]
      return (slot, property.id, other.relationship?.isOrdered == true ? other.id : nil)
    }
  }
}
