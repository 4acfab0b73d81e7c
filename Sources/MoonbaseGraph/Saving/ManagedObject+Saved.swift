import MoonbaseModel

/// Transitions of objects at a save.
extension ManagedObject {
  /// Records that the object is saved under its reserved ID, with the row that was written, if any.
  ///
  /// `permanent` maps the temporary IDs of objects in the same save.
  final func becomeSaved(as written: SavePlan.Written, id: ManagedObjectID, permanent: PermanentIDs) {
    if state.contains(.inserted) { state.insert(.born) }
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    if keepsItsRowOnly(of: written), objectID == id { return weigh(row.keepCompleted()) }
    if !permanent.isEmpty { outdateTemporaryDestinations() }
    if objectID != id { changeID(to: id) } else { outdate(.state, because: .row) }
    if let new = rowSaved(as: written) {
      if let context, context.derivations.isWatching { context.derivations.setVersion(new.version, of: id) }
      setSnapshot(new)
      keepTransientValues()
    }
    replaceTransientDestinations(by: permanent)
    setChanged(SlotSet())
    guard record != nil else { return }
    for known in relationships.values { known.didSave(permanent: permanent) }
    dropEmptyRecord()
  }

  /// Whether the object has no state beside the row that it filled, and no observers.
  @inline(__always)
  private final func keepsItsRowOnly(of written: SavePlan.Written) -> Bool {
    guard case .inPlace(let page, let place) = written, row.isItsOwn(at: place, in: page), row.live.isEmpty,
      record == nil, !state.contains(.observed)
    else { return false }
    return table._withUnsafeGuaranteedRef { table in
      table.contextReference?._withUnsafeGuaranteedRef { !$0.derivations.isWatching } ?? false
    }
  }

  /// The row after a save; nil if the object keeps its row.
  private final func rowSaved(as written: SavePlan.Written) -> Snapshot? {
    switch written {
    case .copied(let new): new
    case .inPlace(let page, let place): Snapshot(unchecked: page.takeUnretainedValue(), at: Int(place))
    // A changed object had no values outside of its row in this case.
    case .nothing: row.isOwn ? row.snapshot ?? row.inItsPage : nil
    }
  }

  /// Clears the marks of lists that are in their saved state. Returns whether the object has nothing left to save.
  @discardableResult
  final func forgetSavedLists() -> Bool {
    var rest = changed
    for slot in entity.toManySlots where relationships[slot]?.hasChanges != true { rest.remove(slot) }
    setChanged(rest)
    guard rest.isEmpty, delayed.isEmpty, !state.contains(.deleted) else { return !state.contains(.listed) }
    state.remove(.updated)
    spillRow()
    context?.unlist(self)
    return true
  }

  /// Prepares an object with a saved deletion for its `didSave` hooks.
  final func prepareForDidSaveOfDeletion() {
    spillRow()
    state.subtract([.inserted, .updated, .listed, .propagated])
  }

  /// Gives a new object the ID under which it will be saved.
  final func takePermanentID(_ id: ManagedObjectID) { changeID(to: id) }

  /// Detaches an object whose deletion is saved.
  final func becomeDeleted() {
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    leave(because: .deleted)
  }

  /// Changes the object's ID, and drops values that may depend on it.
  private func changeID(to id: ManagedObjectID) {
    // A getter may have read the ID, of which no facet reports a change.
    outdateAll(because: .identity)
    if hasCaches { setCaches(caches.filter { $1.reads.map { $0.isStored || $0.isAssigned } ?? true }) }
    guard let context else { return }
    if context.derivations.isWatching || hasCaches { context.derivations.rename(self, to: id) }
    context.tellListeners(of: objectID, renamedTo: id)
    context.registered.remove(self)
    move(to: context.table(of: id.kind, entity: entity).takeUnretainedValue(), key: id.key)
    context.register(self)
  }
}
