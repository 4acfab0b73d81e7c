import MoonbaseModel
import MoonbasePlatform

/// Applies the delete rules of a deleted object to its destinations.
///
/// `deny` is checked later, at validation, when all deletions are known.
///
/// Made for each deleted object by `ManagedObjectContext.propagateDeletions`. `nullify` removes the object from its
/// destinations, `cascade` deletes them, and `noAction` does nothing. Objects that a cascade deletes are added to the
/// waiting ones.
struct DeletePropagation {
  /// The deleted object.
  let object: ManagedObject
  /// The context of the object.
  let context: ManagedObjectContext
  /// The destinations that were read together with those of other deleted objects.
  let ahead: DeletionPrefetch.Destinations

  /// Applies the delete rules of all relationships. Throws errors of the store and of hooks.
  func run() throws {
    for slot in object.entity.toOneSlots + object.entity.toManySlots {
      guard let relationship = object.entity.properties[slot].relationship else { continue }
      let rule = relationship.description.deleteRule
      guard rule.concernsDestinations else { continue }
      let gone = rule.deletesDestinations ? try removedMembers(of: slot, relationship) : []
      try include(slot)
      let ids = try object.destinationIDs(slot)
      if ids.count > 1, !ahead.haveRows { try context.loadRows(of: ids) }
      for id in ids {
        try HostWork.charge()
        guard let destination = try context.objectIfPresent(with: id) else { continue }
        if rule.deletesDestinations, !gone.contains(id), try object.holds(destination, relationship) {
          try context.delete(destination)
        }
        if rule.clearsInverse, let inverse = relationship.inverseSlot, !destination.isDeleted {
          try destination.detach(object.objectID, slot: inverse)
        }
      }
    }
  }
}

/// Lists of the deleted object.
extension DeletePropagation {
  /// Adopts a list that was read in a batch, as if the object had loaded it. Then both sides are adjusted as usual.
  private func include(_ slot: Slot) throws {
    guard let ids = ahead.lists[slot], case .toMany = object.entity.properties[slot].kind else { return }
    let state = object.toManyState(slot)
    if !state.isLoaded { try object.load(ids, into: state, slot: slot) }
  }

  /// The destinations that other contexts have removed since the list was read, to which a cascade does not apply. Only
  /// for links stored as pairs: otherwise the rows of the destinations show the change. Empty for a list that was not
  /// read before.
  private func removedMembers(of slot: Slot, _ relationship: ResolvedRelationship) throws -> Set<ManagedObjectID> {
    guard let known = object.relationships[slot], known.isLoaded, !object.objectID.isTemporaryID,
      !relationship.description.isTransient, relationship.isManyToMany || relationship.inverseSlot == nil
    else { return [] }
    let now = try ahead.lists[slot] ?? context.source.destinations(of: [object.objectID], relationship: slot)[0]
    return Set(known.members).subtracting(now).subtracting(known.added)
  }
}
