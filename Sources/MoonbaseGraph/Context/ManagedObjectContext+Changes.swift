public import MoonbaseModel
import OrderedCollections

extension ManagedObjectContext {
  /// Makes a new object with the entity's default values.
  ///
  /// Throws for an unknown or abstract entity, and what an awake-from-insert hook throws.
  @discardableResult
  public func insert(_ entityName: String) throws -> ManagedObject { try insert(entity(entityName)) }

  /// Makes a new object and sets its properties. On an error the object is not inserted.
  @discardableResult
  public func insert(_ entityName: String, _ values: [String: Value]) throws -> ManagedObject {
    let object = try insert(entityName)
    do {
      for (key, value) in values { try object.setValue(value, forKey: key) }
    } catch {
      try delete(object)
      throw error
    }
    return object
  }

  package func insert(_ entity: ResolvedEntity) throws -> ManagedObject {
    try refuseWhileValidating("an object was inserted")
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, "\(entity.name) is abstract: insert one of its subentities", entity: entity.name)
    }
    let object = try makeObject(ManagedObjectID(temporaryFor: entity.symbol), entity)
    object.live = entity.initialValues
    object.state = .inserted
    list(object)
    changeCount &+= 1
    touchedObjects?.append(object)
    let behavior = try behavior(of: entity)
    if behavior.hasAwakeFromInsert {
      do {
        try withinHook { object.awakeFromInsert() }
        for entry in behavior.extensions { try object.run("awakeFromInsert", entry.awakeFromInsert) }
      } catch {
        try delete(object)
        throw error
      }
    }
    return object
  }

  /// Marks an object for deletion; delete rules are applied at the next save or `processPendingChanges`.
  ///
  /// A new object is forgotten once that has happened.
  public func delete(_ object: ManagedObject) throws {
    try requireOwn(object, "deleted")
    try refuseWhileValidating("an object was deleted")
    let behavior = try behavior(of: object.entity)
    try withinHook { object.prepareForDeletion() }
    for entry in behavior.extensions { try object.run("prepareForDeletion", entry.prepareForDeletion) }
    guard !object.isDeleted else { return }
    object.state.insert(.deleted)
    list(object)
    changeCount &+= 1
    touchedObjects?.append(object)
    deletionsToPropagate.append(object)
  }

  private func requireOwn(_ object: ManagedObject, _ participle: String) throws {
    if object.context === self { return }
    throw object.context == nil
      ? object.gone() : object.invalid("belongs to another context and cannot be \(participle) here")
  }

  /// Applies delete rules to objects deleted since the last time.
  public func processPendingChanges() throws {
    while !deletionsToPropagate.isEmpty {
      let object = deletionsToPropagate.removeLast()
      guard object.isDeleted, !object.state.contains(.propagated) else { continue }
      object.state.insert(.propagated)
      try DeletePropagation(object: object, context: self).run()
    }
    dropNewDeletedObjects()
  }

  /// New objects that were deleted before they were ever saved leave no trace.
  private func dropNewDeletedObjects() {
    guard changedObjects.contains(where: { $0.isInserted && $0.isDeleted }) else { return }
    let gone = changedObjects.filter { $0.isInserted && $0.isDeleted }
    changedObjects.removeAll { $0.isInserted && $0.isDeleted }
    for object in gone { disown(object, because: .deleted) }
  }

  /// The object is no longer of this context.
  private func disown(_ object: ManagedObject, because departure: ManagedObject.Departure) {
    registered[object.objectID] = nil
    object.state = []
    object.leave(because: departure)
  }

  /// Gives up all unsaved changes: new objects go, deleted ones return, changed ones become faults.
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook, and what a fault's hook throws.
  public func rollback() throws {
    try refuseWithinHooks("a rollback was asked for")
    deletionsToPropagate = []
    pendingErrors = []
    readObjects = []
    prefetched = [:]
    let objects = changedObjects
    changedObjects = []
    changeCount &+= 1
    for object in objects {
      let wasInserted = object.isInserted
      object.state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
      if wasInserted { disown(object, because: .rolledBack) } else { try object.turnIntoFault() }
    }
  }

  /// Forgets every object and every change. Objects that somebody still holds cannot be used any more.
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook.
  public func reset() throws {
    try refuseWithinHooks("a reset was asked for")
    deletionsToPropagate = []
    pendingErrors = []
    readObjects = []
    prefetched = [:]
    changedObjects = []
    changeCount &+= 1
    for object in registered.values { object.takeUnretainedValue().leave(because: .reset) }
    registered = IdentityMap()
  }

  /// Reads an object anew at its next access.
  ///
  /// With `mergeChanges` its unsaved changes stay on top of the new values; without, they are given up. A new object has nothing
  /// to be read and stays as it is. Throws for an object of another context, and `.recursiveSave` and `.contextBusy` within a hook.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
    try requireOwn(object, "refreshed")
    try refuseWithinHooks("a refresh was asked for")
    guard !object.isInserted else { return }
    changeCount &+= 1
    prefetched = [:]
    guard mergeChanges else {
      object.state.subtract([.updated, .deleted, .listed, .propagated])
      changedObjects.remove(object)
      try object.turnIntoFault()
      return
    }
    guard let snapshot = try coordinator.currentSnapshot(of: object.objectID) else {
      _ = try row(of: object.objectID)
      return
    }
    object.adopt(snapshot)
    object.state.remove(.born)
    object.relationships = object.relationships.filter { $0.value.hasChanges }
    for state in object.relationships.values { state.unload() }
  }
}
