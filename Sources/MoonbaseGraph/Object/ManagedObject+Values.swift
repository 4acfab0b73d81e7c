public import MoonbaseModel
import OrderedCollections

/// Reading and setting properties by name and by slot. A read goes from the accessor of a subclass to derived values,
/// transformers and the row; `isSimple` marks slots that need nothing but the row.
extension ManagedObject {
  /// The value of a property by name, through a subclass's accessor if there is one.
  ///
  /// A to-one relationship gives `.objectID`; a to-many relationship and a fetched property give a `.list` of them.
  /// Throws for an unknown name, if the store cannot be read, and for an error of a transformer or derived attribute.
  public final func value(forKey key: String) throws -> Value {
    guard let slot = entity.slot(key) else { return try fetchedValue(forKey: key) }
    return try value(at: slot)
  }

  /// Sets the value of a property by name, through a subclass's accessor if there is one.
  ///
  /// Throws and keeps the old value if the value does not fit the property's type, range or class.
  public final func setValue(_ value: Value, forKey key: String) throws { try setValue(value, slot: slot(of: key)) }

  /// The value of a property by name; null if it cannot be read. The context keeps the error in `pendingErrors`.
  public final subscript(key: String) -> Value {
    get { keepingErrors(or: .null) { try value(forKey: key) } }
    set { keepingErrors(or: ()) { try setValue(newValue, forKey: key) } }
  }

  /// The slot of a property. Throws `.unknownName` if the entity lacks it.
  package final func slot(of key: String) throws -> Int {
    guard let slot = entity.slot(key) else { throw GraphError.unknownProperty(key, of: entity, id: objectID) }
    return slot
  }

  /// The value of a slot, through a subclass's accessor if there is one.
  package final func value(at slot: Slot) throws -> Value {
    if isSimple(slot) { return try loaded(stored(slot), slot: slot) }
    noteRead(slot)
    let behavior = try behavior()
    if let accessor = behavior.accessors[slot] { return try accessing(slot) { try accessor.get(self) } }
    try checkIsNotComputed(slot, behavior)
    return try read(slot, behavior: behavior)
  }

  /// The cell of a simple slot, without an intermediate `Value`; `.other` if `value(at:)` has to be called.
  package final func rawCell(at slot: Slot) throws -> RawCell {
    guard isSimple(slot) else { return RawCell(.other) }
    if state.contains(.fault) { try fireFault() }
    return currentRawCell(slot)
  }

  /// The cell of a simple slot, for a getter whose inputs are already recorded. `.other` if `value(at:)` has to be
  /// called.
  package final func inputCell(of name: Symbol) throws -> RawCell {
    let slot = table._withUnsafeGuaranteedRef { table -> Slot? in
      guard let slot = table.slot(name), slot < 64, table.simpleSlots & 1 << UInt64(slot) != 0 else { return nil }
      return slot
    }
    guard let slot else { return RawCell(.other) }
    if state.contains(.fault) { try fireFault() }
    return currentRawCell(slot)
  }

  /// Whether a slot belongs to a property of the model, not to an added attribute.
  package final func hasModelSlot(_ slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { slot < $0.properties.count }
  }

  /// The value of a slot that is in memory and needs no accessor; nil if `value(at:)` has to be called.
  ///
  /// For a simple slot this is the stored value, for a derived attribute the cached value if it is valid.
  package final func valueAtHand(at slot: Slot) -> Value? {
    if isSimple(slot) { return state.contains(.fault) ? nil : current(slot) }
    guard slot < 64, table._withUnsafeGuaranteedRef({ $0.derivedSlots & 1 << UInt64(slot) != 0 }) else { return nil }
    return keptValue(slot)
  }

  /// The value in memory of an attribute by its interned name; see `valueAtHand(at:)`.
  package final func valueAtHand(of name: Symbol) -> Value? {
    table._withUnsafeGuaranteedRef { $0.slot(name) }.flatMap { valueAtHand(at: $0) }
  }

  /// The type of the attribute in a slot; nil for a relationship and for an unknown slot.
  @inline(__always)
  package final func attributeType(at slot: Slot) -> AttributeType? {
    table._withUnsafeGuaranteedRef { table in
      slot < table.properties.count ? table.properties[slot].attributeType : nil
    }
  }

