import MoonbaseModel

/// Values that the store keeps apart from the row, and that are read when they are asked for.
extension ManagedObject {
  /// The value in a slot, read now where only a token for it is there.
  final func loaded(_ slot: Slot) throws -> Value { try loaded(stored(slot), slot: slot) }

  /// A value of the snapshot, read now where it is only a token.
  final func loaded(_ value: Value, slot: Slot) throws -> Value {
    guard case .object(let token) = value, let load = token.load else { return value }
    do {
      return .data(try load())
    } catch {
      let name = entity.property(at: slot).name
      throw GraphError(
        .storeFailure, message: "\(entity.name).\(name) of \(objectID): \(error)", entity: entity.name, property: name,
        objectID: objectID, underlying: error)
    }
  }

  /// Whether what a slot holds is not read yet, can be, and is this value: to assign it is no change.
  final func isUnread(_ slot: Slot, equalTo value: Value) throws -> Bool {
    guard case .object(let token) = try stored(slot), token.load != nil, case .data = value else { return false }
    return (try? loaded(slot)) == value
  }
}
