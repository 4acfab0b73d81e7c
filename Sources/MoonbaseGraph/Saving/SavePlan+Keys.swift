package import MoonbaseModel
import MoonbasePlatform

/// The keys of new objects.
extension SavePlan {
  /// Reserves keys for all new objects, with one call for each entity.
  ///
  /// With `ofSessions`, a store that reserves keys within saves does so in the session that later writes, so that a
  /// failed save leaves the key counter unchanged. All sessions of the save begin before that, in the order that every
  /// save uses. All further stores reserve their keys before the first session begins: a save that holds a session
  /// waits only for the next store. Objects that have permanent IDs already are not counted. Throws errors of the
  /// stores, and `.invalidStore` for a damaged counter.
  mutating func assignPermanentIDs(_ source: NewKeys) throws {
    if case .none = source { return }
    context.changedObjects.forEachUnretained { pointer in
      pointer._withUnsafeGuaranteedRef { object in
        guard object.state.contains(.inserted), object.objectID.isTemporaryID else { return }
        permanent.note(object.objectID, of: object.table._withUnsafeGuaranteedRef { $0.entity.index })
      }
    }
    if permanent.isEmpty { return }
    if case .following(let store, let key) = source { return permanent.assign { _, _ in (store, key) } }
    let inSessions = if case .ofSessions = source { true } else { false }
    var keys: [EntityIndex: (store: StoreNumber, key: Int64)] = [:]
    var waiting: [(entity: ResolvedEntity, count: Int, store: any PersistentStore)] = []
    for (index, count) in permanent.counts {
      let entity = context.model.entities[index]
      let store = try context.coordinator.storeForNewObjects(of: entity)
      if inSessions, store.reservesKeysInSaves {
        waiting.append((entity, count, store))
      } else {
        keys[index] = try Self.reserveKeys(count, of: entity, in: store)
      }
    }
    if !waiting.isEmpty { try beginSessions(of: waiting.map(\.store)) }
    for (entity, count, store) in waiting {
      let session = begun[StoreNumber(store.identifier).rawValue]
      keys[entity.index] = try Self.reserveKeys(count, of: entity, in: store, by: session)
    }
    permanent.assign { index, _ in keys[index] ?? (StoreNumber(rawValue: 0), 0) }
  }

  /// Begins the sessions of stores with new objects, and of all other stores that the save may write or check. Sessions
  /// begin in the order of the store numbers.
  private func beginSessions(of new: [any PersistentStore]) throws {
    var stores: [UInt32: any PersistentStore] = [:]
    for store in new { stores[StoreNumber(store.identifier).rawValue] = store }
    if context.coordinator.persistentStores.count > stores.count {
      for objects in [Array(context.changedObjects), Array(context.retained.objectsToCheck)] {
        for object in objects where object.context === context && !object.objectID.isTemporaryID {
          let number = object.objectID.storeNumber
          // A store that is not open or is read-only causes an error later, if the save writes there.
          guard stores[number] == nil, let store = try? context.source.store(of: object.objectID), !store.isReadOnly
          else { continue }
          stores[number] = store
        }
      }
    }
    for (number, store) in stores.sorted(by: { $0.key < $1.key }) {
      try begun.begin(store, number: number, author: context.transactionAuthor)
    }
  }

  /// Reserves keys of a store for new objects, directly or as part of a session. Throws `.invalidStore` for a key that
  /// leaves no room.
  package static func reserveKeys(
    _ count: Int, of entity: ResolvedEntity, in store: any PersistentStore, by session: (any SaveSession)? = nil
  ) throws -> (store: StoreNumber, key: Int64) {
    let first =
      try session?.reserveKeys(for: entity, count: count) ?? store.reserveKeys(for: entity, count: count)
    guard first > 0, first <= Int64.max - Int64(count - 1) else { throw keysRunOut(first, of: entity, in: store) }
    return (StoreNumber(store.identifier), first)
  }

  /// The error for a store whose next key is invalid. The code is `.invalidStore`.
  package static func keysRunOut(_ first: Int64, of entity: ResolvedEntity, in store: any PersistentStore) -> GraphError
  {
    GraphError(
      .invalidStore,
      message:
        "\(store.name) gave \(first) as the next key of \(entity.name), which is none that keys can follow: its counter is damaged",
      entity: entity.name)
  }

  /// The permanent ID of an object; unchanged for permanent IDs. Valid after `assignPermanentIDs`.
  func permanentID(_ id: ManagedObjectID) -> ManagedObjectID {
    id.isTemporaryID ? permanent[id] ?? id : id
  }
}
