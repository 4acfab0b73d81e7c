import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// Consistency of the two sides of a relationship that were read at different times, while other contexts saved.
///
/// If the sides contradict each other, one is outdated. A side that was just read is newer than a known side; of two
/// known sides both are read again. Unsaved changes stay on top. An object that the next save writes keeps its row, so
/// that the save finds the conflict.
extension ManagedObject {
  /// Whether a slot is a to-many relationship that the store keeps. Nothing is read.
  final func isList(_ slot: Slot) -> Bool {
    guard case .toMany = entity.properties[slot].kind else { return false }
    return !entity.properties[slot].isTransient
  }

  /// After a list was read, updates members whose older state contradicts the list. Throws errors of the store.
  final func renewOlderSides(of saved: [ManagedObjectID], slot: Slot) throws {
    guard let context, let relationship = entity.properties[slot].relationship, isList(slot),
      let inverse = relationship.inverseSlot
    else { return }
    guard !relationship.isManyToMany else {
      for id in saved {
        guard let other = context.registered[id]?.takeUnretainedValue(), let theirs = other.relationships[inverse],
          theirs.isLoaded, !theirs.knows(objectID)
        else { continue }
        other.unload(theirs, slot: inverse)
      }
      return
    }
    context.readAhead.hasReadLists = true
    let older = saved.filter {
      context.registered[$0]?.takeUnretainedValue().leads(by: inverse, elsewhereThan: self) == true
    }
    guard !older.isEmpty else { return }
    for row in try context.source.snapshots(of: older) {
      guard let member = context.registered[row.id]?.takeUnretainedValue(), !member.isWritten,
        let known = member.snapshot, known.version < row.version
      else { continue }
      member.adopt(row)
    }
  }

  /// Unloads a list without an object that refers to this one and is about to refer elsewhere.
  ///
  /// The list was read before another context saved the object. After reading it again, values that were computed from
  /// it are computed again.
  final func forgetOlderList(without id: ManagedObjectID, slot: Slot) {
    guard !id.isTemporaryID, isList(slot), let known = relationships[slot], known.isLoaded, !known.knows(id) else {
      return
    }
    unload(known, slot: slot)
  }

  /// Unloads the inverse lists of a many-to-many list that is unloaded. The pairs are in no row, so they are of the
  /// same age.
  final func forgetInverseLists(of known: ToManyState, slot: Slot) {
    guard known.isLoaded, let relationship = entity.properties[slot].relationship, relationship.isManyToMany,
      let inverse = relationship.inverseSlot
    else { return }
    for id in known.members {
      guard let other = context?.registered[id]?.takeUnretainedValue(), let theirs = other.relationships[inverse],
        theirs.isLoaded
      else { continue }
      other.unload(theirs, slot: inverse)
    }
  }

  /// Unloads a list before an access if an object moved between unknown lists since it was read.
  @inline(__always)
  final func forgetIfOlder(_ known: ToManyState, slot: Slot) {
    guard let context, known.untrackedMoves != context.counters.untrackedMoves, known.isLoaded else { return }
    if isList(slot), !objectID.isTemporaryID { unload(known, slot: slot) }
  }

  /// Whether the object's row, without an unsaved change, has another destination. The row alone is compared.
  private func leads(by slot: Slot, elsewhereThan other: ManagedObject) -> Bool {
    page != nil && !isDeleted && !changed.contains(slot) && !pointsAt(other, slot: slot)
  }

  /// Reads both sides again before a member is added or removed, if they disagree about its membership.
  ///
  /// A change of one side alone would be lost. Throws `.objectNotFound` if the destination is gone.
  final func readAnew(_ destination: ManagedObject, leadingHere inverse: Slot, slot: Slot) throws {
    guard isList(slot) else { return }
    guard case .toOne = destination.entity.properties[inverse].kind else {
      guard let mine = relationships[slot], let theirs = destination.relationships[inverse], mine.isLoaded,
        theirs.isLoaded, mine.contains(destination.objectID) != theirs.contains(objectID)
      else { return }
      unload(mine, slot: slot)
      return destination.unload(theirs, slot: inverse)
    }
    guard !destination.changed.contains(inverse) else { return }
    let isListed = relationships[slot]?.contains(destination.objectID) == true
    guard try (destination.stored(inverse) == .objectID(objectID)) != isListed else { return }
    if destination.snapshot != nil, try destination.adoptCurrentRow() == nil {
      _ = try context?.source.currentRow(of: destination.objectID)
    }
    if let known = relationships[slot], try (destination.stored(inverse) == .objectID(objectID)) != isListed {
      unload(known, slot: slot)
    }
  }

  /// Whether a list without a destination contains it after both sides are read again, which happens if the sides
  /// disagree.
  final func hasMemberAfterAll(_ id: ManagedObjectID, slot: Slot) throws -> Bool {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot,
      let destination = context?.registered[id]?.takeUnretainedValue(), !destination.isDeleted,
      try context?.isGone(destination) == false
    else { return false }
    try readAnew(destination, leadingHere: inverse, slot: slot)
    return try hasMember(id, slot: slot)
  }

  /// Reads rows again before a to-one relationship is set.
  ///
  /// The object's row may be older than the new destination's list. In a one-to-one relationship, either row may be
  /// outdated. Throws errors of the store.
  final func readAnew(leadingTo coming: ManagedObject?, slot: Slot) throws {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot, let coming, !changed.contains(slot),
      !entity.properties[slot].isTransient
    else { return }
    guard coming.isList(inverse) else { return try readAnew(bothRowsOf: coming, slot: slot, inverse: inverse) }
    guard let known = coming.relationships[inverse], known.isLoaded, !known.contains(objectID),
      try stored(slot) == .objectID(coming.objectID)
    else { return }
    _ = try adoptCurrentRow()
    if pointsAt(coming, slot: slot) { coming.unload(known, slot: inverse) }
  }

  /// For a one-to-one relationship.
  private func readAnew(bothRowsOf other: ManagedObject, slot: Slot, inverse: Slot) throws {
    guard !other.changed.contains(inverse),
      try (stored(slot) == .objectID(other.objectID)) != (other.stored(inverse) == .objectID(objectID))
    else { return }
    _ = try adoptCurrentRow()
    _ = try other.adoptCurrentRow()
  }
}

/// Relationships with lists on the other side.
extension ResolvedEntity {
  /// The to-one relationships whose inverses are lists.
  var slotsInLists: [Slot] { toOneSlots.filter { properties[$0].relationship?.isInverseToMany == true } }
}

/// Relationships between two single objects that only one of the two rows contains, as some programs write them.
///
/// The other row is null, and only the store can find the object that refers to it. The store is queried when such an
/// object is deleted, or when the relationship gets another destination.
extension ManagedObject {
  /// The objects that refer to this object by the inverse of a relationship which is null here. Empty for a new object.
  final func oneSidedPartners(_ slot: Slot) throws -> [ManagedObject] {
    guard let inverse = entity.oneToOneInverse(of: slot), !isInserted, let context,
      try stored(slot).hasNoDestination, snapshot?.values[slot].hasNoDestination == true
    else { return [] }
    return try context.storedPartners(of: self, slot: slot).compactMap { id in
      try HostWork.charge()
      // The object may refer elsewhere by now.
      guard let other = try context.objectIfPresent(with: id), try other.stored(inverse) == .objectID(objectID) else {
        return nil
      }
      return other
    }
  }
}

/// Destinations of rows.
extension Value {
  /// Whether a row has no destination: the value is null or damaged.
  var hasNoDestination: Bool { isNull || isDamage }
}