  /// Sets the value of a slot, through a subclass's accessor if there is one.
  package final func setValue(_ value: Value, slot: Slot) throws {
    if !isSimple(slot), let accessor = try behavior().accessors[slot] {
      return try accessing(slot) { try accessor.set(self, value) }
    }
    try write(value, slot: slot)
  }

  /// The value of a slot, without a subclass's accessor.
  final func read(_ slot: Slot) throws -> Value {
    if isSimple(slot) { return try loaded(stored(slot), slot: slot) }
    noteRead(slot)
    let behavior = try behavior()
    try checkIsNotComputed(slot, behavior)
    return try read(slot, behavior: behavior)
  }

  /// The value of a slot, without a subclass's accessor.
  final func read(_ slot: Slot, behavior: EntityBehavior) throws -> Value {
    switch behavior.kind(slot) {
    case .toOne, .plain, .opaque: try loaded(slot)
    case .stored: try delayed[slot] ?? loaded(slot)
    case .transformable(let transformer): try transformed(slot, transformer: transformer, behavior: behavior)
    case .storedTransformable(_, let transformer):
      try delayed[slot] ?? transformed(slot, transformer: transformer, behavior: behavior)
    case .derived(let derived): try derivedValue(slot, derived: derived, behavior: behavior)
    case .toMany: .list(try memberIDs(slot).map(Value.objectID))
    case .gone: throw noMore(slot)
    }
  }

  /// Sets the value of a slot, without a subclass's accessor.
  final func write(_ value: Value, slot: Slot) throws {
    guard isSimple(slot), !state.contains(.deleted) else {
      defer { tellObservers() }
      return try write(value, slot: slot, behavior: behavior())
    }
    let fitting = try checked(value, slot: slot)
    if setFast(fitting, slot: slot) { return }
    guard try replace(fitting, slot: slot, silently: false) else { return }
    didChange(slot)
    tellObservers()
  }

  private func write(_ value: Value, slot: Slot, behavior: EntityBehavior) throws {
    try checkMutable()
    switch behavior.kind(slot) {
    case .plain: try writePlain(value, slot: slot, behavior: behavior)
    case .transformable(let transformer):
      try writeTransformable(value, slot: slot, transformer: transformer, behavior: behavior)
    case .opaque: try writeOpaque(value, slot: slot)
    case .derived(let derived), .stored(let derived), .storedTransformable(let derived, _):
      try writeDerived(value, slot: slot, derived: derived, behavior: behavior)
    case .toOne(let relationship):
      try setDestination(destination(of: value, slot: slot), slot: slot, relationship: relationship)
    case .toMany: try setMembers(destinations(of: value, slot: slot), slot: slot)
    case .gone: throw noMore(slot)
    }
  }

  /// The value in a slot in stored form, with unsaved changes. Fires a fault.
  @inline(__always)
  final func stored(_ slot: Slot) throws -> Value {
    if state.contains(.fault) { try fireFault() }
    return current(slot) ?? .null
  }

  /// Sets the stored value of a slot and marks it as changed; an equal value is no change.
  final func setStoredValue(_ value: Value, slot: Slot) throws {
    if setFast(value, slot: slot) { return }
    if try replace(value, slot: slot, silently: false) { didChange(slot) }
  }

  /// Replaces the value of a slot; false without effect if the value is equal.
  @inline(__always)
  private func replace(_ value: Value, slot: Slot, silently: Bool) throws -> Bool {
    if state.contains(.fault) { try fireFault() }
    guard !holds(value, slot: slot) else { return false }
    if case .objectID(let id) = value { context?.noteLead(slot, of: self, to: id) }
    put(value, slot: slot, because: cause, silently: silently)
    return true
  }

  /// Sets the stored value of a slot without marking it as changed; the next save still writes it.
  final func setStoredPrimitive(_ value: Value, slot: Slot) throws {
    // A transient attribute is a cache, which a getter may fill while a rule reads it.
    let isSilent = entity.properties[slot].isTransient || context?.primitivesAreSilent ?? true
    guard try replace(value, slot: slot, silently: isSilent) else { return }
    context?.noteChange()
    context?.changedObjects.note(self)
    if state.contains(.awaking) || entity.properties[slot].isTransient { keepForNewIDs(slot) }
    guard !entity.properties[slot].isTransient else { return }
    if state.contains(.awaking) { markChanged(slot) } else { context?.didChangePrimitive(self, slot) }
  }

