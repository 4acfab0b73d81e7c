import MoonbaseModel

/// Normalizes an object's values by hooks and the object's class, and stores the result.
struct ValueNormalizer {
  private let object: ManagedObject
  private let behavior: EntityBehavior

  init(_ object: ManagedObject, _ behavior: EntityBehavior) {
    self.object = object
    self.behavior = behavior
  }

  /// The normalized form of a value.
  func normalized(_ value: Value, slot: Slot) throws -> Value {
    var value = value
    if !value.isNull {
      for normalize in behavior.normalizers[slot] ?? [] {
        value = try object.blaming(slot, hook: "normalize") { try normalize(value, object) }
      }
    }
    if behavior.hooks.contains(.validateValue) {
      let name = object.entity.property(at: slot).name
      try object.running("validateValue") { try object.validateValue(&value, forKey: name) }
    }
    return value
  }

  /// Stores a computed value; for a stored derived attribute, in the row.
  func take(_ value: Value, slot: Slot) throws {
    switch behavior.kind(slot) {
    case .stored: try object.storeChecked(value, slot: slot, behavior: behavior)
    case .storedTransformable(_, let transformer):
      try object.writeTransformable(value, slot: slot, transformer: transformer, behavior: behavior)
    default: try object.setValue(value, slot: slot)
    }
  }
}
