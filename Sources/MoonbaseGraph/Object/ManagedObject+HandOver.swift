import MoonbaseModel

/// Saving ahead: what becomes of an object while another thread writes it, and after that.
extension ManagedObject {
  /// Another thread writes the changes. Until it is known what became of them the object is a fault, so that who asks for its values
  /// or sets one waits for that. Returns what it had. A new object keeps that, in the row that is written; `copy` is one that was
  /// made of it.
  final func handOver(to copy: Snapshot?) -> Reading? {
    guard !state.contains(.inserted) else {
      if let copy { weigh(row.takePlace(copy.place, in: copy.page, owning: true)) }
      changeState(removing: .listed, adding: [.fault, .refreshed])
      return nil
    }
    let reading = reading
    changeState(removing: [.updated, .listed])
    becomeFaultSilently()
    dropEmptyRecord()
    changeState(adding: .refreshed)
    return reading
  }

  /// It is known what became of a new object that another thread wrote. With `listed` it waits to be saved again.
  final func endHandOver(listed: Bool) {
    changeState(removing: [.fault, .refreshed], adding: listed ? .listed : [])
  }

  /// Another thread writes new objects that came to lists of the object. They count as changes until it is known what became of it.
  final func handOverLists() { changeState(adding: .listsUnderWay) }

  /// It is known what became of that: `permanent` has the IDs of what was saved, nothing where the save failed. What came since stays.
  final func endHandOverOfLists(_ permanent: PermanentIDs?) {
    changeState(removing: .listsUnderWay)
    guard let permanent else { return }
    outdateTemporaryDestinations()
    for known in relationships.values { known.didSave(only: permanent) }
    weighRelationships()
    if !forgetSavedLists(), let context, context.journal.isActive { context.ownersInDoubt.append(self) }
  }
}