  /// Marks a slot as changed, after its former value was recorded. An added attribute has no row to differ from.
  final func didChange(_ slot: Slot) {
    guard !state.contains(.awaking) else {
      if !entity.property(at: slot).isTransient { markChanged(slot) }
      keepForNewIDs(slot)
      context?.noteChange()
      return
    }
    context?.didChange(self, isAdded(slot) ? nil : slot)
  }

  // MARK: Kinds of values

  /// For an attribute without function and transformer.
  private func writePlain(_ value: Value, slot: Slot, behavior: EntityBehavior) throws {
    try checkFree(slot, value: value, behavior: behavior)
    try storeChecked(value, slot: slot, behavior: behavior)
  }

  /// Throws if the store derives the attribute, or if a delayed value will overwrite it. The code is `.invalidValue`.
  final func checkFree(_ slot: Slot, value: Value, behavior: EntityBehavior) throws {
    if let derivedSlot = behavior.delayedShadows[slot], delayed[derivedSlot] != nil {
      throw refused(
        slot, value: value,
        reason: "\(entity.property(at: derivedSlot).name) was assigned and will overwrite it at the next save")
    }
    try checkAssignable(slot, value: value)
  }

  /// The value as an assignment would convert it. Throws the errors of the assignment. Nothing is stored.
  final func assignable(_ value: Value, slot: Slot, behavior: EntityBehavior) throws -> Value {
    switch behavior.kind(slot) {
    case .toOne, .toMany: return value
    case .gone: throw noMore(slot)
    case .opaque: try checkOpaque(value, slot: slot)
    case .transformable(let transformer):
      let fitting = try valueOfClass(value, slot: slot, behavior: behavior)
      _ = try transformedBytes(of: fitting, slot: slot, transformer: transformer)
      return fitting
    case .derived(let derived), .stored(let derived), .storedTransformable(let derived, _):
      _ = try setter(of: derived, slot: slot, value: value)
      return try fitting(value, slot: slot, behavior: behavior)
    case .plain:
      try checkFree(slot, value: value, behavior: behavior)
      return try fitting(value, slot: slot, behavior: behavior)
    }
    return value
  }

  /// The value converted to the attribute's type and class.
  private func fitting(_ value: Value, slot: Slot, behavior: EntityBehavior) throws -> Value {
    try valueOfClass(checked(value, slot: slot), slot: slot, behavior: behavior)
  }

  /// Stores a value after converting it to the attribute's type and class.
  final func storeChecked(_ value: Value, slot: Slot, behavior: EntityBehavior) throws {
    let fitting = try fitting(value, slot: slot, behavior: behavior)
    if try isUnread(slot, equalTo: fitting) { return }
    try setStoredValue(fitting, slot: slot)
  }

  /// The value of a transformable attribute, from the cache or from the row's bytes.
  private func transformed(_ slot: Slot, transformer: SlotTransformer, behavior: EntityBehavior) throws -> Value {
    if let cached = caches[slot] { return cached.value }
    let bytes = try loaded(slot)
    guard !bytes.isNull else { return .null }
    let value = try self.value(of: bytes, slot: slot, transformer: transformer, behavior: behavior)
    cache(Cached(value: value), slot: slot)
    keepForChecks()
    return value
  }

  /// The value that a transformer makes from bytes. Throws for bytes that have no value, and for a value of another
  /// class.
  private func value(
    of bytes: Value, slot: Slot, transformer: SlotTransformer, behavior: EntityBehavior
  ) throws -> Value {
    guard let reverse = transformer.own.reverseTransformedValue else {
      throw refused(slot, value: nil, reason: "transformer \(transformer.own.name) has no reverse")
    }
    let value = try running(transformer, slot: slot, hook: "reverse") { try reverse(bytes) }
    guard !value.isNull || transformer.own.isDefault else {
      throw refused(slot, value: nil, reason: transformer.own.gaveNothing(.reverse, for: "bytes"))
    }
    if !value.isNull, let valueClass = behavior.valueClasses[slot],
      try !blaming(slot, hook: "is", { try valueClass.contains(value) })
    {
      let wanted = "a value of its class \(valueClass.name)"
      throw refused(slot, value: nil, reason: transformer.own.gave(value, in: .reverse, insteadOf: wanted))
    }
    return value
  }

  /// The value of a slot in the row. Null for a new object.
  final func committedValue(_ slot: Slot) throws -> Value {
    if isAdded(slot) { return .null }
    return try presented(snapshot?.values[slot] ?? .null, slot: slot)
  }

