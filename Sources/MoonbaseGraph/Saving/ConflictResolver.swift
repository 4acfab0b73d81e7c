import MoonbaseModel

/// Resolves the conflicts of a save by the merge policy of its context, so that the save can be repeated.
///
/// Every change goes through the journal, so that a save that still fails undoes it.
///
/// Made by `SaveOperation` for each attempt with conflicts. The policy decides for each conflict
/// (`MergePolicy.Resolution`), and the resolver changes the objects accordingly; the save then runs again with all its
/// rules. Confined to the executor of the context.
struct ConflictResolver {
  /// The context of the save.
  let context: ManagedObjectContext
  /// New objects of the save, by their reserved permanent IDs.
  let new: [ManagedObjectID: ManagedObject]

  /// Resolves conflicts. Returns false if nothing changed, so that repeating the save would fail in the same way.
  /// Throws `failure` if the policy does not resolve a conflict. The conflicts are resolved in order. The policy is
  /// called as a hook, so that it cannot save.
  func resolve(_ conflicts: [SaveConflict], or failure: any Error) throws -> Bool {
    let count = context.journal.count
    let versions = versions(of: conflicts)
    for conflict in conflicts.map(oriented) {
      guard let object = try object(conflict.objectID) ?? owner(conflict) else { throw failure }
      // An earlier conflict may have removed the object.
      guard object.context === context else { continue }
      let resolution = try context.withinHook {
        try context.mergePolicy.resolve(MergeConflict(conflict, of: object))
      }
      if case .error = resolution { throw failure }
      guard try resolve(conflict, of: object, by: resolution) else { throw failure }
    }
    return context.journal.all.dropFirst(count).contains { $0.mayResolve }
      || versions != self.versions(of: conflicts)
  }

  /// The versions of the rows of conflicting objects. They show whether an unchanged object got a newer row, which the
  /// journal does not record.
  private func versions(of conflicts: [SaveConflict]) -> [Int64?] {
    conflicts.flatMap { conflict in
      [conflict.objectID, conflict.otherID].map { $0.flatMap { object($0) }?.snapshot?.version }
    }
  }

  /// The registered object of an ID, which may be the reserved ID of a new object.
  func object(_ id: ManagedObjectID) -> ManagedObject? { new[id] ?? context.registeredObject(for: id) }

  /// Registers the object of the conflicting row if it is not in the context yet.
  private func owner(_ conflict: SaveConflict) throws -> ManagedObject? {
    if case .destinationIsRemoved = conflict.kind { return try context.existingObject(with: conflict.objectID) }
    return nil
  }

  /// Resolves one conflict; returns false if the resolution does not apply to it. Throws errors of setting values and
  /// of refreshing.
  private func resolve(
    _ conflict: SaveConflict, of object: ManagedObject, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    switch conflict.kind {
    case .changed: return try resolveChange(of: object, found: conflict.foundRow, by: resolution)
    case .deleted: return try resolveDeletion(of: object, by: resolution)
    case .destinationIsGone(let relationship, let id):
      if case .rollback = resolution, !object.isInserted { return try discardChanges(object) }
      guard try release(id, from: object, relationship) else { return false }
      try setValues(of: resolution, in: object)
    case .destinationWasAdded:
      guard object.isDeleted else { return false }
      if resolution.isForStore { return try discardChanges(object) }
      try context.refresh(object, mergeChanges: true)
    case .destinationIsRemoved(let relationship, let id):
      guard resolution.isForStore else {
        if !object.isInserted, !object.isDeleted { try context.refresh(object, mergeChanges: true) }
        guard try release(id, from: object, relationship) else { return false }
        try setValues(of: resolution, in: object)
        return true
      }
      guard let other = self.object(id), !other.isInserted else { return false }
      return try discardChanges(other)
    case .destinationIsLinkedElsewhere(let relationship, let id):
      if case .rollback = resolution, !object.isInserted { return try discardChanges(object) }
      guard try lead(object, to: id, relationship, anyhow: !resolution.isForStore) else { return false }
      try setValues(of: resolution, in: object)
    case .sameValues(let properties, let id):
      return try resolveSameValues(properties, of: object, and: id, by: resolution)
    }
    return true
  }

  /// Applies the values of a policy that states them.
  private func setValues(of resolution: MergePolicy.Resolution, in object: ManagedObject) throws {
    guard case .values(let values) = resolution else { return }
    for (key, value) in values { try object.setValue(value, forKey: key) }
  }

  /// Discards all changes of an object. A deleted object returns. Always true, for use as a result.
  func discardChanges(_ object: ManagedObject) throws -> Bool {
    try context.refresh(object, mergeChanges: false)
    return true
  }

  // MARK: Rows that others saved

