import MoonbaseModel

/// What lies in the record of an object: read, and put there.
extension ManagedObject {
  /// Values that transformers and derived attributes gave.
  final var caches: SlotMap<Cached> { record?.caches ?? [:] }
  /// Values assigned to delayed derived attributes, until will-save.
  final var delayed: SlotMap<Value> { record?.delayed ?? [:] }
  /// The faults that read their rows together with this one.
  final var batch: FaultBatch? { record?.batch }
  /// To-many relationships of which something is known.
  final var relationships: SlotMap<ToManyState> { record?.relationships ?? [:] }
  /// Whether a delayed value waits for will-save.
  @inline(__always)
  final var hasDelayedValues: Bool { record.map { !$0.delayed.isEmpty } ?? false }
  /// Whether any value was made of others.
  @inline(__always)
  final var hasCaches: Bool { record.map { !$0.caches.isEmpty } ?? false }

  /// Whether a change of the object may concern a value that was made of it, or an observer.
  @inline(__always)
  final var isWatched: Bool { state.contains(.observed) || hasCaches }

  final func setCaches(_ caches: SlotMap<Cached>) {
    guard !caches.isEmpty || record != nil else { return }
    ownRecord.caches = caches
    weighComputed()
  }

  final func setDelayed(_ values: SlotMap<Value>) {
    guard !values.isEmpty || record != nil else { return }
    ownRecord.delayed = values
    weighComputed()
  }

  final func setRelationships(_ known: SlotMap<ToManyState>) {
    guard !known.isEmpty || record != nil else { return }
    ownRecord.relationships = known
    weighRelationships()
  }

  /// Keeps what a transformer or derived attribute gave; nil forgets it.
  final func cache(_ cached: Cached?, slot: Slot) {
    guard cached != nil || record != nil else { return }
    ownRecord.caches[slot] = cached
    weighComputed()
  }

  final func forgetCaches() { setCaches([:]) }

  /// What a derived attribute gave, where it holds and nobody has to hear that it was read; nil leaves it to `read`.
  @inline(__always)
  final func keptValue(_ slot: Slot) -> Value? {
    guard !state.contains(.fault), let record = record.map(Unmanaged.passUnretained), contextKnowsSimpleSlots else {
      return nil
    }
    // Nothing is retained, for that took as long as all else.
    return record._withUnsafeGuaranteedRef { record in
      guard record.delayed.isEmpty else { return nil }
      return record.caches.first(slot) { cached in
        // A bare `nil` beside a value is `Value.null`.
        cached.pointee.holdsUnasked ? cached.pointee.value : Value?.none
      }
    }
  }

  @inline(__always)
  private final var contextKnowsSimpleSlots: Bool {
    table._withUnsafeGuaranteedRef { table in
      table.contextReference?._withUnsafeGuaranteedRef { $0.knowsSimpleSlots } ?? false
    }
  }

  /// What a transformer made of the bytes in a slot.
  final func transformed(_ slot: Slot) -> Value? {
    guard let cached = record?.caches[slot], cached.reads == nil else { return nil }
    return cached.value
  }

  /// Keeps a value until will-save; nil forgets it.
  final func delay(_ value: Value?, slot: Slot) {
    let old = delayed[slot]
    guard value != nil || old != nil else { return }
    // To be written through is no change of what it is.
    remember(.delayed(slot, old), Facet(slot), silently: value == nil)
    restoreDelayed(value, slot: slot)
  }

  /// Puts back the value that waited for will-save, or that none did.
  final func restoreDelayed(_ value: Value?, slot: Slot) {
    guard value != nil || record != nil else { return }
    ownRecord.delayed[slot] = value
    weighComputed()
  }

  /// Puts what is known of a to-many relationship in its place.
  final func setRelationship(_ known: ToManyState, slot: Slot) {
    ownRecord.relationships[slot] = known
    context?.noteList(slot, of: self)
    weighRelationships()
  }

  /// The row will be read together with those of other faults.
  final func join(_ batch: FaultBatch) { ownRecord.batch = batch }

  final func leaveBatch() {
    guard let record, record.batch != nil else { return }
    record.batch = nil
    dropEmptyRecord()
  }
}
