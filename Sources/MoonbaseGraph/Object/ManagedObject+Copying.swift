package import MoonbaseModel

/// What a migration needs: values as stores have them, past transformers, and objects under keys that are known before.
extension ManagedObject {
  /// The value that the store has, past transformers and accessors; the bytes of one that lies in a file.
  package final func copiedValue(at slot: Slot) throws -> Value { try loaded(slot) }

  /// Takes such a value, which is of the attribute's type.
  package final func takeCopy(_ value: Value, slot: Slot) throws { try setStoredValue(value, slot: slot) }
}

extension ManagedObjectContext {
  /// Inserts an object that will be saved under this ID: of a store that is being made, whose keys nobody else gives.
  package func insert(_ entity: ResolvedEntity, as id: ManagedObjectID) throws -> ManagedObject {
    let object = try insert(entity)
    object.takePermanentID(id)
    changedObjects.note(object)
    return object
  }

  /// The bytes that the objects hold, by estimate.
  package var objectWeight: Int { weight }
}
