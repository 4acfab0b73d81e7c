import MoonbaseModel

/// Saves that another thread writes: the object's state meanwhile and afterwards.
extension ManagedObject {
  /// Prepares the object for a save that another thread writes. Returns the object's former state.
  ///
  /// Until the outcome is known the object is a fault, so that an access waits for it. A new object keeps its values in
  /// the row that is written; `copy` is a copy of this row, if one was made. A saved object becomes a fault without
  /// values; its former state is kept by the save.
  final func beginPendingSave(to copy: Snapshot?) -> Reading? {
    guard !state.contains(.inserted) else {
      if let copy { weigh(row.takePlace(copy.place, in: copy.page, owning: true)) }
      changeState(removing: .listed, adding: [.fault, .refreshed])
      return nil
    }
    let reading = reading
    changeState(removing: [.updated, .listed])
    becomeFaultForPendingSave()
    dropEmptyRecord()
    changeState(adding: .refreshed)
    return reading
  }

  /// Ends the pending save of a new object. With `listed` the object waits for the next save. Called with the result of
  /// the save.
  final func endPendingSave(listed: Bool) {
    changeState(removing: [.fault, .refreshed], adding: listed ? .listed : [])
  }

  /// Marks the object's lists as part of a pending save of new objects, whose addition counts as a change until the
  /// outcome is known.
  final func handOverLists() { changeState(adding: .hasPendingLists) }

  /// Ends the pending save of the object's lists. `permanent` has the IDs of saved objects; nil if the save failed.
  ///
  /// Later changes are kept.
  final func endHandOverOfLists(_ permanent: PermanentIDs?) {
    changeState(removing: .hasPendingLists)
    guard let permanent else { return }
    outdateTemporaryDestinations()
    for known in relationships.values { known.didSave(only: permanent) }
    weighRelationships()
    if !forgetSavedLists(), let context, context.journal.isActive { context.ownersToRecheck.append(self) }
  }
}
