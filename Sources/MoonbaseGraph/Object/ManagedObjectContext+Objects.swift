import DequeModule
package import MoonbaseModel
import MoonbasePlatform

extension ManagedObjectContext {
  /// Inserts an object with the ID under which it will be saved, for a store that only the caller writes. The object
  /// keeps this ID when it is saved.
  package func insert(_ entity: ResolvedEntity, as id: ManagedObjectID) throws -> ManagedObject {
    let object = try insert(entity)
    object.setPermanentID(id)
    changedObjects.note(object)
    return object
  }

  /// An estimate of the bytes that the context's objects hold.
  package var objectWeight: Int { memory.weight }
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

/// Queries for such objects.
extension ManagedObjectContext {
  /// The number of objects per query.
  private static let batch = 512

  /// The objects whose rows refer to an object.
  ///
  /// For a deleted object, the query also covers objects whose delete rules are applied next.
  func storedPartners(of object: ManagedObject, slot: Slot) throws -> [ManagedObjectID] {
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

/// Objects with temporary IDs in unlisted values.
extension ManagedObjectContext {
  /// Objects that a rollback makes faults, because objects in their values leave. Changed objects become faults anyway.
  var objectsToFaultAtRollback: [ManagedObject] {
    var seen: Set<ObjectIdentifier> = []
    return writing.objectsWithTemporaryIDs.filter { object in
      object.context === self && !object.isFault && !object.state.contains(.listed)
        && seen.insert(ObjectIdentifier(object)).inserted
    }
  }

  /// Replaces temporary IDs in objects outside of the list of changes. Called when new objects get permanent IDs.
  func tellHoldersOfTemporaryIDs(_ permanent: PermanentIDs) {
    guard !permanent.isEmpty, !writing.objectsWithTemporaryIDs.isEmpty else { return }
    for object in writing.objectsWithTemporaryIDs { object.replaceTemporaryIDs(by: permanent) }
    // Some objects may still wait for objects that are not saved yet.
    let isDone = !changedObjects.contains { $0.isInserted }
    if isDone { writing.objectsWithTemporaryIDs = [] }
  }
}
