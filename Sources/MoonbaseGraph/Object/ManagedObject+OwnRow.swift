package import MoonbaseModel

/// The row that an object fills, and that a save takes as it is: of a new object from the beginning, of a saved one from its first
/// change on.
extension ManagedObject {
  /// A new object is one of the last of its page, and moves to another one.
  final func copyOwnRow() {
    guard row.isOwn else { return }
    weigh(row.copyOwn(key: key, to: table._withUnsafeGuaranteedRef { $0.pageForOwnRow().takeUnretainedValue() }))
  }

  /// The object has the store's row again, and the values that its own one had beside it.
  final func spillRow() {
    if row.isOwn { weigh(row.spill(slotCount: entity.properties.count)) }
  }

  /// The own row becomes the one that is saved (`ObjectRow.complete`).
  final func completeRow(under key: Int64, version: Int64) -> Bool {
    guard let bytes = table._withUnsafeGuaranteedRef({ row.complete(under: key, version: version, of: $0) }) else {
      return false
    }
    weigh(bytes)
    return true
  }

  /// The same of a destination, under the ID that it gets.
  final func completeRow(leadingTo id: ManagedObjectID, slot: Slot) { weigh(row.complete(leadingTo: id, slot: slot)) }

  /// The first change of a saved object gives it a row of its own. False, and nothing done, where the row has no cell for the value.
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

/// Setting attributes the quick way: nothing was computed from them, and they lie in the object's own row.
/// Nothing is retained, for that took as long as all else.
extension ManagedObject {
  /// Whether it may be: nobody need look at a value before that is known.
  @inline(__always)
  package final var writesItsRow: Bool { row.isOwn ? isFillingItsRow : isAsRead }

  @inline(__always)
  private final var isFillingItsRow: Bool {
    record == nil && (state == [.inserted, .listed] || state.subtracting(.born) == [.updated, .listed])
  }

  @inline(__always)
  private final var isAsRead: Bool { record == nil && state.subtracting(.born).isEmpty }

  /// Sets a value of an object that fills its row. False, and nothing done, where that has to be noted.
  @inline(__always)
  final func setQuickly(_ value: Value, slot: Slot) -> Bool {
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

  private final func put(_ value: Value, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    // Who points at a saved object, or is pointed at by one, has more to note.
    if case .objectID(let id) = value, id.isTemporaryID || !state.contains(.inserted) { return false }
    let place = Int(row.place)
    if page.cell(slot, of: place).isSame(as: value) { return true }
    context.recordValue(slot, of: self)
    guard let bytes = page.replace(value, slot: slot, of: place) else { return false }
    noteSet(slot, bytes, in: context)
    return true
  }

  /// Sets an attribute of an object that fills a row of its own to something of the same kind, where nobody need know what was there. False,
  /// and nothing done, where `setNoting` has to be asked.
  @inline(__always)
  final func overwrite(_ cell: RawCell, slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { table in
      guard table.takes(cell, slot), isFillingItsRow, row.live.isEmpty,
        let context = table.contextReference, let page = row.page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard context.overwritesQuietly else { return overwriteNoting(cell, slot: slot, in: page, of: context) }
        return page._withUnsafeGuaranteedRef { page in
          switch page.overwrite(cell, slot: slot, of: Int(row.place)) {
          case .refused: return false
          case .same: return true
          case .done(let bytes):
            if bytes != 0, isWeighed { context.weigh(bytes) }
            row.markChanged(low: slot)
            context.changeCount &+= 1
            return true
          }
        }
      }
    }
  }

  /// The same where the journal keeps what was there, or somebody follows changes.
  private final func overwriteNoting(
    _ cell: RawCell, slot: Slot, in page: Unmanaged<RowPage>, of context: ManagedObjectContext
  ) -> Bool {
    if context.derivations.isWatching { return false }
    return page._withUnsafeGuaranteedRef { page in
      let isRecorded = context.journal.records(self)
      // Mostly the store's row has it: then no value is made.
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

  /// The same of an object that has no change yet.
  final func overwriteFirst(_ cell: RawCell, slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { table in
      guard table.takes(cell, slot), isAsRead, row.live.isEmpty, RowPage.takes(cell),
        let context = table.contextReference, let page = row.page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard context.overwritesQuietly else { return false }
        if page._withUnsafeGuaranteedRef({ $0.rawCell(slot, of: Int(row.place)).isSame(as: cell) }) { return true }
        let bytes = row.beginChange(cell, slot: slot, in: table.pageForOwnRow())
        if isWeighed { context.weigh(bytes) }
        context.changeCount &+= 1
        if mark(slot, as: [.listed, .updated]) { context.changedObjects.append(self) }
        return true
      }
    }
  }

  /// Sets an attribute to what lies elsewhere: no value is made of it. False, and nothing done, where `setValue` has to be asked.
  @inline(__always)
  package final func setQuickly(_ cell: RawCell, slot: Slot) -> Bool {
    (row.isOwn ? overwrite(cell, slot: slot) : overwriteFirst(cell, slot: slot)) || setNoting(cell, slot: slot)
  }

  /// The same where somebody has to know what was there, or the cell holds something of another kind.
  private final func setNoting(_ cell: RawCell, slot: Slot) -> Bool {
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

  @inline(__always)
  private final func put(_ cell: RawCell, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    context.recordValue(slot, of: self)
    guard let bytes = page.replace(cell, slot: slot, of: Int(row.place)) else { return false }
    noteSet(slot, bytes, in: context)
    return true
  }

  @inline(__always)
  private final func beginChange(
    _ cell: RawCell, slot: Slot, of table: ObjectTable, in context: ManagedObjectContext
  ) -> Bool {
    guard RowPage.takes(cell) else { return false }
    context.recordValue(slot, of: self)
    let bytes = row.beginChange(cell, slot: slot, in: table.pageForOwnRow())
    if isWeighed { context.weigh(bytes) }
    context.didChange(self, slot)
    return true
  }

  /// A slot of the row was set, which keeps so many bytes more.
  @inline(__always)
  private final func noteSet(_ slot: Slot, _ bytes: Int, in context: ManagedObjectContext) {
    if bytes != 0, isWeighed { context.weigh(bytes) }
    row.markChanged(low: slot)
    context.changeCount &+= 1
    context.changedObjects.note(self)
  }
}
