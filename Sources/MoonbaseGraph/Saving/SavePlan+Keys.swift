import MoonbaseModel
import MoonbasePlatform

/// The keys that new objects get.
extension SavePlan {
  /// Sets keys aside for all new objects, with one call for each entity.
  ///
  /// `ofSessions`: a store that sets keys aside within its saves does so in the session that will write: what fails leaves its counter as it was. All
  /// sessions of the save begin for that, in the order in which every save takes stores. Other stores are asked before: who holds a
  /// session waits for nobody but the store of the next one.
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

  /// Begins the sessions of stores with new objects, and of all others that the save may write or look at.
  private func beginSessions(of new: [any PersistentStore]) throws {
    var stores: [UInt32: any PersistentStore] = [:]
    for store in new { stores[StoreNumber(store.identifier).rawValue] = store }
    if context.coordinator.persistentStores.count > stores.count {
      for objects in [Array(context.changedObjects), Array(context.objectsToCheck)] {
        for object in objects where object.context === context && !object.objectID.isTemporaryID {
          let number = object.objectID.storeNumber
          // One that is not open, or only read, is an error where something is to be written there.
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

  /// Sets keys of a store aside for new objects, by themselves or with the commit of a session.
  static func reserveKeys(
    _ count: Int, of entity: ResolvedEntity, in store: any PersistentStore, by session: (any SaveSession)? = nil
  ) throws -> (store: StoreNumber, key: Int64) {
    let first =
      try session?.reserveKeys(for: entity, count: count) ?? store.reserveKeys(for: entity, count: count)
    guard first > 0, first <= Int64.max - Int64(count - 1) else { throw keysRunOut(first, of: entity, in: store) }
    return (StoreNumber(store.identifier), first)
  }

  static func keysRunOut(_ first: Int64, of entity: ResolvedEntity, in store: any PersistentStore) -> GraphError {
    GraphError(
      .invalidStore,
      message:
        "\(store.url?.path ?? "store \(store.identifier)") gave \(first) as the next key of \(entity.name), which is none that keys can follow: its counter is damaged",
      entity: entity.name)
  }

  func permanentID(_ id: ManagedObjectID) -> ManagedObjectID {
    id.isTemporaryID ? permanent[id] ?? id : id
  }
}
