package import MoonbaseModel

/// The row that a new object fills, and that a save takes as it is.
extension ManagedObject {
  /// A new object is one of the last of its page, and moves to another one.
  final func copyOwnRow() {
    guard row.isOwn else { return }
    weigh(row.copyOwn(key: key, to: table._withUnsafeGuaranteedRef { $0.pageForNewRow() }))
  }

  /// Sets a value of a new object, the quick way: nobody keeps what was there, nothing was computed from it, and it lies in the row.
  /// False, and nothing done, where that is not so. Nothing is retained, for that took as long as all else.
  @inline(__always)
  final func setNew(_ value: Value, slot: Slot) -> Bool {
    guard fillsItsRow, row.live.isEmpty, slot < 64 else { return false }
    return table._withUnsafeGuaranteedRef { table in
      guard table.rowSlots & 1 << UInt64(slot) != 0, let context = table.contextReference,
        let page = row.page.map(Unmanaged.passUnretained)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard !context.derivations.isWatching, !context.journal.records(self) else { return false }
        return page._withUnsafeGuaranteedRef { setNew(value, slot: slot, in: $0, of: context) }
      }
    }
  }

  private final func setNew(_ value: Value, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    if case .objectID(let id) = value, id.isTemporaryID { return false }
    let place = Int(row.place)
    if page.cell(slot, of: place).isSame(as: value) { return true }
    guard let bytes = page.replace(value, slot: slot, of: place) else { return false }
    noteNew(slot, bytes, in: context)
    return true
  }

  /// Whether `setNew` may do it: nobody need look at a value before that is known.
  @inline(__always)
  package final var fillsItsRow: Bool { state == [.inserted, .listed] && row.isOwn && record == nil }

  /// Sets an attribute of a new object to what lies elsewhere, the quick way: no value is made of it. False, and nothing done, where
  /// `setValue` has to be asked.
  package final func setNew(_ cell: RawCell, slot: Slot) -> Bool {
    guard fillsItsRow, isSimple(slot), row.live.isEmpty || row.live[slot] == nil else { return false }
    return table._withUnsafeGuaranteedRef { table in
      guard table.rowSlots & 1 << UInt64(slot) != 0, let context = table.contextReference,
        let page = row.page.map(Unmanaged.passUnretained), let type = table.entity.properties[slot].attributeType,
        cell.fits(type)
      else { return false }
      return context._withUnsafeGuaranteedRef { context in
        guard !context.derivations.isWatching, !context.journal.records(self) else { return false }
        return page._withUnsafeGuaranteedRef { setNew(cell, slot: slot, in: $0, of: context) }
      }
    }
  }

  private final func setNew(_ cell: RawCell, slot: Slot, in page: RowPage, of context: ManagedObjectContext) -> Bool {
    let place = Int(row.place)
    if page.rawCell(slot, of: place).isSame(as: cell) { return true }
    guard let bytes = page.replace(cell, slot: slot, of: place) else { return false }
    noteNew(slot, bytes, in: context)
    return true
  }

  /// A slot of the row was set, which keeps so many bytes more.
  @inline(__always)
  private final func noteNew(_ slot: Slot, _ bytes: Int, in context: ManagedObjectContext) {
    if bytes != 0, isWeighed { context.weigh(bytes) }
    row.markChanged(low: slot)
    context.changeCount &+= 1
    context.changedObjects.note(self)
  }

  /// The row of a new object becomes the one that is saved (`ObjectRow.complete`).
  final func completeRow(
    under id: ManagedObjectID, destination: (Slot) throws -> ManagedObjectID?
  ) rethrows -> Snapshot? {
    var bytes = 0
    defer { weigh(bytes) }
    return try table._withUnsafeGuaranteedRef {
      try row.complete(under: id.key, of: $0, bytes: &bytes, destination: destination)
    }
  }
}
