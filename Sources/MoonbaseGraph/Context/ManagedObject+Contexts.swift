import MoonbaseModel
import MoonbasePlatform

/// Insertion by the class.
extension ManagedObject {
  /// Makes a new object of this class, with the entity's default values.
  ///
  /// The model names the class (`managedObjectClassName`), under which the coordinator or container has it registered.
  /// Throws if no entity or several entities have the class, for an abstract entity, and the error of an
  /// awake-from-insert hook.
  ///
  /// ```swift
  /// let ann = try Person(context: context)
  /// ```
  public convenience init(context: ManagedObjectContext) throws {
    let entity = try context.entity(of: Self.self)
    guard try context.behavior(of: entity).objectClass == Self.self else {
      throw GraphError(
        .invalidObject,
        message:
          "\(entity.name): its class \(Self.self) was registered after the context had made objects of it: do it before",
        entity: entity.name)
    }
    self.init(try context.reserveNewObject(of: entity))
    try context.awakeInserted(self)
  }
}

/// Conflicts of a merge.
extension ManagedObject {
  /// Whether another context changed a value with an unsaved change here, or changed an object that is deleted here.
  final func conflicts(with row: Snapshot) -> Bool {
    guard state.contains(.listed), let base = snapshot, row.version != base.version else { return false }
    if isDeleted { return true }
    // A value that was set back to its former value is no change.
    return base.values.indices.contains { slot in
      isMarked(slot) && base.values[slot] != row.values[slot] && current(slot) != row.values[slot]
        && current(slot) != base.values[slot]
    }
  }
}

/// For the check of inverses.
extension ManagedObject {
  /// Whether the object refers to another one by a relationship. True if that side was not read.
  func mayPointAt(_ id: ManagedObjectID, slot: Slot) -> Bool {
    if case .toOne = entity.properties[slot].kind {
      return current(slot) == .objectID(id)
    }
    guard let state = relationships[slot], state.isLoaded else { return true }
    return state.contains(id)
  }
}

/// Rows of unsaved objects.
extension ManagedObject {
  /// The values that a save would write, as a row; nil if they are the row's values.
  final var unsavedRow: Snapshot? {
    guard state.contains(.listed), hasLiveValues else { return nil }
    return Snapshot(id: objectID, version: 1, slotCount: entity.properties.count) { page in
      for property in entity.properties where !property.isTransient {
        guard let value = current(property.slot), !value.isNull, !value.holdsTemporaryID else { continue }
        page.set(value, slot: property.slot)
      }
    }
  }
}

/// Values without side effects.
extension ManagedObject {
  /// Sets attributes to the values that a child saved, in stored form, without setters and transformers.
  final func applySaved(_ row: Snapshot, slots: [Slot]) throws {
    for slot in slots where !entity.properties[slot].isTransient {
      try setStoredValue(row.values[slot], slot: slot)
      if hasCaches, caches[slot]?.reads == nil { cache(nil, slot: slot) }
    }
  }
}
