import MoonbaseModel

/// External values, which the store keeps apart from the row and reads on access.
extension ManagedObject {
  /// The value in a slot; a token is replaced by the value that it stands for. Throws `.storeFailure`, and
  /// `.invalidStore` for damaged data.
  final func loaded(_ slot: Slot) throws -> Value { try loaded(stored(slot), slot: slot) }

  /// A value of the snapshot; a token is replaced by the value that it stands for.
  @inline(__always)
  final func loaded(_ value: Value, slot: Slot) throws -> Value {
    guard case .object(let token) = value else { return value }
    return try resolved(token, slot: slot)
  }

  /// Reads an external value. Throws an error that names the property.
  @inline(never)  // an external value is read once
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

  /// Whether a slot has an external value that is equal to a value, so that assigning it is no change. The data of the
  /// token is read for the comparison.
  final func isUnread(_ slot: Slot, equalTo value: Value) throws -> Bool {
    guard case .object(let token) = try stored(slot), token.load != nil, case .data = value else { return false }
    return (try? loaded(slot)) == value
  }

  /// Whether the store's row has a damaged value in a slot, and nothing was assigned since. The next save leaves the
  /// value in the file.
  final func isDamaged(_ slot: Slot) -> Bool { !isAdded(slot) && current(slot)?.isDamage == true }
}

/// Damage in values.
extension Value {
  /// Whether the value stands for damaged data, which is shown to readers and never written.
  package var isDamage: Bool { if case .object(let token) = self { token.damage != nil } else { false } }
}
