package import MoonbaseModel

/// Access for migrations: stored values without transformers, and objects with predetermined keys.
extension ManagedObject {
  /// The stored value, without transformer and accessor; for an external value, its bytes. Fires a fault.
  package final func copiedValue(at slot: Slot) throws -> Value { try loaded(slot) }

  /// Assigns a stored value, which must be of the attribute's type. Records a change as an ordinary assignment does.
  package final func takeCopy(_ value: Value, slot: Slot) throws { try setStoredValue(value, slot: slot) }
}

extension ManagedObjectContext {
  /// Inserts an object with the ID under which it will be saved, for a store that only the caller writes. The object
  /// keeps this ID when it is saved.
  package func insert(_ entity: ResolvedEntity, as id: ManagedObjectID) throws -> ManagedObject {
    let object = try insert(entity)
    object.takePermanentID(id)
    changedObjects.note(object)
    return object
  }

  /// An estimate of the bytes that the context's objects hold.
  package var objectWeight: Int { weight }
}
