public import MoonbaseModel

/// Changed values and their former values.
extension ManagedObject {
  /// The values of the last save or fetch by name: of the given keys, or of all persistent attributes and to-one
  /// relationships.
  ///
  /// Fires a fault. To-many relationships can be named in `keys`; their value is a list of IDs. Throws `.unknownName`
  /// for an unknown key.
  public final func committedValues(forKeys keys: [String]? = nil) throws -> [String: Value] {
    guard context != nil else { throw detachedError }
    noteRead(.state)
    let slots =
      try keys.map { try $0.map(slot(of:)) }
      ?? (entity.attributeSlots + entity.toOneSlots).filter { !entity.properties[$0].isTransient }
    if state.contains(.fault) { try fireFault() }
    return try values(of: slots, committedValue)
  }

  /// The current values, by name, of persistent properties that differ from the last save or fetch and will be saved.
  ///
  /// For a new object these are the values that were set. No value is read: for an unread to-many relationship
  /// (`hasFault(forRelationshipNamed:)`) the list contains only the added destinations.
  ///
  /// Values are in their presented form, after transformers. Throws errors of transformers and of the store.
  public final func changedValues() throws -> [String: Value] {
    try values(of: changedPersistentSlots()) { slot in
      guard let known = relationships[slot], !known.isLoaded else { return try value(at: slot) }
      return .list(known.added.map(Value.objectID))
    }
  }

  /// The values of persistent attributes and to-one relationships at the beginning of the event (`observeChanges`), by
  /// name.
  ///
  /// Contains only properties whose value has changed since. Within the closure of `observeChanges`, the event is the
  /// one that the closure received. Throws `.invalidRequest` without an observer of the context's changes, as no former
  /// values are kept then.
  public final func changedValuesForCurrentEvent() throws -> [String: Value] {
    guard let context else { throw detachedError }
    noteRead(.state)
    settle()
    if context.journal.isSettled { context.noteEvent(isLast: false) }
    guard let event = context.changeEvent else {
      throw GraphError(
        .invalidRequest,
        message:
          "changedValuesForCurrentEvent was asked for while nobody observes the context's changes: call observeChanges before",
        entity: entity.name, objectID: objectID)
    }
    let former = event.formerValues(of: self, context.journal.all)
    let slots = former.keys.filter { slot in
      !entity.properties[slot].isTransient && !(current(slot) ?? .null).isSame(as: former[slot] ?? .null)
    }
    return try values(of: slots) { try presented(former[$0] ?? .null, slot: $0) }
  }

  /// Whether `changedValues()` is not empty, so that a save would change the store.
  ///
  /// False if a value was set and set back, and if only transient properties changed, though `hasChanges` is true then.
  public final var hasPersistentChangedValues: Bool {
    guard let slots = try? changedPersistentSlots() else { return false }
    return !slots.isEmpty
  }

  /// Lists of to-many relationships count if destinations were added or removed.
  private final func changedPersistentSlots() throws -> [Slot] {
    guard context != nil else { throw detachedError }
    noteRead(.state)
    settle()
    // Values that awake-from-fetch set are no changes.
    guard state.contains(.listed) else { return [] }
    let lists = relationships.filter { $0.value.hasChanges }.keys
    return (changed.slots.filter(isOtherThanSaved) + lists).filter { !entity.properties[$0].isTransient }
  }

  /// Whether an attribute or to-one relationship differs from the row, or has a delayed value. True for an object
  /// without a row.
  private final func isOtherThanSaved(_ slot: Slot) -> Bool {
    if case .toMany = entity.properties[slot].kind { return false }
    guard let snapshot, delayed[slot] == nil else { return true }
    return !holds(valueOf: snapshot, slot: slot)
  }

  /// The values of slots by name; a slot may occur twice. Throws the first error of `value`.
  private func values(of slots: [Slot], _ value: (Int) throws -> Value) rethrows -> [String: Value] {
    var values: [String: Value] = [:]
    for slot in slots { values[entity.property(at: slot).name] = try value(slot) }
    return values
  }
}
