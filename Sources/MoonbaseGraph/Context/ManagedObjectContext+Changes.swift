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
    guard !entity.isAbstract else {
      throw GraphError(
        .invalidRequest, "\(entity.name) is abstract: insert one of its subentities", entity: entity.name)
    }
    let object = try makeObject(ManagedObjectID(temporaryFor: entity.symbol), entity)
    object.live = entity.initialValues
    object.state = .inserted
    list(object)
    changeCount &+= 1
    let behavior = try behavior(of: entity)
    if behavior.hasAwakeFromInsert {
      do {
        object.awakeFromInsert()
        for entry in behavior.extensions { try entry.awakeFromInsert?(object) }
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
    guard object.context === self else { throw object.invalid("belongs to another context and cannot be deleted here") }
    let behavior = try behavior(of: object.entity)
    object.prepareForDeletion()
    for entry in behavior.extensions { try entry.prepareForDeletion?(object) }
    guard !object.isDeleted else { return }
    object.state.insert(.deleted)
    list(object)
    changeCount &+= 1
    deletionsToPropagate.append(object)
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
    for object in gone { disown(object) }
  }

  /// The object is no longer of this context.
  func disown(_ object: ManagedObject) {
    registered[object.objectID] = nil
    object.state = []
    object.context = nil
  }

  /// Gives up all unsaved changes: new objects go, deleted ones return, changed ones become faults.
  public func rollback() throws {
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
      if wasInserted { disown(object) } else { try object.turnIntoFault() }
    }
  }

  /// Forgets every object and every change. Objects that somebody still holds cannot be used any more.
  public func reset() {
    deletionsToPropagate = []
    pendingErrors = []
    readObjects = []
    prefetched = [:]
    changedObjects = []
    changeCount &+= 1
    for object in registered.values { object.takeUnretainedValue().context = nil }
    registered = [:]
  }

  /// Reads an object anew at its next access.
  ///
  /// With `mergeChanges` its unsaved changes stay on top of the new values; without, they are given up.
  public func refresh(_ object: ManagedObject, mergeChanges: Bool) throws {
    guard object.context === self, !object.isInserted else { return }
    changeCount &+= 1
    prefetched = [:]
    guard mergeChanges else {
      object.state.subtract([.updated, .deleted, .listed, .propagated])
      changedObjects.removeAll { $0 === object }
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