  /// Resolves a conflict in which another context saved the row. The object gets the newer row first, and the winning
  /// values are then set.
  private func resolveChange(
    of object: ManagedObject, found: Snapshot?, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    if case .rollback = resolution { return try discardChanges(object) }
    let row = try found ?? context.source.currentRow(of: object.objectID)
    guard !object.isDeleted else {
      switch resolution {
      case .storeTrumps: return try discardChanges(object)
      case .objectTrumps, .overwrite:
        try context.merge(row, into: object, because: .mergePolicy)
        return true
      default: return false
      }
    }
    switch resolution {
    case .storeTrumps:
      for slot in slots(of: object) where object.changed.contains(slot) && differs(object.snapshot, row, slot) {
        try revert(slot, of: object, to: row)
      }
      try context.merge(row, into: object, because: .mergePolicy)
    case .overwrite:
      let former = slots(of: object).filter { slot in
        !object.isDamaged(slot) && !row.cell(slot).isSame(as: object.current(slot) ?? .null)
      }
      .map { (slot: $0, value: object.current($0) ?? .null) }
      try context.merge(row, into: object, because: .mergePolicy)
      for (slot, value) in former { try set(value, slot: slot, of: object) }
    case .values:
      try context.merge(row, into: object, because: .mergePolicy)
      try setValues(of: resolution, in: object)
    default: try context.merge(row, into: object, because: .mergePolicy)
    }
    return true
  }

  /// The slots that are stored in a row and can be set. Attributes and to-one relationships, without derived and
  /// transient ones.
  func slots(of object: ManagedObject) -> [Slot] {
    object.entity.properties.compactMap { property in
      if property.isTransient || property.isDerived { return nil }
      if case .toMany = property.kind { return nil }
      return property.slot
    }
  }

  /// Whether the store changed a value.
  private func differs(_ old: Snapshot?, _ row: Snapshot, _ slot: Slot) -> Bool {
    old.map { !$0.cell(slot).isSame(as: row.values[slot]) } ?? true
  }

  /// Discards the change of a slot in favour of a newer row that is about to be adopted. The attribute keeps no change.
  private func revert(_ slot: Slot, of object: ManagedObject, to row: Snapshot) throws {
    if object.entity.properties[slot].relationship != nil { return try set(row.values[slot], slot: slot, of: object) }
    object.giveUpChange(slot)
  }

  /// Sets a stored value or destination of an object through the journal. Data of tokens is read first.
  func set(_ value: Value, slot: Slot, of object: ManagedObject) throws {
    guard let relationship = object.entity.properties[slot].relationship else {
      return try object.setStoredValue(object.loaded(value, slot: slot), slot: slot)
    }
    var destination: ManagedObject?
    // A deleted object cannot be a destination.
    if case .objectID(let id) = value { destination = try context.objectIfPresent(with: id) }
    if destination?.isDeleted == true { destination = nil }
    try object.setDestination(destination?.objectID, slot: slot, relationship: relationship)
  }

  /// Resolves a conflict in which another context deleted the row. An object deleted here stays deleted. Throws the
  /// errors of turning the object into a fault.
  private func resolveDeletion(of object: ManagedObject, by resolution: MergePolicy.Resolution) throws -> Bool {
    guard object.isDeleted || resolution.isForStore else { return false }
    try giveUpRow(of: object)
    return true
  }

  /// Deletes the object with this save, without a change for the store. Related objects react as to any deletion.
  private func giveUpRow(of object: ManagedObject) throws {
    context.source.forgetRows(of: [object.objectID])
    try context.turnIntoFault(object)
    context.markDeleted(object)
  }

  // MARK: Relationships

  /// Removes a destination that is deleted or linked elsewhere from a relationship. Returns false for a deleted object.
  private func release(_ id: ManagedObjectID, from object: ManagedObject, _ name: String) throws -> Bool {
    guard !object.isDeleted, let slot = object.entity.slot(name),
      let relationship = object.entity.properties[slot].relationship
    else { return false }
    let known = self.object(id)?.objectID ?? id
    if relationship.isToMany {
      if try object.hasMember(known, slot: slot) { try object.removeMember(known, slot: slot) }
    } else if try object.stored(slot) == .objectID(known) {
      try object.setDestination(nil, slot: slot, relationship: relationship)
    }
    return true
  }

  /// Resolves the conflict of a one-to-one relationship whose destination another context linked to a different object.
  /// The destination is refreshed. Then either it is taken from its present partner, or the relationship adopts the
  /// stored row's value. Returns false for a deleted object or destination.
  private func lead(
    _ object: ManagedObject, to id: ManagedObjectID, _ name: String, anyhow isOurs: Bool
  ) throws -> Bool {
    guard !object.isDeleted, let slot = object.entity.slot(name),
      let relationship = object.entity.properties[slot].relationship,
      let other = try self.object(id) ?? context.objectIfPresent(with: id)
    else { return false }
    if !other.isInserted, !other.isDeleted { try context.refresh(other, mergeChanges: true) }
    try object.setDestination(nil, slot: slot, relationship: relationship)
    if isOurs {
      try set(.objectID(other.objectID), slot: slot, of: object)
    } else if let saved = object.snapshot?.values[slot], saved != .objectID(other.objectID) {
      try set(saved, slot: slot, of: object)
    }
    return true
  }
}

/// Groups of resolutions.
extension MergePolicy.Resolution {
  /// Whether the store's values win.
  var isForStore: Bool {
    switch self {
    case .storeTrumps, .rollback: true
    default: false
    }
  }

  /// Whether all values of the object win, even unchanged ones.
  var isWhole: Bool { if case .overwrite = self { true } else { false } }
}

/// Changes by a policy.
extension Change {
  /// Whether the change may resolve a conflict: loading a list does not.
  fileprivate var mayResolve: Bool { if case .members = former { false } else { true } }
}
