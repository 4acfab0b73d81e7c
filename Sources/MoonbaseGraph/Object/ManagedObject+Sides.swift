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

/// Lists and rows that were read at different times.
extension ManagedObjectContext {
  /// Unloads read lists that lack members which newer rows refer to. Called for all rows that a request reads.
  func tellLists(of rows: RowBatch) throws {
    guard readAhead.hasReadLists else { return }
    for stretch in rows.stretches {
      let page = stretch.page
      let entity = try entity(of: page.id(0))
      for slot in entity.slotsInLists where !entity.properties[slot].isTransient {
        guard let inverse = entity.properties[slot].relationship?.inverseSlot else { continue }
        for place in stretch.places {
          guard case .objectID(let id) = page.value(slot, of: place),
            let known = registered[id]?.takeUnretainedValue().relationships[inverse],
            known.isLoaded, !known.knows(page.id(place)), wouldAdoptRow(page.id(place))
          else { continue }
          registered[id]?.takeUnretainedValue().unload(known, slot: inverse)
        }
      }
    }
  }

  /// Whether an object would adopt a row that is read now, or is not registered. Its row cannot contradict a list in
  /// memory then.
  private func wouldAdoptRow(_ id: ManagedObjectID) -> Bool {
    guard let object = registered[id]?.takeUnretainedValue() else { return true }
    return object.isFault && !object.isDeleted
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

/// Queries for such objects.
extension ManagedObjectContext {
  /// The number of objects per query.
  private static let batch = 512

  /// The objects whose rows refer to an object.
  ///
  /// For a deleted object, the query also covers objects whose delete rules are applied next.
  fileprivate func storedPartners(of object: ManagedObject, slot: Slot) throws -> [ManagedObjectID] {
    func key(_ other: ManagedObject) -> PrefetchKey { PrefetchKey(id: other.objectID, slot: slot) }
    guard object.isDeleted, readAhead.prefetched[key(object)] == nil else {
      return try storedDestinations(of: object, slot: slot)
    }
    let waiting = deletions.toPropagate.prefix(Self.batch - 1).filter { other in
      other.entity === object.entity && !other.isInserted && other !== object
        && other.objectID.storeNumber == object.objectID.storeNumber
        && other.snapshot?.values[slot].hasNoDestination ?? true && readAhead.prefetched[key(other)] == nil
    }
    guard !waiting.isEmpty else { return try storedDestinations(of: object, slot: slot) }
    let all = [object] + waiting
    let lists = try source.destinations(of: all.map(\.objectID), relationship: slot, in: view)
    for (other, list) in zip(all, lists) { readAhead.prefetched.insert(list, for: key(other)) }
    try loadRows(of: Array(lists.joined()))
    return lists[0]
  }
}

/// Destinations of rows.
extension Value {
  /// Whether a row has no destination: the value is null or damaged.
  fileprivate var hasNoDestination: Bool { isNull || isDamage }
}
