import MoonbaseModel
import MoonbasePlatform

/// Applies the delete rules of one deleted object to the objects it points at.
///
/// `deny` is checked later, at validation, when everything that goes is known to go.
struct DeletePropagation {
  let object: ManagedObject
  let context: ManagedObjectContext
  /// What was read of its destinations together with those of others.
  let ahead: DeletionsAhead.Destinations

  func run() throws {
    for slot in object.entity.toOneSlots + object.entity.toManySlots {
      guard let relationship = object.entity.properties[slot].relationship else { continue }
      let rule = relationship.description.deleteRule
      if rule == .noAction { continue }
      let gone = rule == .cascade ? try takenOut(of: slot, relationship) : []
      try takeIn(slot)
      let ids = try object.destinationIDs(slot)
      if ids.count > 1, !ahead.haveRows { try context.loadRows(of: ids) }
      for id in ids {
        try HostWork.charge()
        guard let destination = try context.objectIfPresent(with: id) else { continue }
        if rule == .cascade, !gone.contains(id), try object.holds(destination, relationship) {
          try context.delete(destination)
        }
        if rule != .deny, let inverse = relationship.inverseSlot, !destination.isDeleted {
          try destination.detach(object.objectID, slot: inverse)
        }
      }
    }
  }
}

extension DeletePropagation {
  /// A list that was read with those of others is what the object would read itself.
  private func takeIn(_ slot: Slot) throws {
    guard let ids = ahead.lists[slot], case .toMany = object.entity.properties[slot].kind else { return }
    let state = object.toManyState(slot)
    if !state.isLoaded { try object.load(ids, into: state, slot: slot) }
  }

  /// Pairs are in no row of the destinations, which would tell that one is gone. The destinations that others took out since the list
  /// was read: those do not go with the object.
  private func takenOut(of slot: Slot, _ relationship: ResolvedRelationship) throws -> Set<ManagedObjectID> {
    guard let known = object.relationships[slot], known.isLoaded, !object.objectID.isTemporaryID,
      !relationship.description.isTransient, relationship.isManyToMany || relationship.inverseSlot == nil
    else { return [] }
    let now = try ahead.lists[slot] ?? context.source.destinations(of: [object.objectID], relationship: slot)[0]
    return Set(known.members).subtracting(now).subtracting(known.added)
  }
}

extension ManagedObject {
  /// The destinations of a relationship, as they are stored; where there is none, those that lead here by the other side alone.
  final func destinationIDs(_ slot: Slot) throws -> [ManagedObjectID] {
    if case .toMany = entity.properties[slot].kind { return try memberIDs(slot) }
    if case .objectID(let id) = try stored(slot) { return [id] }
    return try oneSidedPartners(slot).map(\.objectID)
  }

  /// The destinations that neither are gone nor go nor lead elsewhere by now: those for which the rule `deny` keeps the object.
  final func remainingDestinations(_ slot: Slot) throws -> [ManagedObjectID] {
    let inverse = entity.properties[slot].relationship?.inverseSlot
    return try destinationIDs(slot).filter { id in
      guard let other = try context?.objectIfPresent(with: id) else { return false }
      guard let inverse, case .toOne = other.entity.properties[inverse].kind else { return true }
      return try other.stored(inverse) == .objectID(objectID)
    }
  }

  /// Whether a destination still leads here: a list may be older than the rows of its members, one of which was moved since.
  final func holds(_ destination: ManagedObject, _ relationship: ResolvedRelationship) throws -> Bool {
    guard relationship.description.isToMany, let inverse = relationship.inverseSlot,
      case .toOne = destination.entity.properties[inverse].kind, !destination.isDeleted
    else { return true }
    return try destination.stored(inverse) == .objectID(objectID)
  }

  /// New objects go that will never have a row: a relationship that leads to them forgets them. That is a change, unless it was
  /// none that it led there (awake-from-fetch).
  final func release(_ gone: Set<ManagedObjectID>, slot: Slot) throws {
    let ids: [ManagedObjectID]
    if case .toMany = entity.properties[slot].kind {
      ids = relationships[slot]?.added(among: gone) ?? []
    } else if hasLiveValues, case .objectID(let id)? = current(slot), gone.contains(id) {
      ids = [id]
    } else {
      return
    }
    guard !state.contains(.listed) else { return try ids.forEach { try detach($0, slot: slot) } }
    for id in ids {
      if let known = relationships[slot] {
        alter(id, of: known, slot: slot, because: .row) { $0.remove(id) }
      } else {
        put(.null, slot: slot, because: .row)
      }
    }
    context?.noteChange()
  }
}
