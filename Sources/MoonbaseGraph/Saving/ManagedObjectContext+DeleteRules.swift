import DequeModule
package import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Delete rules.
extension ManagedObjectContext {
  /// Applies the delete rules of recently deleted objects, and closes the undo group of the event
  /// (`UndoManager.groupsByEvent`).
  ///
  /// Throws the errors of hooks and stores; rules that were not applied are applied at the next call.
  public func processPendingChanges() throws {
    try checkOpen()
    defer { followExtensions() }
    try mergeNews()
    try applyDeleteRulesOfEvent()
    undoManager?.endEvent()
    endChangeEvent()
  }

  /// Applies delete rules, unless they are left to the save. By `propagatesDeletesAtEndOfEvent`.
  package func applyDeleteRulesOfEvent() throws {
    if propagatesDeletesAtEndOfEvent { try applyDeleteRules() }
  }

  /// Applies the delete rules of all waiting objects, and then notifies observers. Observers see all deletions at once.
  package func applyDeleteRules() throws {
    defer { tellObservers() }
    try observations.observers.holding { try propagateDeletions() }
  }

  /// Applies the delete rules of waiting objects, including objects that cascades add. After an error the failed object
  /// is the first to be tried again.
  private func propagateDeletions() throws {
    guard !deletions.toPropagate.isEmpty else { return try dropNewDeletedObjects() }
    running.propagationCount &+= 1
    running.propagationDepth += 1
    defer { running.propagationDepth -= 1 }
    var ahead = DeletionPrefetch(self)
    while !deletions.toPropagate.isEmpty {
      try HostWork.charge()
      // Level by level, so that the destinations of each level are read together.
      let object = deletions.toPropagate.removeFirst()
      guard object.isDeleted, !object.state.contains(.propagated) else { continue }
      try propagateDeletion(of: object, &ahead)
    }
    try dropNewDeletedObjects()
  }

  /// Puts the object back after an error.
  private func propagateDeletion(of object: ManagedObject, _ ahead: inout DeletionPrefetch) throws {
    do {
      try object.propagating {
        // If another context deleted the row, its rules were applied there.
        let destinations = try ahead.destinations(of: object)
        if try !isGone(object) { try DeletePropagation(object: object, context: self, ahead: destinations).run() }
      }
    } catch {
      deletions.toPropagate.prepend(object)
      throw error
    }
  }

  /// Removes new objects that were deleted before their first save, after their delete rules have run. An object that a
  /// deny rule keeps stays and fails the save. References to them are cleared before. An undo may bring them back.
  func dropNewDeletedObjects() throws {
    guard !deletions.newObjects.isEmpty else { return }
    // An object that undo brought back may be in the list twice.
    var (going, staying): (OrderedSet<ManagedObject>, ContiguousArray<ManagedObject>) = ([], [])
    for object in deletions.newObjects
    where object.context === self && object.state.isSuperset(of: [.inserted, .deleted]) {
      if try object.state.contains(.departing) || isDenied(object) {
        staying.append(object)
      } else {
        going.append(object)
      }
    }
    // The objects still have their values and are registered: undo first brings them back.
    for object in going { try releaseDestinations(of: object) }
    try UnclearedReferences.cut(toNew: going, in: self)
    deletions.newObjects = staying
    for object in going {
      let mayReturn = journal.records(object)
      record(.presence(object.state, position: object.changePosition), of: object, silently: true)
      changedObjects.remove(object, keepingPlaces: journal.isActive)
      disown(object, because: .deleted, mayReturn: mayReturn)
      if !mayReturn { deletions.unclearedReferences.forget(object) }
    }
  }

  /// Whether a deleted object has destinations for which a deny rule keeps it. Reads the destinations if necessary.
  func isDenied(_ object: ManagedObject) throws -> Bool { try keeper(of: object) != nil }

  /// A destination for which a deny rule keeps the object; nil if there is none. For messages and for leaving objects
  /// in the context.
  package func keeper(of object: ManagedObject) throws -> ManagedObjectID? {
    for slot in try behavior(of: object.entity).denyingSlots {
      if let keeper = try object.remainingDestinations(slot).first { return keeper }
    }
    return nil
  }

  /// Removes a deleted new object from the inverse relationships that no rule cleared, because it will have no row to
  /// point at. Only registered owners have such references.
  private func releaseDestinations(of object: ManagedObject) throws {
    let own: Set = [object.objectID]
    for slot in object.entity.toOneSlots + object.entity.toManySlots {
      guard let inverse = object.entity.properties[slot].relationship?.inverseSlot else { continue }
      for id in try object.destinationIDs(slot) {
        try registeredObject(for: id)?.release(own, slot: inverse)
      }
    }
  }
}

/// Stored attributes of a context.
extension ManagedObjectContext {
  /// Whether saves compute any attribute.
  package var hasStoredAttributes: Bool { !knownStoredInputs.isEmpty }

  /// Computed once from the model and the registry.
  private var knownStoredInputs: StoredInputs {
    let inputs = derivations.stored.inputs ?? StoredInputs(model, registry: extensionRegistry)
    derivations.stored.inputs = inputs
    return inputs
  }

  /// Computes the stored attributes of changed objects, and of objects that depend on these. Throws errors of computing
  /// and of the store.
  func keepStoredAttributes(after changed: [ManagedObject]...) throws {
    let inputs = knownStoredInputs
    guard !inputs.isEmpty else { return }
    var propagation = StoredPropagation(self, inputs: inputs)
    let lists = changed.filter { !$0.isEmpty }
    var objects = DistinctObjects()
    for list in lists { objects.append(distinct: list) }
    try propagation.run(after: objects.elements.filter { try $0.context === self && !isGone($0) })
  }

  /// The objects from which a path of relationships reaches one of the given objects, without duplicates. A circular
  /// path is followed step by step. Rows are read together.
  func owners(of objects: [ManagedObject], along path: [ResolvedProperty]) throws -> [ManagedObject] {
    var current = objects
    for property in path.reversed() {
      guard let relationship = property.relationship else { return [] }
      let destination = model.destination(of: relationship)
      // Many members may share an owner, which is visited once.
      var owners: OrderedSet<ManagedObject> = []
      for object in current where object.entity.isKind(of: destination) {
        try HostWork.charge()
        owners.append(contentsOf: try self.owners(of: object, through: property, relationship))
      }
      current = owners.elements
    }
    return current.filter { !$0.isDeleted }
  }

  /// The objects that have an object as a destination of a relationship. Throws errors of the store.
  private func owners(
    of object: ManagedObject, through property: ResolvedProperty, _ relationship: ResolvedRelationship
  ) throws -> [ManagedObject] {
    guard let inverse = relationship.inverseSlot else { return try pointing(at: object, along: property) }
    let ids = try object.objectIDs(forRelationshipNamed: object.entity.property(at: inverse).name)
    noteInput(object, inverse)
    try loadRows(of: ids)
    return try ids.compactMap { id in
      try HostWork.charge()
      return try objectIfPresent(with: id)
    }
  }

  /// The objects that point at an object by a relationship without an inverse, found by a fetch. A transient
  /// relationship is not searched.
  private func pointing(at object: ManagedObject, along property: ResolvedProperty) throws -> [ManagedObject] {
    guard !property.isTransient else { return [] }
    var request = FetchRequest(model.entities[property.declaringEntity].name)
    let isToMany = property.relationship?.isToMany == true
    request.predicate = .comparison(
      .init(
        .keyPath(property.name), .equal, .constant(.objectID(object.objectID)), modifier: isToMany ? .any : .direct))
    return try fetch(request)
  }
}
