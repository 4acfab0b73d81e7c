import MoonbaseModel

/// Resolves the conflicts of a save by the merge policy of its context, so that it can be tried again.
///
/// All is done by ways that the journal knows: a save that fails after all undoes it.
struct ConflictResolver {
  let context: ManagedObjectContext
  /// New objects of the save, by the IDs that were set aside for them.
  let new: [ManagedObjectID: ManagedObject]

  /// Resolves conflicts. Throws `failure` where one is none that the policy resolves.
  func resolve(_ conflicts: [SaveConflict], or failure: any Error) throws {
    for conflict in conflicts {
      guard let object = object(conflict.objectID) ?? owner(conflict) else { throw failure }
      // One that was dealt with by an earlier conflict, for example because it went.
      guard object.context === context else { continue }
      let resolution = try context.withinHook {
        try context.mergePolicy.resolve(MergeConflict(conflict, of: object))
      }
      if case .error = resolution { throw failure }
      guard try resolve(conflict, of: object, by: resolution) else { throw failure }
    }
  }

  private func object(_ id: ManagedObjectID) -> ManagedObject? { new[id] ?? context.registeredObject(for: id) }

  /// A row may be in the way whose object nobody has here.
  private func owner(_ conflict: SaveConflict) -> ManagedObject? {
    if case .destinationLeaves = conflict.kind { return try? context.existingObject(with: conflict.objectID) }
    return nil
  }

  /// False where that is no way to resolve the conflict.
  private func resolve(
    _ conflict: SaveConflict, of object: ManagedObject, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    switch conflict.kind {
    case .changed: return try resolveChange(of: object, found: conflict.foundRow, by: resolution)
    case .deleted: return try resolveDeletion(of: object, by: resolution)
    case .destinationIsGone(let relationship, let id):
      if case .rollback = resolution, !object.isInserted { return try giveUp(object) }
      return try release(id, from: object, relationship)
    case .destinationCame:
      guard object.isDeleted else { return false }
      if resolution.isForStore { return try giveUp(object) }
      try context.refresh(object, mergeChanges: true)
    case .destinationLeaves(let relationship, let id):
      guard resolution.isForStore else {
        if !object.isInserted, !object.isDeleted { try context.refresh(object, mergeChanges: true) }
        return try release(id, from: object, relationship)
      }
      guard let other = self.object(id), !other.isInserted else { return false }
      return try giveUp(other)
    case .sameValues(let properties, let id):
      return try resolveSameValues(properties, of: object, and: id, by: resolution)
    }
    return true
  }

  private func giveUp(_ object: ManagedObject) throws -> Bool {
    try context.refresh(object, mergeChanges: false)
    return true
  }

  // MARK: Rows that others saved

  private func resolveChange(
    of object: ManagedObject, found: Snapshot?, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    if case .rollback = resolution { return try giveUp(object) }
    let row = try found ?? context.coordinator.currentRow(of: object.objectID)
    guard !object.isDeleted else {
      switch resolution {
      case .storeTrumps: return try giveUp(object)
      case .objectTrumps, .overwrite:
        try context.merge(row, into: object)
        return true
      default: return false
      }
    }
    switch resolution {
    case .storeTrumps:
      for slot in slots(of: object) where object.changed.contains(slot) && differs(object.snapshot, row, slot) {
        try takeBack(slot, of: object, to: row)
      }
      try context.merge(row, into: object)
    case .overwrite:
      let former = slots(of: object).filter { slot in !row.cell(slot).isSame(as: object.current(slot) ?? .null) }
        .map { (slot: $0, value: object.current($0) ?? .null) }
      try context.merge(row, into: object)
      for (slot, value) in former { try set(value, slot: slot, of: object) }
    case .values(let values):
      try context.merge(row, into: object)
      for (key, value) in values { try object.setValue(value, forKey: key) }
    default: try context.merge(row, into: object)
    }
    return true
  }

  /// The slots of what lies in a row and may be set.
  private func slots(of object: ManagedObject) -> [Slot] {
    object.entity.properties.compactMap { property in
      if property.isTransient || property.attribute?.derivationExpression != nil { return nil }
      if case .toMany = property.kind { return nil }
      return property.slot
    }
  }

  private func differs(_ old: Snapshot?, _ row: Snapshot, _ slot: Slot) -> Bool {
    old.map { !$0.cell(slot).isSame(as: row.values[slot]) } ?? true
  }

