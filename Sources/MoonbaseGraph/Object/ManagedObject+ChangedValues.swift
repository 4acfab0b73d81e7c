public import MoonbaseModel

/// What changed since the last save, and what was there before.
extension ManagedObject {
  /// The values of the last save or fetch by name; of the given keys, or of all properties but to-many ones.
  public final func committedValues(forKeys keys: [String]? = nil) throws -> [String: Value] {
    guard context != nil else { throw goneError }
    noteRead(.state)
    let slots =
      try keys.map { try $0.map(slot(of:)) }
      ?? (entity.attributeSlots + entity.toOneSlots).filter { !entity.properties[$0].isTransient }
    if state.contains(.fault) { try fireFault() }
    return try values(of: slots, committedValue)
  }

  /// The current values, by name, of persistent properties that are other ones than at the last save or fetch: what the next save writes.
  ///
  /// Of a new object these are the values that were set. Nothing is read for it: of a to-many relationship that was not read
  /// (`hasFault(forRelationshipNamed:)`) the list has the destinations that came.
  public final func changedValues() throws -> [String: Value] {
    try values(of: changedPersistentSlots()) { slot in
      guard let known = relationships[slot], !known.isLoaded else { return try value(at: slot) }
      return .list(known.added.map(Value.objectID))
    }
  }

  /// The values of persistent attributes and to-one relationships when the event began (`observeChanges`), by name.
  /// Only properties that have another value now are among them. Within the closure of `observeChanges` the event is
  /// the one that the closure was called with.
  ///
  /// Throws `.invalidRequest` where nobody observes the context's changes: then it does not keep what was before.
  public final func changedValuesForCurrentEvent() throws -> [String: Value] {
    guard let context else { throw goneError }
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

  /// Whether `changedValues()` has anything: a save would write other values than there are in the store.
  ///
  /// False where a value was set and set back, and for changes of transient properties alone, though `hasChanges` is true.
  public final var hasPersistentChangedValues: Bool {
    guard let slots = try? changedPersistentSlots() else { return false }
    return !slots.isEmpty
  }

  private final func changedPersistentSlots() throws -> [Slot] {
    guard context != nil else { throw goneError }
    noteRead(.state)
    settle()
    // What awake-from-fetch set is no change.
    guard state.contains(.listed) else { return [] }
    let lists = relationships.filter { $0.value.hasChanges }.keys
    return (changed.slots.filter(isOtherThanSaved) + lists).filter { !entity.properties[$0].isTransient }
  }

  /// Whether an attribute or a to-one relationship has another value than the row, or waits to be written.
  private final func isOtherThanSaved(_ slot: Slot) -> Bool {
    if case .toMany = entity.properties[slot].kind { return false }
    guard let snapshot, delayed[slot] == nil else { return true }
    return !holds(valueOf: snapshot, slot: slot)
  }

  /// Values by name of slots, of which one may be named twice.
  private func values(of slots: [Slot], _ value: (Int) throws -> Value) rethrows -> [String: Value] {
    var values: [String: Value] = [:]
    for slot in slots { values[entity.property(at: slot).name] = try value(slot) }
    return values
  }
}
