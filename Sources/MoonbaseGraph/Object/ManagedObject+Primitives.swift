public import MoonbaseModel

extension ManagedObject {
  /// The value of a property past accessors and derivation: what `setPrimitiveValue` put there.
  public final func primitiveValue(forKey key: String) throws -> Value {
    let slot = try slot(of: key)
    let behavior = try behavior()
    // The getter of a stored attribute may look at the value that it replaces.
    if !isComputed(slot, behavior) { noteRead(slot) }
    if case .derived = behavior.kind(slot) { return caches[slot]?.value ?? .null }
    return try read(slot, behavior: behavior)
  }

  /// Sets the value of an attribute without noting a change; call `willChangeValue` before and `didChangeValue` after.
  ///
  /// Without these the object does not count as changed and `willSave` is not called again for it; the context keeps it, and
  /// the next save writes the value.
  /// Throws where the value does not fit the attribute's type or class, for what the store derives, for what a delayed value
  /// will overwrite at the next save, and for a deleted object.
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

  /// Says that an attribute is about to be read: fires the object's fault.
  public final func willAccessValue(forKey key: String) throws {
    _ = try slot(of: key)
    if state.contains(.fault) { try fireFault() }
  }

  /// Says that an attribute was read.
  public final func didAccessValue(forKey key: String) throws { _ = try slot(of: key) }

  /// Says that a primitive value is about to change.
  public final func willChangeValue(forKey key: String) throws {
    try willAccessValue(forKey: key)
    materialize()
  }

  /// Says that a primitive value changed: the object counts as changed.
  public final func didChangeValue(forKey key: String) throws {
    let slot = try slot(of: key)
    if isAdded(slot) { outdate(slot) } else { rememberValue(slot) }
    context?.changeEvent?.noteChange(of: self)
    didChange(slot)
    tellObservers()
  }
}
