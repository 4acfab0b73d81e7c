import MoonbaseModel
import MoonbasePlatform

/// IDs and stores of new objects before they are saved.
extension ManagedObjectContext {
  /// Gives new objects the IDs that they will have in their stores, before they are saved; others have theirs already.
  ///
  /// The keys are set aside, and not used again if the objects are never saved. Throws for an object of another context,
  /// `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction, and what a store throws; then all
  /// IDs are as they were.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    try givePermanentIDs(to: objects) { [coordinator] in try coordinator.storeForNewObjects(of: $0) }
  }

  /// Says in which store a new object will be saved, of several that could take it. It gets its permanent ID there.
  ///
  /// Throws `.invalidObject` for an object that has its place in a store already, `.invalidRequest` for a store that is not here or
  /// does not hold the entity, `.readOnlyStore`, and what `obtainPermanentIDs` throws.
  public func assign(_ object: ManagedObject, to store: any PersistentStore) throws {
    settle()
    try requireOwn(object, participle: "assigned to a store")
    let path = store.url?.path ?? store.identifier
    guard coordinator.persistentStores.contains(where: { $0.identifier == store.identifier }) else {
      throw GraphError(.invalidRequest, message: "\(path) is no store of this context's coordinator: add it first")
    }
    let id = object.objectID
    guard id.isTemporaryID else {
      if id.storeNumber == StoreNumber(store.identifier).rawValue { return }
      throw object.invalid("has its ID in another store already: assign it before it is saved or gets a permanent ID")
    }
    let entity = object.entity
    guard coordinator.stores(holding: entity).contains(where: { $0.identifier == store.identifier }) else {
      throw GraphError(
        .invalidRequest, message: "\(path) does not hold \(entity.name): its configuration lacks it",
        entity: entity.name,
        objectID: id)
    }
    guard !store.isReadOnly else {
      throw GraphError(
        .readOnlyStore, message: "\(path) is read-only: \(store.writingAdvice)", entity: entity.name, objectID: id)
    }
    try givePermanentIDs(to: [object]) { _ in store }
  }

  private func givePermanentIDs(
    to objects: [ManagedObject], in store: (ResolvedEntity) throws -> any PersistentStore
  ) throws {
    settle()
    for object in objects { try requireOwn(object, participle: "given a permanent ID") }
    try refuseWithinHooks("permanent IDs were asked for")
    guard journal.isSettled else {
      throw GraphError(
        .invalidRequest, message: "permanent IDs were asked for within a transaction: ask before or after it")
    }
    var permanent = PermanentIDs(entityCount: model.entities.count)
    var new: [ManagedObject] = []
    var seen: Set<ObjectIdentifier> = []
    for object in objects where object.objectID.isTemporaryID && seen.insert(ObjectIdentifier(object)).inserted {
      new.append(object)
    }
    guard !new.isEmpty else { return }
    // A run of keys is one of an entity.
    for object in new { permanent.note(object.objectID, of: object.entity.index) }
    try permanent.assign { index, count in
      let entity = model.entities[index]
      return try SavePlan.reserveKeys(count, of: entity, in: store(entity))
    }
    undoManager?.prepareForNewIDs()
    observers.prepareForNewIDs()
    for object in new {
      guard let id = permanent[object.objectID] else { continue }
      undoManager?.noteID(id, after: object.objectID)
      object.takePermanentID(id)
    }
    for object in changedObjects.recent {
      object.replaceTemporaryIDs(by: permanent)
      changedObjects.note(object)
    }
    tellHoldersOfTemporaryIDs(permanent)
    forgetReadAhead()
    noteChange()
  }
}
