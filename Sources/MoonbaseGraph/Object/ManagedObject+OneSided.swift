import DequeModule
import MoonbaseModel
import MoonbasePlatform

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
    guard object.isDeleted, prefetched[key(object)] == nil else {
      return try storedDestinations(of: object, slot: slot)
    }
    let waiting = deletionsToPropagate.prefix(Self.batch - 1).filter { other in
      other.entity === object.entity && !other.isInserted && other !== object
        && other.objectID.storeNumber == object.objectID.storeNumber
        && other.snapshot?.values[slot].hasNoDestination ?? true && prefetched[key(other)] == nil
    }
    guard !waiting.isEmpty else { return try storedDestinations(of: object, slot: slot) }
    let all = [object] + waiting
    let lists = try source.destinations(of: all.map(\.objectID), relationship: slot, in: view)
    for (other, list) in zip(all, lists) { prefetched.insert(list, for: key(other)) }
    try loadRows(of: Array(lists.joined()))
    return lists[0]
  }
}

/// Destinations of rows.
extension Value {
  /// Whether a row has no destination: the value is null or damaged.
  fileprivate var hasNoDestination: Bool { isNull || isDamage }
}
