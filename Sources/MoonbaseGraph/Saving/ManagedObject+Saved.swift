import MoonbaseModel

/// Rows after a save.
extension ManagedObject {
  /// Whether the object has no state beside the row that it filled, and no observers. Then the save need not touch the
  /// object.
  @inline(__always)
  final func keepsItsRowOnly(of written: WrittenRow) -> Bool {
    guard case .inPlace(let page, let place) = written, row.isItsOwn(at: place, in: page), row.live.isEmpty,
      record == nil, !state.contains(.observed)
    else { return false }
    return table._withUnsafeGuaranteedRef { table in
      table.contextReference?._withUnsafeGuaranteedRef { !$0.derivations.isWatching } ?? false
    }
  }

  /// The row after a save; nil if the object keeps its row. The row may lie in a page that the save sealed.
  final func rowSaved(as written: WrittenRow) -> Snapshot? {
    switch written {
    case .copied(let new): new
    case .inPlace(let page, let place): Snapshot(unchecked: page.takeUnretainedValue(), at: Int(place))
    // A changed object had no values outside of its row in this case.
    case .nothing: row.isOwn ? row.snapshot ?? row.inItsPage : nil
    }
  }
}