  /// The change of a slot goes: it will be as a row says that is about to come.
  private func takeBack(_ slot: Slot, of object: ManagedObject, to row: Snapshot) throws {
    if object.entity.properties[slot].relationship != nil { return try set(row.values[slot], slot: slot, of: object) }
    object.giveUpChange(slot)
  }

  private func set(_ value: Value, slot: Slot, of object: ManagedObject) throws {
    guard let relationship = object.entity.properties[slot].relationship else {
      return try object.setStoredValue(object.loaded(value, slot: slot), slot: slot)
    }
    var destination: ManagedObjectID?
    if case .objectID(let id) = value, try context.objectIfPresent(with: id) != nil { destination = id }
    try object.setDestination(destination, slot: slot, relationship: relationship)
  }

  /// Another context deleted the row. What is deleted stays deleted.
  private func resolveDeletion(of object: ManagedObject, by resolution: MergePolicy.Resolution) throws -> Bool {
    guard object.isDeleted || resolution.isForStore else { return false }
    try giveUpRow(of: object)
    return true
  }

  /// The object goes with this save, of which the store need not hear.
  private func giveUpRow(of object: ManagedObject) throws {
    context.coordinator.forgetRows(of: [object.objectID])
    try context.turnIntoFault(object)
    context.markDeleted(object)
  }

  // MARK: Relationships

  /// A relationship leads to an object that is gone, or that is to lead elsewhere.
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

  // MARK: Unique values

  /// A saved object has values that must be unique.
  private func resolveSameValues(
    _ properties: [String], of object: ManagedObject, and id: ManagedObjectID?, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    guard case .values(let values) = resolution else {
      guard object.isInserted else { return try giveUpUniqueValues(properties, of: object, by: resolution) }
      // Of two new ones nobody is in the store.
      guard let id, new[id] == nil, let other = try context.existingObject(with: id), !other.isInserted else {
        return false
      }
      if !resolution.isForStore { try hand(over: object, to: other, isWhole: resolution.isWhole) }
      context.markDeleted(object)
      return true
    }
    for (key, value) in values { try object.setValue(value, forKey: key) }
    return !values.isEmpty
  }

  private func giveUpUniqueValues(
    _ properties: [String], of object: ManagedObject, by resolution: MergePolicy.Resolution
  ) throws -> Bool {
    switch resolution {
    case .rollback: return try giveUp(object)
    case .storeTrumps:
      let slots = properties.compactMap(object.entity.slot)
      for slot in slots where object.changed.contains(slot) {
        // The other side of a relationship follows.
        if object.entity.properties[slot].relationship != nil {
          try set(object.snapshot?.values[slot] ?? .null, slot: slot, of: object)
        } else {
          object.giveUpChange(slot)
        }
      }
      return !slots.isEmpty
    // Whose the value is to be nobody can know.
    default: return false
    }
  }

  /// A saved object takes what a new one has that is in its place.
  private func hand(over new: ManagedObject, to saved: ManagedObject, isWhole: Bool) throws {
    for slot in slots(of: new) where isWhole || new.changed.contains(slot) {
      guard let own = saved.entity.slot(new.entity.properties[slot].name) else { continue }
      try set(new.current(slot) ?? .null, slot: own, of: saved)
    }
    for slot in new.entity.toManySlots {
      guard let own = saved.entity.slot(new.entity.properties[slot].name) else { continue }
      for id in try new.memberIDs(slot) where id != saved.objectID { try saved.addMember(id, slot: own) }
    }
  }
}

extension MergePolicy.Resolution {
  /// Whether the store has the last word.
  fileprivate var isForStore: Bool {
    switch self {
    case .storeTrumps, .rollback: true
    default: false
    }
  }

  fileprivate var isWhole: Bool { if case .overwrite = self { true } else { false } }
}

extension ManagedObject {
  /// An attribute is as its row says, and the next save does not write it.
  fileprivate final func giveUpChange(_ slot: Slot) {
    rememberValue(slot)
    restoreOwn(nil, slot: slot)
    cache(nil, slot: slot)
    if isMarked(slot) { unmark(slot) }
    delay(nil, slot: slot)
    context?.noteChange()
    context?.changedObjects.note(self)
  }
}
