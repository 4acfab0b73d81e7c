package import MoonbaseModel

/// Access to the object's record.
///
/// The record exists only for objects with more than a row, which saves memory for most objects.
extension ManagedObject {
  /// Cached values from transformers and derived attributes.
  final var caches: SlotMap<Cached> { record?.caches ?? [:] }
  /// Values assigned to delayed derived attributes, until will-save.
  final var delayed: SlotMap<Value> { record?.delayed ?? [:] }
  /// The faults whose rows are read together with this object's row.
  final var batch: FaultBatch? { record?.batch }
  /// The states of to-many relationships that were read or changed.
  package final var relationships: SlotMap<ToManyState> { record?.relationships ?? [:] }
  /// Whether a delayed value waits for will-save.
  @inline(__always)
  final var hasDelayedValues: Bool { record.map { !$0.delayed.isEmpty } ?? false }
  /// Whether the object has cached values.
  @inline(__always)
  final var hasCaches: Bool { record.map { !$0.caches.isEmpty } ?? false }

  /// Whether a change of the object may affect a cached value or an observer.
  @inline(__always)
  final var isWatched: Bool { state.contains(.observed) || hasCaches }

  /// Replaces all cached values. Also updates the weight.
  final func setCaches(_ caches: SlotMap<Cached>) {
    guard !caches.isEmpty || record != nil else { return }
    ownRecord.caches = caches
    weighComputed()
  }

  /// Replaces all delayed values. Used when values are restored.
  final func setDelayed(_ values: SlotMap<Value>) {
    guard !values.isEmpty || record != nil else { return }
    ownRecord.delayed = values
    weighComputed()
  }

  /// Replaces the states of all to-many relationships. Used when values are restored.
  final func setRelationships(_ known: SlotMap<ToManyState>) {
    guard !known.isEmpty || record != nil else { return }
    ownRecord.relationships = known
    weighRelationships()
  }

  /// Caches the value of a transformer or derived attribute; nil removes it. The cache is checked by the recorded reads
  /// before its use.
  final func cache(_ cached: Cached?, slot: Slot) {
    guard cached != nil || record != nil else { return }
    ownRecord.caches[slot] = cached
    weighComputed()
  }

  /// Removes all cached values. Used when the object becomes a fault.
  final func forgetCaches() { setCaches([:]) }

  /// The cached value of a derived attribute if it is valid and the read need not be recorded; nil leaves the access to
  /// `read`.
  @inline(__always)
  final func keptValue(_ slot: Slot) -> Value? {
    guard !state.contains(.fault), let record = record.map(Unmanaged.passUnretained), contextKnowsSimpleSlots else {
      return nil
    }
    // Nothing is retained, because retaining would take as long as the rest of the access.
    return record._withUnsafeGuaranteedRef { record in
      guard record.delayed.isEmpty else { return nil }
      return record.caches.first(slot) { cached in
        // A bare `nil` beside a value means `Value.null`.
        cached.pointee.isValidUntilInvalidated ? cached.pointee.value : Value?.none
      }
    }
  }

  /// Whether the kinds of slots are known, so that `keptValue` may be used.
  @inline(__always)
  private final var contextKnowsSimpleSlots: Bool {
    table._withUnsafeGuaranteedRef { table in
      table.contextReference?._withUnsafeGuaranteedRef { $0.knowsSimpleSlots } ?? false
    }
  }

  /// The cached value that a transformer made from the bytes in a slot. Nil for a value of a derived attribute.
  final func transformed(_ slot: Slot) -> Value? {
    guard let cached = record?.caches[slot], cached.reads == nil else { return nil }
    return cached.value
  }

  /// Keeps a value until will-save; nil removes it. The former value is recorded.
  final func delay(_ value: Value?, slot: Slot) {
    let old = delayed[slot]
    guard value != nil || old != nil else { return }
    // Writing a delayed value through does not change the attribute's value.
    remember(.delayed(slot, old), Facet(slot), silently: value == nil)
    restoreDelayed(value, slot: slot)
  }

  /// Restores a delayed value, or its absence. Nothing is recorded.
  final func restoreDelayed(_ value: Value?, slot: Slot) {
    guard value != nil || record != nil else { return }
    ownRecord.delayed[slot] = value
    weighComputed()
  }

  /// Sets the state of a to-many relationship. Lists of an object are also counted by the context.
  final func setRelationship(_ known: ToManyState, slot: Slot) {
    ownRecord.relationships[slot] = known
    context?.noteList(slot, of: self)
    weighRelationships()
  }

  /// Makes the row part of a batch, whose rows are read together. The first access to an object of the batch reads all
  /// rows.
  final func join(_ batch: FaultBatch) { ownRecord.batch = batch }

  /// Removes the row from its batch.
  final func leaveBatch() {
    guard let record, record.batch != nil else { return }
    record.batch = nil
    dropEmptyRecord()
  }
}

/// Access for migrations: stored values without transformers, and objects with predetermined keys.
extension ManagedObject {
  /// The stored value, without transformer and accessor; for an external value, its bytes. Fires a fault.
  package final func copiedValue(at slot: Slot) throws -> Value { try loaded(slot) }

  /// Assigns a stored value, which must be of the attribute's type. Records a change as an ordinary assignment does.
  package final func setCopiedValue(_ value: Value, slot: Slot) throws { try setStoredValue(value, slot: slot) }
}

extension ManagedObjectContext {
  /// Inserts an object with the ID under which it will be saved, for a store that only the caller writes. The object
  /// keeps this ID when it is saved.
  package func insert(_ entity: ResolvedEntity, as id: ManagedObjectID) throws -> ManagedObject {
    let object = try insert(entity)
    object.setPermanentID(id)
    changedObjects.note(object)
    return object
  }

  /// An estimate of the bytes that the context's objects hold.
  package var objectWeight: Int { memory.weight }
}
