package import MoonbaseModel

/// The object's own row, which a save adopts without copying.
///
/// A new object has such a row from the beginning, a saved object from its first change.
extension ManagedObject {
  /// Moves a new object's row to another page, because few rows of its page are left. Called for pages with few
  /// remaining objects.
  final func copyOwnRow() {
    guard row.isOwn else { return }
    weigh(row.copyOwn(key: key, to: table._withUnsafeGuaranteedRef { $0.pageForOwnRow().takeUnretainedValue() }))
  }

  /// Restores the store's row, with the own row's values beside it. Called before another row takes the place.
  final func spillRow() {
    if row.isOwn { weigh(row.spill(slotCount: entity.properties.count)) }
  }

  /// Completes the own row for the save (`ObjectRow.complete`). False if the page is sealed, after a failed save.
  final func completeRow(under key: Int64, version: Int64) -> Bool {
    guard let bytes = table._withUnsafeGuaranteedRef({ row.complete(under: key, version: version, of: $0) }) else {
      return false
    }
    weigh(bytes)
    return true
  }

  /// Sets a destination in the completed row to the ID that it gets.
  final func completeRow(leadingTo id: ManagedObjectID, slot: Slot) { weigh(row.complete(leadingTo: id, slot: slot)) }

  /// Makes an own row at the first change of a saved object; false without effect if the row has no cell for the value.
  /// Attributes and to-one relationships to saved objects have cells.
  final func beginChange(_ value: Value, slot: Slot) -> Bool {
    guard slot < 64, row.page != nil, row.live.isEmpty || row.live[slot] == nil else { return false }
    if case .objectID(let id) = value, id.isTemporaryID { return false }
    return table._withUnsafeGuaranteedRef { table in
      guard table.rowSlots & 1 << UInt64(slot) != 0 else { return false }
      weigh(row.beginChange(value, slot: slot, in: table.pageForOwnRow()))
      return true
    }
  }
}

/// The fast path for setting attributes: the object has its own row, and no value was computed from the attribute.
///
/// Nothing is retained, because retaining would take as long as the rest of the path.
extension ManagedObject {
  /// Whether the fast path may apply, before the value is considered.
  @inline(__always)
  package final var writesItsRow: Bool { row.isOwn ? isFillingItsRow : isAsRead }

  /// Whether the object has a new or changed row of its own, without observers and cached values.
  @inline(__always)
  private final var isFillingItsRow: Bool {
    record == nil && (state == [.inserted, .listed] || state.subtracting(.born) == [.updated, .listed])
  }

  /// Whether the object has no changes and no state beside its row.
  @inline(__always)
  private final var isAsRead: Bool { record == nil && state.subtracting(.born).isEmpty }

