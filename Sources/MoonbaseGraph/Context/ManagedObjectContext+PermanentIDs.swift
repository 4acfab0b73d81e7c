import MoonbaseModel
import MoonbasePlatform

/// Permanent IDs and stores of new objects before a save.
extension ManagedObjectContext {
  /// Gives new objects their permanent IDs before they are saved; all other objects keep their IDs.
  ///
  /// The keys are reserved, and not reused if the objects are never saved. Throws for an object of another context,
  /// `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction, and the errors of a
  /// store. After an error all IDs are unchanged.
  public func obtainPermanentIDs(for objects: [ManagedObject]) throws {
    try givePermanentIDs(to: objects) { [coordinator] in try coordinator.storeForNewObjects(of: $0) }
  }

  /// Chooses the store of a new object, if several stores hold its entity, and gives the object its permanent ID there.
  ///
  /// Throws `.invalidObject` for an object with an ID in another store, `.invalidRequest` for a store that is not added
  /// or does not hold the entity, `.readOnlyStore`, and the errors of `obtainPermanentIDs`. The object may be assigned
  /// once. Later saves write it into this store.
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

  /// All keys are reserved before the first object changes. References to temporary IDs are replaced everywhere: in
  /// changed objects, in the undo manager and in observers.
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
    // Each run of keys belongs to one entity.
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
