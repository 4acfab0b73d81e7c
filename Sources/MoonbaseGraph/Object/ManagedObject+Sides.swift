import MoonbaseModel
import MoonbasePlatform

/// The two sides of a relationship, read at different times while others saved.
///
/// Where they contradict each other one of the two is old. What was read just now is newer than what was here; of two that were
/// here both are read anew. Unsaved changes stay on top, and an object that the next save writes keeps its row, so that the save
/// finds the conflict.
extension ManagedObject {
  /// Whether a slot is that of a to-many relationship of which the store knows.
  final func isList(_ slot: Slot) -> Bool {
    guard case .toMany = entity.properties[slot].kind else { return false }
    return !entity.properties[slot].isTransient
  }

  /// A list was read: what was here before of its members, and says that they are none, is older.
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
    context.hasReadLists = true
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

  /// Forgets a list that lacks an object which leads here and is about to lead elsewhere. The list was read before
  /// another context saved the object; when it is read anew, values that are computed from it follow.
  final func forgetOlderList(without id: ManagedObjectID, slot: Slot) {
    guard !id.isTemporaryID, isList(slot), let known = relationships[slot], known.isLoaded, !known.knows(id) else {
      return
    }
    unload(known, slot: slot)
  }

  /// Forgets the inverse lists of a many-to-many list that is forgotten: pairs lie in no row, so that these are as old.
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

  /// A list is about to be looked at: where an object moved unseen since it was read, it is read anew.
  @inline(__always)
  final func forgetIfOlder(_ known: ToManyState, slot: Slot) {
    guard let context, known.unseenMoves != context.unseenMoves, known.isLoaded else { return }
    if isList(slot), !objectID.isTemporaryID { unload(known, slot: slot) }
  }

  /// Whether a row is here that leads elsewhere, without being changed.
  private func leads(by slot: Slot, elsewhereThan other: ManagedObject) -> Bool {
    page != nil && !isDeleted && !changed.contains(slot) && !pointsAt(other, slot: slot)
  }

  /// An object is about to join a list or to leave it, and the two sides do not agree whether it is there. To change one of them
  /// alone would be lost.
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
    if destination.snapshot != nil, try destination.takeCurrentRow() == nil {
      _ = try context?.source.currentRow(of: destination.objectID)
    }
    if let known = relationships[slot], try (destination.stored(inverse) == .objectID(objectID)) != isListed {
      unload(known, slot: slot)
    }
  }

  /// Whether a list that lacks a destination has it when both sides are read anew, as they are where that one says so.
  final func hasMemberAfterAll(_ id: ManagedObjectID, slot: Slot) throws -> Bool {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot,
      let destination = context?.registered[id]?.takeUnretainedValue(), !destination.isDeleted,
      try context?.isGone(destination) == false
    else { return false }
    try readAnew(destination, leadingHere: inverse, slot: slot)
    return try hasMember(id, slot: slot)
  }

  /// A to-one relationship is about to be set: the row of this object may be older than the list of the one that it is to lead to, or
  /// one of the two rows of a one-to-one relationship older than the other.
  final func readAnew(leadingTo coming: ManagedObject?, slot: Slot) throws {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot, let coming, !changed.contains(slot),
      !entity.properties[slot].isTransient
    else { return }
    guard coming.isList(inverse) else { return try readAnew(bothRowsOf: coming, slot: slot, inverse: inverse) }
    guard let known = coming.relationships[inverse], known.isLoaded, !known.contains(objectID),
      try stored(slot) == .objectID(coming.objectID)
    else { return }
    _ = try takeCurrentRow()
    if pointsAt(coming, slot: slot) { coming.unload(known, slot: inverse) }
  }

  private func readAnew(bothRowsOf other: ManagedObject, slot: Slot, inverse: Slot) throws {
    guard !other.changed.contains(inverse),
      try (stored(slot) == .objectID(other.objectID)) != (other.stored(inverse) == .objectID(objectID))
    else { return }
    _ = try takeCurrentRow()
    _ = try other.takeCurrentRow()
  }
}

extension ManagedObjectContext {
  /// Rows were read: lists that were read before learn of members that came since.
  func tellLists(of rows: RowBatch) throws {
    guard hasReadLists else { return }
    for stretch in rows.stretches {
      let page = stretch.page
      let entity = try entity(of: page.id(0))
      for slot in entity.slotsInLists where !entity.properties[slot].isTransient {
        guard let inverse = entity.properties[slot].relationship?.inverseSlot else { continue }
        for place in stretch.places {
          guard case .objectID(let id) = page.value(slot, of: place),
            let known = registered[id]?.takeUnretainedValue().relationships[inverse],
            known.isLoaded, !known.knows(page.id(place)), takesRows(page.id(place))
          else { continue }
          registered[id]?.takeUnretainedValue().unload(known, slot: inverse)
        }
      }
    }
  }

  /// Whether the object of an ID is, or will be, as a row that is read now says.
  private func takesRows(_ id: ManagedObjectID) -> Bool {
    guard let object = registered[id]?.takeUnretainedValue() else { return true }
    return object.isFault && !object.isDeleted
  }
}

extension ResolvedEntity {
  /// The to-one relationships of which lists of other objects tell too.
  var slotsInLists: [Slot] { toOneSlots.filter { properties[$0].relationship?.isInverseToMany == true } }
}
