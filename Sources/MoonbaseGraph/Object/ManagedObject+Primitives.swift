public import MoonbaseModel

/// Values without accessors, for use within accessors.
extension ManagedObject {
  /// The value of a property without accessors and derivation, as `setPrimitiveValue` sets it.
  public final func primitiveValue(forKey key: String) throws -> Value {
    let slot = try slot(of: key)
    let behavior = try behavior()
    // The getter of a stored attribute may read its former value.
    if !isComputed(slot, behavior) { noteRead(slot) }
    if case .derived = behavior.kind(slot) { return caches[slot]?.value ?? .null }
    return try read(slot, behavior: behavior)
  }

  /// Sets the value of an attribute without recording a change; call `willChangeValue` before and `didChangeValue`
  /// after.
  ///
  /// Without these calls the object does not count as changed, and `willSave` is not called again for it. The context
  /// retains the object, and the next save writes the value. Throws if the value does not fit the attribute's type or
  /// class, for an attribute that the store derives or that a delayed value will overwrite, and for a deleted object.
  /// Type errors have the code `.invalidValue`.
  public final func setPrimitiveValue(_ value: Value, forKey key: String) throws {
    let slot = try slot(of: key)
    let behavior = try behavior()
    try checkMutable()
    if state.contains(.fault) { try fireFault() }
    try checkFree(slot, value: value, behavior: behavior)
    let fitting = try valueOfClass(checked(value, slot: slot), slot: slot, behavior: behavior)
    defer { tellObservers() }
    switch behavior.kind(slot) {
    case .plain, .stored: try setStoredPrimitive(fitting, slot: slot)
    case .derived:
      outdate(slot)
      cache(Cached(value: fitting, reads: .all(of: entity)), slot: slot)
    case .transformable(let transformer), .storedTransformable(_, let transformer):
      try setStoredPrimitive(transformedBytes(of: fitting, slot: slot, transformer: transformer), slot: slot)
      cache(fitting.isNull ? nil : Cached(value: fitting), slot: slot)
    case .opaque, .toOne, .toMany:
      throw refused(slot, value: value, reason: "only attributes have primitive values that can be set")
    case .gone: throw noMore(slot)
    }
  }

  /// Announces a read of an attribute: fires the object's fault. Needed only by accessors that keep values elsewhere.
  public final func willAccessValue(forKey key: String) throws {
    _ = try slot(of: key)
    if state.contains(.fault) { try fireFault() }
  }

  /// Announces that an attribute was read. Does nothing but check the name.
  public final func didAccessValue(forKey key: String) throws { _ = try slot(of: key) }

  /// Announces a change of a primitive value.
  public final func willChangeValue(forKey key: String) throws {
    try willAccessValue(forKey: key)
    materialize()
  }

  /// Announces that a primitive value changed: the object counts as changed.
  public final func didChangeValue(forKey key: String) throws {
    let slot = try slot(of: key)
    if isAdded(slot) { outdate(slot) } else { rememberValue(slot) }
    context?.changeEvent?.noteChange(of: self)
    didChange(slot)
    tellObservers()
  }
}
