import MoonbaseModel

/// The attributes of a model that its stores derive as `relationship.@count`.
struct CountedRelationships {
  /// By entity: to-one relationships whose destinations count who points at them.
  private(set) var pointers: [EntityIndex: [Slot]] = [:]
  /// By entity: the attributes that are counts.
  private(set) var counts: [EntityIndex: [Slot]] = [:]

  init(_ model: ResolvedModel) {
    for entity in model.entities {
      for (slot, relationship) in entity.countedRelationships {
        counts[entity.index, default: []].append(slot)
        guard let inverse = relationship.inverseSlot else { continue }
        for index in model.destination(of: relationship).subtree
        where pointers[index]?.contains(inverse) != true {
          pointers[index, default: []].append(inverse)
        }
      }
    }
  }
}