  /// The destinations of a to-many relationship at the last save or read.
  ///
  /// Destinations removed since come at the end, unless the list is read again. Reads the relationship if necessary.
  final func committedDestinations(_ slot: Slot) throws -> [ManagedObjectID] {
    guard let known = relationships[slot], known.isLoaded, !known.isReordered else {
      return try context?.storedDestinations(of: self, slot: slot) ?? []
    }
    return known.members.filter { !known.added.contains($0) } + known.removed
  }

  /// A stored value as readers see it, after loading and transformation. Throws errors of the transformer.
  final func presented(_ value: Value, slot: Slot) throws -> Value {
    let value = try loaded(value, slot: slot)
    guard !isSimple(slot), !value.isNull else { return value }
    let behavior = try behavior()
    guard let transformer = behavior.transformer(slot) else { return value }
    return try self.value(of: value, slot: slot, transformer: transformer, behavior: behavior)
  }

  /// Registers the object for the detection of changes in place.
  private func keepForChecks() {
    if let context, context.detectsInPlaceMutation { context.retained.readObjects.append(self) }
  }

  /// Sets a transformable attribute, whose bytes a transformer makes. The value itself is cached.
  final func writeTransformable(
    _ value: Value, slot: Slot, transformer: SlotTransformer, behavior: EntityBehavior
  ) throws {
    let value = try valueOfClass(value, slot: slot, behavior: behavior)
    if transformer.own.isDefault, try holds(value, slot: slot, behavior: behavior) { return }
    let bytes = try transformedBytes(of: value, slot: slot, transformer: transformer)
    if try !isUnread(slot, equalTo: bytes) { try setStoredValue(bytes, slot: slot) }
    cache(value.isNull ? nil : Cached(value: value), slot: slot)
    keepForChecks()
  }

  /// Whether a transformable attribute has a value already, in whatever bytes. An unreadable value counts as different.
  private func holds(_ value: Value, slot: Slot, behavior: EntityBehavior) throws -> Bool {
    if state.contains(.fault) { try fireFault() }
    return (try? read(slot, behavior: behavior))?.isSame(as: value) == true
  }

  /// The bytes that a transformer makes from a value. Throws if it returns null, which would lose the value.
  final func transformedBytes(of value: Value, slot: Slot, transformer: SlotTransformer) throws -> Value {
    guard !value.isNull else { return .null }
    let bytes = try running(transformer, slot: slot, hook: "transform") { try transformer.own.transformedValue(value) }
    switch bytes {
    case .data where !entity.properties[slot].isTransient && (value.holdsTemporaryID || bytes.holdsTemporaryID):
      throw refused(
        slot, value: value,
        reason:
          "it holds the ID of an object that has no row yet, which is another one once that is saved: save the object first"
      )
    case .data: return bytes
    case .null: throw refused(slot, value: value, reason: transformer.own.gaveNothing(.transform, for: "a value"))
    default:
      throw refused(slot, value: value, reason: transformer.own.gave(bytes, in: .transform, insteadOf: "bytes"))
    }
  }

  /// Removes the bytes of an attribute without a transformer.
  private func writeOpaque(_ value: Value, slot: Slot) throws {
    try checkOpaque(value, slot: slot)
    try setStoredValue(.null, slot: slot)
  }

  /// Only null can be assigned.
  private func checkOpaque(_ value: Value, slot: Slot) throws {
    guard value.isNull else {
      throw refused(slot, value: value, reason: entity.properties[slot].attribute?.lackOfTransformer ?? "")
    }
  }

  /// The value of a derived attribute: a delayed or cached value, else the getter's result. Throws errors of the
  /// getter.
  private func derivedValue(_ slot: Slot, derived: DerivedSlot, behavior: EntityBehavior) throws -> Value {
    if hasDelayedValues, let pending = delayed[slot] { return pending }
    if state.contains(.fault) { try fireFault() }
    if hasCaches, let cached = caches[slot], cached.reads.map(holds) ?? true { return cached.value }
    let (value, reads) = try computing(slot, of: derived) { try blaming(slot, hook: "get") { try derived.get(self) } }
    cache(reads.map { Cached(value: value, reads: $0) }, slot: slot)
    if derived.shadowValue != nil { keepForChecks() }
    if let reads { _ = holds(reads) }
    return value
  }

