import DequeModule
import MoonbaseModel
import MoonbasePlatform

/// One-to-one relationships that the store holds in one of the two rows only, as some writers leave them.
///
/// The other row has nothing there, and only the store can say who leads to it. It is asked where that matters: when such an
/// object is deleted, or the relationship gets another destination.
extension ManagedObject {
  /// The objects that lead here by the other side of a relationship that leads nowhere from here.
  final func oneSidedPartners(_ slot: Slot) throws -> [ManagedObject] {
    guard let inverse = entity.oneToOneInverse(of: slot), !isInserted, let context,
      try stored(slot).leadsNowhere, snapshot?.values[slot].leadsNowhere == true
    else { return [] }
    return try context.storedPartners(of: self, slot: slot).compactMap { id in
      try HostWork.charge()
      // Here it may lead elsewhere by now.
      guard let other = try context.objectIfPresent(with: id), try other.stored(inverse) == .objectID(objectID) else {
        return nil
      }
      return other
    }
  }
}

extension ManagedObjectContext {
  /// How many objects are asked for at a time.
  private static let batch = 512

  /// The objects whose rows lead to one. Of a deleted object it is asked together with those that wait beside it for their delete
  /// rules: these will be asked next.
  fileprivate func storedPartners(of object: ManagedObject, slot: Slot) throws -> [ManagedObjectID] {
    func key(_ other: ManagedObject) -> PrefetchKey { PrefetchKey(id: other.objectID, slot: slot) }
    guard object.isDeleted, prefetched[key(object)] == nil else {
      return try storedDestinations(of: object, slot: slot)
    }
    let waiting = deletionsToPropagate.prefix(Self.batch - 1).filter { other in
      other.entity === object.entity && !other.isInserted && other !== object
        && other.objectID.storeNumber == object.objectID.storeNumber
        && other.snapshot?.values[slot].leadsNowhere ?? true && prefetched[key(other)] == nil
    }
    guard !waiting.isEmpty else { return try storedDestinations(of: object, slot: slot) }
    let all = [object] + waiting
    let lists = try source.destinations(of: all.map(\.objectID), relationship: slot, in: view)
    for (other, list) in zip(all, lists) { prefetched.insert(list, for: key(other)) }
    try loadRows(of: Array(lists.joined()))
    return lists[0]
  }
}

extension Value {
  /// Whether a row says nothing of a destination: there is none, or what the row holds is none.
  fileprivate var leadsNowhere: Bool { isNull || isDamage }
}
