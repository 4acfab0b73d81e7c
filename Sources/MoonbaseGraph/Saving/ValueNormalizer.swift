import MoonbaseModel

/// Gives an object's values the form that hooks and the object's class want, and stores what comes of it.
struct ValueNormalizer {
  private let object: ManagedObject
  private let behavior: EntityBehavior

  init(_ object: ManagedObject, _ behavior: EntityBehavior) {
    self.object = object
    self.behavior = behavior
  }

  /// The value that the object is to have in the place of another one.
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

  /// Sets a value that was computed: of a stored derived attribute the one in the row.
  func take(_ value: Value, slot: Slot) throws {
    switch behavior.kind(slot) {
    case .stored: try object.storeChecked(value, slot: slot, behavior: behavior)
    case .storedTransformable(_, let transformer):
      try object.writeTransformable(value, slot: slot, transformer: transformer, behavior: behavior)
    default: try object.setValue(value, slot: slot)
    }
  }
}