  /// Sets a value in the object's own row; false without effect if the change needs the slow path. The journal records
  /// the former value if necessary.
  @inline(__always)
  final func setFast(_ value: Value, slot: Slot) -> Bool {
    guard row.isOwn, isFillingItsRow, row.live.isEmpty, slot < 64 else { return false }
    return table._withUnsafeGuaranteedRef { table in
      guard table.rowSlots & 1 << UInt64(slot) != 0, let context = table.contextReference,
        let page = row.page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard !context.derivations.isWatching else { return false }
        return page._withUnsafeGuaranteedRef { put(value, slot: slot, in: $0, of: context) }
      }
    }
  }

  /// False without effect if the page has no room.
  private final func put(_ value: Value, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    // A reference to or from a saved object needs more work.
    if case .objectID(let id) = value, id.isTemporaryID || !state.contains(.inserted) { return false }
    let place = Int(row.place)
    if page.cell(slot, of: place).isSame(as: value) { return true }
    context.recordValue(slot, of: self)
    guard let bytes = page.replace(value, slot: slot, of: place) else { return false }
    noteSet(slot, bytes, in: context)
    return true
  }

  /// Overwrites an attribute in the own row by a cell of the same kind, when the former value need not be recorded.
  ///
  /// False without effect if `setRecording` has to be tried. The usual path of a script's assignment.
  @inline(__always)
  final func overwrite(_ cell: RawCell, slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { table in
      guard table.accepts(cell, slot), isFillingItsRow, row.live.isEmpty,
        let context = table.contextReference, let page = row.page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard context.overwritesQuietly else { return overwriteRecording(cell, slot: slot, in: page, of: context) }
        return page._withUnsafeGuaranteedRef { page in
          switch page.overwrite(cell, slot: slot, of: Int(row.place)) {
          case .refused: return false
          case .same: return true
          case .done(let bytes):
            if bytes != 0, isWeighed { context.weigh(bytes) }
            row.markChanged(low: slot)
            context.counters.changeCount &+= 1
            return true
          }
        }
      }
    }
  }

  /// Overwrites the attribute when the journal records the former value, or changes are followed. False without effect
  /// if derived values are watched.
  private final func overwriteRecording(
    _ cell: RawCell, slot: Slot, in page: Unmanaged<RowPage>, of context: ManagedObjectContext
  ) -> Bool {
    if context.derivations.isWatching { return false }
    return page._withUnsafeGuaranteedRef { page in
      let isRecorded = context.journal.records(self)
      // Mostly the store's row has the former value, which then needs no `Value`.
      let own = isRecorded && row.owns(slot) ? page.value(slot, of: Int(row.place)) : nil
      switch page.overwrite(cell, slot: slot, of: Int(row.place)) {
      case .refused: return false
      case .same: return true
      case .done(let bytes):
        if isRecorded { context.record(own, slot, of: self) }
        noteSet(slot, bytes, in: context)
        return true
      }
    }
  }

  /// Overwrites an attribute of an object without changes. False without effect if the object has any state beside its
  /// row.
  final func overwriteFirst(_ cell: RawCell, slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { table in
      guard table.accepts(cell, slot), isAsRead, row.live.isEmpty, RowPage.fits(cell),
        let context = table.contextReference, let page = row.page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard context.overwritesQuietly else { return false }
        if page._withUnsafeGuaranteedRef({ $0.rawCell(slot, of: Int(row.place)).isSame(as: cell) }) { return true }
        let bytes = row.beginChange(cell, slot: slot, in: table.pageForOwnRow())
        if isWeighed { context.weigh(bytes) }
        context.counters.changeCount &+= 1
        if mark(slot, as: [.listed, .updated]) { context.changedObjects.append(self) }
        return true
      }
    }
  }

  /// Sets an attribute to a cell without an intermediate `Value`; false without effect if `setValue` has to be called.
  /// Used by typed accessors.
  @inline(__always)
  package final func setFast(_ cell: RawCell, slot: Slot) -> Bool {
    (row.isOwn ? overwrite(cell, slot: slot) : overwriteFirst(cell, slot: slot)) || setRecording(cell, slot: slot)
  }

  /// Sets an attribute when the former value has to be recorded, or the cell is of another kind. The former value is
  /// recorded as a `Value`.
  private final func setRecording(_ cell: RawCell, slot: Slot) -> Bool {
    guard writesItsRow, isSimple(slot), row.live.isEmpty || row.live[slot] == nil else { return false }
    return table._withUnsafeGuaranteedRef { table in
      guard table.rowSlots & 1 << UInt64(slot) != 0, let context = table.contextReference,
        let page = row.page.map(Unmanaged.passUnretained), let type = table.properties[slot].attributeType,
        cell.fits(type)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard !context.derivations.isWatching else { return false }
        return page._withUnsafeGuaranteedRef {
          if $0.rawCell(slot, of: Int(row.place)).isSame(as: cell) { return true }
          return row.isOwn
            ? put(cell, slot: slot, in: $0, of: context) : beginChange(cell, slot: slot, of: table, in: context)
        }
      }
    }
  }

  /// For an object with a row of its own.
  @inline(__always)
  private final func put(_ cell: RawCell, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    context.recordValue(slot, of: self)
    guard let bytes = page.replace(cell, slot: slot, of: Int(row.place)) else { return false }
    noteSet(slot, bytes, in: context)
    return true
  }

  /// For an object without changes.
  @inline(__always)
  private final func beginChange(
    _ cell: RawCell, slot: Slot, of table: ObjectTable, in context: ManagedObjectContext
  ) -> Bool {
    guard RowPage.fits(cell) else { return false }
    context.recordValue(slot, of: self)
    let bytes = row.beginChange(cell, slot: slot, in: table.pageForOwnRow())
    if isWeighed { context.weigh(bytes) }
    context.didChange(self, slot)
    return true
  }

  /// Records that a slot of the row was set; `bytes` is the growth of the row. The object counts as changed.
  @inline(__always)
  private final func noteSet(_ slot: Slot, _ bytes: Int, in context: ManagedObjectContext) {
    if bytes != 0, isWeighed { context.weigh(bytes) }
    row.markChanged(low: slot)
    context.counters.changeCount &+= 1
    context.changedObjects.note(self)
  }
}

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