  /// Assigns to a derived attribute, by its setter or delayed until will-save. An immediate setter runs at once, as a
  /// hook.
  private func writeDerived(
    _ value: Value, slot: Slot, derived: DerivedSlot, behavior: EntityBehavior
  ) throws {
    let set = try setter(of: derived, slot: slot, value: value)
    let fitting = try fitting(value, slot: slot, behavior: behavior)
    if derived.writePolicy == .delayed {
      // An equal value is no change. A value that cannot be computed counts as different.
      if let old = try? read(slot, behavior: behavior), old.isSame(as: fitting) || keepsSame(old, fitting, derived) {
        return
      }
      delay(fitting, slot: slot)
      return didChange(slot)
    }
    try blaming(slot, hook: "set") { try set(fitting, self) }
    outdate(slot)
    context?.noteChange()
    switch behavior.kind(slot) {
    case .stored, .storedTransformable:
      cache(nil, slot: slot)
      try keep(derived, in: slot)
    default:
      // A shadow keeps the assigned value; in any other case only `get` knows the result.
      let shadow = derived.shadow.flatMap(entity.slot)
      let isAssigned = derived.shadowValue != nil
      cache(
        shadow.map {
          Cached(value: fitting, reads: Readings(own: SlotSet([Facet($0).number]), isAssigned: isAssigned))
        }, slot: slot)
      if derived.shadowValue != nil { keepForChecks() }
    }
  }

  /// Whether the shadow of a derived attribute is the same for two values. A value without a shadow counts as
  /// different.
  private func keepsSame(_ old: Value, _ new: Value, _ derived: DerivedSlot) -> Bool {
    guard let shadowValue = derived.shadowValue, !old.isNull, !new.isNull else { return false }
    func kept(_ value: Value) -> Value? { try? context?.withinHook { try shadowValue(value, self) } }
    guard let known = kept(old), let coming = kept(new) else { return false }
    return known.isSame(as: coming)
  }

  /// The setter of a derived attribute. Throws if it has none. The code is `.invalidValue`.
  private func setter(of derived: DerivedSlot, slot: Slot, value: Value) throws -> (
    (Value, ManagedObject) throws -> Void
  ) {
    if let set = derived.set { return set }
    throw refused(
      slot, value: value, reason: "it is derived and nothing says how to write it: give it a set function")
  }

  /// Writes the values of delayed derived attributes through; returns whether there were any. A setter may assign other
  /// attributes.
  final func writeDelayedValues() throws -> Bool {
    guard !delayed.isEmpty else { return false }
    // A deleted object's delayed values are not needed.
    guard !isDeleted else {
      for slot in delayed.keys { delay(nil, slot: slot) }
      return false
    }
    let behavior = try behavior()
    for slot in delayed.keys.sorted() {
      // Writing a value may assign another delayed attribute.
      guard let value = delayed[slot] else { continue }
      guard let set = behavior.derived(slot)?.set else { throw cannotWrite(value, slot: slot) }
      // Reloaded extensions may declare another type.
      let fitting = try checked(value, slot: slot)
      delay(nil, slot: slot)
      do {
        try blaming(slot, hook: "set") { try set(fitting, self) }
      } catch {
        delay(value, slot: slot)
        throw error
      }
      outdate(slot)
    }
    return true
  }

  /// The error for a delayed value that the current extensions cannot write.
  private func cannotWrite(_ value: Value, slot: Slot) -> GraphError {
    let reason =
      entity.has(slot)
      ? "was assigned, and nothing says any more how to write it: give it a set function"
      : "was assigned, and is not there any more (\(entity.noMore(slot))): refresh the object without its changes, or roll back"
    return refused(slot, value: value, reason: reason, as: .extensionFailure)
  }
}

/// Attributes that only extensions declare, with slots above those of rows.
extension ManagedObject {
  /// Whether a slot belongs to an attribute that only extensions declare.
  @inline(__always)
  final func isAdded(_ slot: Slot) -> Bool { table._withUnsafeGuaranteedRef { slot >= $0.properties.count } }

  /// The error for an attribute that a reload of extensions removed, while its slot is still in use.
  final func noMore(_ slot: Slot) -> GraphError {
    GraphError(
      .unknownName, message: entity.noMore(slot), entity: entity.name, property: entity.property(at: slot).name,
      objectID: objectID)
  }
}
