import MoonbaseModel

/// Resolves conflicts over unique values.
///
/// A new object that loses is removed in favour of the saved object. A saved object that loses discards its change.
extension ConflictResolver {
  /// Makes the object whose unique values changed the subject of the conflict. A store may name the other object
  /// instead, if it writes that row later.
  func oriented(_ conflict: SaveConflict) -> SaveConflict {
    guard case .sameValues(let properties, let id?) = conflict.kind, let object = object(conflict.objectID),
      let other = self.object(id), !hasChanged(properties, object), hasChanged(properties, other)
    else { return conflict }
    return SaveConflict(id, .sameValues(properties: properties, as: conflict.objectID))
  }

  /// Whether the object is new or has a changed value among the properties. Derived values do not count.
  private func hasChanged(_ properties: [String], _ object: ManagedObject) -> Bool {
    object.isInserted || properties.contains { object.entity.slot($0).map(object.changed.contains) ?? false }
  }

  /// Resolves a conflict in which an object has the unique values of another one. Returns false if both objects are
  /// new.
  func resolveSameValues(
    _ properties: [String], of object: ManagedObject, and id: ManagedObjectID?, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    guard case .values(let values) = resolution else {
      guard object.isInserted else { return try giveUpUniqueValues(properties, of: object, by: resolution) }
      // If both objects are new, neither is in the store.
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

  /// Resolves the conflict of a saved object by giving up its change. Returns false for a policy that does not decide.
  private func giveUpUniqueValues(
    _ properties: [String], of object: ManagedObject, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    switch resolution {
    case .rollback: return try discardChanges(object)
    case .storeTrumps:
      let slots = properties.compactMap(object.entity.slot)
      for slot in slots where object.changed.contains(slot) {
        // Setting a relationship also updates the inverse.
        if object.entity.properties[slot].relationship != nil {
          try set(object.snapshot?.values[slot] ?? .null, slot: slot, of: object)
        } else {
          object.giveUpChange(slot)
        }
      }
      return !slots.isEmpty
    // The policy does not tell which object is to have the value.
    default: return false
    }
  }

  /// Copies the values of a new object to the saved object that replaces it, and redirects relationships to the saved
  /// object. Members of lists are added, not replaced.
  private func hand(over new: ManagedObject, to saved: ManagedObject, isWhole: Bool) throws {
    for slot in slots(of: new) where isWhole || new.changed.contains(slot) {
      guard let own = saved.entity.slot(new.entity.property(at: slot).name) else { continue }
      let value = new.current(slot) ?? .null
      try set(value == .objectID(new.objectID) ? .objectID(saved.objectID) : value, slot: own, of: saved)
    }
    for slot in new.entity.toManySlots {
      guard let own = saved.entity.slot(new.entity.property(at: slot).name) else { continue }
      for id in try new.memberIDs(slot) where id != saved.objectID {
        // Deleted objects, among them new objects of other conflicts, get no new members.
        let member = id == new.objectID ? saved : try context.objectIfPresent(with: id)
        if let member, !member.isDeleted { try saved.addMember(member.objectID, slot: own) }
      }
    }
    for lead in context.deletions.unclearedReferences.leads(to: new)
    where lead.object.context === context && !lead.object.isDeleted {
      try redirect(lead, from: new.objectID, to: saved.objectID)
    }
  }

  /// Redirects a relationship without an inverse to another object, if its type allows. Only relationships that the
  /// context knows are redirected.
  private func redirect(_ lead: UnclearedReferenceIndex.Lead, from id: ManagedObjectID, to other: ManagedObjectID)
    throws
  {
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

  /// Removes a new object that an existing one replaces. This is not a deletion by the program: delete rules neither
  /// cascade nor deny. With `takingNewOnes`, new objects to which a cascade or deny rule points are removed in the same
  /// way, since they are not saved.
  private func giveWay(_ object: ManagedObject, takingNewOnes: Bool) throws {
    var waiting = [object]
    while let object = waiting.popLast() {
      for slot in object.entity.toOneSlots + object.entity.toManySlots {
        guard let relationship = object.entity.properties[slot].relationship else { continue }
        let rule = relationship.description.deleteRule
        guard rule.deletesDestinations || rule.refusesDeletion else { continue }
        for id in try object.destinationIDs(slot) where id != object.objectID {
          guard let other = try context.objectIfPresent(with: id), !other.isDeleted else { continue }
          if takingNewOnes, rule.deletesDestinations, other.isInserted {
            waiting.append(other)
          } else if relationship.isToMany {
            try object.removeMember(id, slot: slot)
          } else {
            try object.setDestination(nil, slot: slot, relationship: relationship)
          }
        }
      }
      // An object that several objects point at is in the list several times.
      if !object.isDeleted { context.markDeleted(object) }
    }
  }
}
