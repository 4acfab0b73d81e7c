import MoonbaseModel

/// Objects that have values of others which must be unique.
extension ConflictResolver {
  /// Of two objects with values that must be unique a conflict is about the one that came to have them: a store may name the other one,
  /// whose row it wrote later.
  func oriented(_ conflict: SaveConflict) -> SaveConflict {
    guard case .sameValues(let properties, let id?) = conflict.kind, let object = object(conflict.objectID),
      let other = self.object(id), !hasChanged(properties, object), hasChanged(properties, other)
    else { return conflict }
    return SaveConflict(id, .sameValues(properties: properties, as: conflict.objectID))
  }

  private func hasChanged(_ properties: [String], _ object: ManagedObject) -> Bool {
    object.isInserted || properties.contains { object.entity.slot($0).map(object.changed.contains) ?? false }
  }

  /// A saved object has values that must be unique.
  func resolveSameValues(
    _ properties: [String], of object: ManagedObject, and id: ManagedObjectID?, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    guard case .values(let values) = resolution else {
      guard object.isInserted else { return try giveUpUniqueValues(properties, of: object, by: resolution) }
      // Of two new ones nobody is in the store.
      guard let id, new[id] == nil, let other = try context.existingObject(with: id), !other.isInserted else {
        return false
      }
      if !resolution.isForStore { try hand(over: object, to: other, isWhole: resolution.isWhole) }
      try giveWay(object, takingNewOnes: resolution.isForStore)
      return true
    }
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return !values.isEmpty
  }

  private func giveUpUniqueValues(
    _ properties: [String], of object: ManagedObject, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    switch resolution {
    case .rollback: return try giveUp(object)
    case .storeTrumps:
      let slots = properties.compactMap(object.entity.slot)
      for slot in slots where object.changed.contains(slot) {
        // The other side of a relationship follows.
        if object.entity.properties[slot].relationship != nil {
          try set(object.snapshot?.values[slot] ?? .null, slot: slot, of: object)
        } else {
          object.giveUpChange(slot)
        }
      }
      return !slots.isEmpty
    // Whose the value is to be nobody can know.
    default: return false
    }
  }

  /// A saved object takes what a new one has that is in its place, and what leads to that one.
  private func hand(over new: ManagedObject, to saved: ManagedObject, isWhole: Bool) throws {
    for slot in slots(of: new) where isWhole || new.changed.contains(slot) {
      guard let own = saved.entity.slot(new.entity.property(at: slot).name) else { continue }
      let value = new.current(slot) ?? .null
      try set(value == .objectID(new.objectID) ? .objectID(saved.objectID) : value, slot: own, of: saved)
    }
    for slot in new.entity.toManySlots {
      guard let own = saved.entity.slot(new.entity.property(at: slot).name) else { continue }
      for id in try new.memberIDs(slot) where id != saved.objectID {
        // Those that go, the new ones of other conflicts among them, are handed over to nobody.
        let member = id == new.objectID ? saved : try context.objectIfPresent(with: id)
        if let member, !member.isDeleted { try saved.addMember(member.objectID, slot: own) }
      }
    }
    for lead in context.looseLeads.leads(to: new) where lead.object.context === context && !lead.object.isDeleted {
      try redirect(lead, from: new.objectID, to: saved.objectID)
    }
  }

  /// A relationship without an inverse leads to another object, where that one may be its destination.
  private func redirect(_ lead: LooseLeads.Lead, from id: ManagedObjectID, to other: ManagedObjectID) throws {
    let (object, slot) = (lead.object, lead.slot)
    guard let relationship = object.entity.properties[slot].relationship,
      context.model.entity(of: other)?.isKind(of: context.model.destination(of: relationship)) == true
    else { return }
    if relationship.isToMany {
      let members = try object.memberIDs(slot)
      if members.contains(id) { try object.setMembers(members.map { $0 == id ? other : $0 }, slot: slot) }
    } else if try object.stored(slot) == .objectID(id) {
      try object.setDestination(other, slot: slot, relationship: relationship)
    }
  }

  /// A new object goes because another one is in its place, and not because anybody deleted it. So its delete rules take nobody along and
  /// nobody denies it; with `takingNewOnes` new objects that a rule would take go in the same way, for nobody else has them.
  private func giveWay(_ object: ManagedObject, takingNewOnes: Bool) throws {
    var waiting = [object]
    while let object = waiting.popLast() {
      for slot in object.entity.toOneSlots + object.entity.toManySlots {
        guard let relationship = object.entity.properties[slot].relationship else { continue }
        let rule = relationship.description.deleteRule
        guard rule == .cascade || rule == .deny else { continue }
        for id in try object.destinationIDs(slot) where id != object.objectID {
          guard let other = try context.objectIfPresent(with: id), !other.isDeleted else { continue }
          if takingNewOnes, rule == .cascade, other.isInserted {
            waiting.append(other)
          } else if relationship.isToMany {
            try object.removeMember(id, slot: slot)
          } else {
            try object.setDestination(nil, slot: slot, relationship: relationship)
          }
        }
      }
      // One that several lead to waits several times.
      if !object.isDeleted { context.markDeleted(object) }
    }
  }
}
