public import MoonbaseModel
import MoonbasePlatform

/// Rows of stores on their way into objects.
extension ManagedObjectContext {
  /// The object of a row that was just read. An object that is here already keeps its changes; one without takes the row.
  func object(for snapshot: Snapshot) throws -> ManagedObject {
    if let known = registered[snapshot.id]?.takeUnretainedValue() {
      known.takeRow(snapshot)
      return known
    }
    guard let entity = model.entity(of: snapshot.id) else {
      throw GraphError(
        .unknownName, message: "the model has no entity \(snapshot.id.entityName)", objectID: snapshot.id)
    }
    let object = try makeFault(snapshot.id, of: entity)
    object.takeRow(snapshot)
    return object
  }

  /// The objects of rows that were read. With `refreshing`, objects that have their values already take the new ones, with
  /// unsaved changes on top.
  func objects(for snapshots: [Snapshot], refreshing: Bool = false) throws -> [ManagedObject] {
    copyRowsOfSparsePages()
    coordinator.refreshRows(snapshots)
    if refreshing {
      for snapshot in snapshots { registered[snapshot.id]?.takeUnretainedValue().adopt(snapshot) }
    }
    try HostMemory.require(snapshots.count &* ManagedObject.ownWeight)
    // A row is held by the list until it is counted as its object's.
    var memory = HostMemory()
    try memory.hold(snapshots.reduce(0) { $0 &+ $1.weight })
    var result: [ManagedObject] = []
    result.reserveCapacity(snapshots.count)
    registered.reserveCapacity(snapshots.count)
    for snapshot in snapshots {
      try HostWork.charge()
      result.append(try object(for: snapshot))
      memory.release(snapshot.weight)
    }
    return result
  }

  /// The objects of IDs in their order, with their rows read many at a time. Those that are gone are left out.
  public func loadObjects(with ids: [ManagedObjectID]) throws -> [ManagedObject] {
    copyRowsOfSparsePages()
    let missing = ids.filter { !$0.isTemporaryID && registered[$0].map { $0.takeUnretainedValue().needsRow } ?? true }
    let loaded = try coordinator.snapshots(of: missing).map(object(for:))
    // Only this list may hold them yet.
    return withExtendedLifetime(loaded) { ids.compactMap { registeredObject(for: $0) }.filter { !$0.needsRow } }
  }

  /// How many rows are held together on their way into the row cache.
  private static let pageSize = 4096

  /// Reads rows that are not here yet into the row cache and into the faults that wait for them.
  func loadRows(of ids: [ManagedObjectID]) throws {
    copyRowsOfSparsePages()
    let missing = ids.filter { id in
      !id.isTemporaryID && registered[id].map { $0.takeUnretainedValue().snapshot == nil } ?? true
    }
    for start in stride(from: 0, to: missing.count, by: Self.pageSize) {
      let page = Array(missing[start..<min(start + Self.pageSize, missing.count)])
      for snapshot in try coordinator.snapshots(of: page) {
        registered[snapshot.id]?.takeUnretainedValue().takeRow(snapshot)
      }
    }
  }

  func storedDestinations(of object: ManagedObject, slot: Slot) throws -> [ManagedObjectID] {
    guard !object.objectID.isTemporaryID, !object.entity.properties[slot].isTransient else { return [] }
    if let ids = prefetched[PrefetchKey(id: object.objectID, slot: slot)] { return ids }
    return try coordinator.destinations(of: object.objectID, relationship: slot)
  }
}
