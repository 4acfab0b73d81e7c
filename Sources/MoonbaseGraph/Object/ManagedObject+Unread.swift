import MoonbaseModel

/// Values that the store keeps apart from the row, and that are read when they are asked for.
extension ManagedObject {
  /// The value in a slot, read now where only a token for it is there.
  final func loaded(_ slot: Slot) throws -> Value { try loaded(stored(slot), slot: slot) }

  /// A value of the snapshot, read now where it is only a token.
  @inline(__always)
  final func loaded(_ value: Value, slot: Slot) throws -> Value {
    guard case .object(let token) = value else { return value }
    return try resolved(token, slot: slot)
  }

  @inline(never)  // what lies apart is read once
  private final func resolved(_ token: OpaqueObject, slot: Slot) throws -> Value {
    guard let load = token.load else { return .object(token) }
    do {
      return .data(try load())
    } catch var damage as GraphError where token.damage != nil {
      if damage.property == nil { damage.property = entity.property(at: slot).name }
      throw damage
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

  /// Whether the store's row holds something in the place of a value that is none, and nothing was assigned since.
  final func isDamaged(_ slot: Slot) -> Bool { !isAdded(slot) && current(slot)?.isDamage == true }
}

extension Value {
  /// Whether it stands for what is no value: it is shown to who asks, and never written.
  package var isDamage: Bool { if case .object(let token) = self { token.damage != nil } else { false } }
}
