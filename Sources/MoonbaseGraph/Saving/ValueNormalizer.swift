import MoonbaseModel

/// Normalizes an object's values by hooks and the object's class, and stores the result.
///
/// Made for each use. Normalizing must not change other properties, because rules may run repeatedly.
struct ValueNormalizer {
  /// The object.
  private let object: ManagedObject
  /// The hooks and normalizers of the entity.
  private let behavior: EntityBehavior

  /// Nothing is normalized yet.
  init(_ object: ManagedObject, _ behavior: EntityBehavior) {
    self.object = object
    self.behavior = behavior
  }

  /// The normalized form of a value. Null is passed only to the method of the class. Throws the errors of hooks.
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

  /// Stores a computed value; for a stored derived attribute, in the row. Throws errors of the attribute's type.
  func assign(_ value: Value, slot: Slot) throws {
    switch behavior.kind(slot) {
    case .stored: try object.storeChecked(value, slot: slot, behavior: behavior)
    case .storedTransformable(_, let transformer):
      try object.writeTransformable(value, slot: slot, transformer: transformer, behavior: behavior)
    default: try object.setValue(value, slot: slot)
    }
  }
}
