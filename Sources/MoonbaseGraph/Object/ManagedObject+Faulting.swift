import MoonbaseModel

/// Faults: objects without values, until their first access.
extension ManagedObject {
  /// Reads the object's values from its store unless they are known.
  ///
  /// Throws `.objectNotFound` if the row no longer exists, and the errors of the store.
  public final func fireFault() throws {
    waitForPendingSave()
    guard state.contains(.fault) else { return }
    if let context { context.checkConfinement(of: self) }
    guard !fireWithoutHooks() else { return }
    guard let context else { throw detachedError }
    if page == nil, let batch { try context.loadRows(of: batch.ids) }
    leaveBatch()
    if page == nil {
      if context.readAhead.deferredRows != nil { try context.readWantedRows(around: objectID) }
      // The reads above may have delivered this row.
      if page == nil {
        adoptRow(try context.source.row(of: objectID, in: context.view, within: context.greatestAge))
      }
    } else if context.greatestAge != nil {
      try refreshIfStale(in: context)
    }
    if stopBeingFault() || context.readAhead.hasReadLists { updateInverses() }
    try wakeUp(in: context)
  }

  /// Whether a row has to be read before the values can be used. False for a fault whose row is in the row cache.
  final var needsRow: Bool { state.contains(.fault) && snapshot == nil }

  /// Reads the row again if it exceeds the context's staleness interval. The view of a walk has one state, whatever its
  /// age. Throws errors of the store, and `.objectNotFound`.
  private func refreshIfStale(in context: ManagedObjectContext) throws {
    guard let page, !page.isFresh(within: context.greatestAge), context.view == nil, !isInserted else { return }
    adoptRow(try context.source.row(of: objectID, in: nil, within: context.greatestAge))
  }

  /// Runs the awake-from-fetch hooks, and computes values in advance. If a hook throws, the object becomes a fault
  /// again, and the error is thrown.
  private func wakeUp(in context: ManagedObjectContext) throws {
    let behavior = try context.behavior(of: entity)
    guard behavior.hasAwakeFromFetch else { return }
    try awaking {
      for slot in behavior.preCalculatedSlots { try calculateAhead(slot, behavior) }
      if behavior.hooks.contains(.awakeFromFetch) { try running("awakeFromFetch") { try awakeFromFetch() } }
      for entry in behavior.extensions { try run("awakeFromFetch", hook: entry.awakeFromFetch) }
    }
  }

  /// Computes a value at awake-from-fetch. If the getter fails, only a reader of the value gets the error.
  ///
  /// So the program can still read the other values, and make the assignment that repairs this one. The error is thrown
  /// again by the reader, which computes the value again.
  private func calculateAhead(_ slot: Slot, _ behavior: EntityBehavior) throws {
    do { _ = try read(slot, behavior: behavior) } catch let error as any CodedError
      where !error.code.endsRun && !error.code.isOfStore
    {}
  }

  /// Runs the hooks before or after the object becomes a fault, and returns their errors. Each hook runs despite other
  /// errors. Hooks of the class come before those of extensions.
  final func failuresOfHooks(before: Bool) -> [any Error] {
    let name = before ? "willTurnIntoFault" : "didTurnIntoFault"
    var failures: [any Error] = []
    func collect(_ body: () throws -> Void) {
      do { try body() } catch { failures.append(error) }
    }
    collect {
      guard try behavior().hooks.contains(before ? .willTurnIntoFault : .didTurnIntoFault) else { return }
      try running(name) { before ? try willTurnIntoFault() : try didTurnIntoFault() }
    }
    collect {
      for entry in try behavior().extensions {
        collect { try run(name, hook: before ? entry.willTurnIntoFault : entry.didTurnIntoFault) }
      }
    }
    return failures
  }

  /// Runs the hooks for replaced values, and returns their errors. Each hook runs despite other errors.
  ///
  /// Code that undoes changes or resolves conflicts calls this at its end.
  final func failuresOfAwaking(from events: SnapshotEventType) -> [any Error] {
    guard context != nil else { return [] }
    let behavior: EntityBehavior
    do { behavior = try self.behavior() } catch { return [error] }
    guard behavior.hasSnapshotHooks else { return [] }
    let name = "awakeFromSnapshot"
    var failures: [any Error] = []
    func collect(_ body: () throws -> Void) {
      do { try body() } catch { failures.append(error) }
    }
    awakingAgain {
      collect {
        guard behavior.hooks.contains(.awakeFromSnapshotEvents) else { return }
        try running(name) { try awake(fromSnapshotEvents: events) }
      }
      for entry in behavior.extensions {
        guard let hook = entry.awakeFromSnapshotEvents else { continue }
        collect { try running(name) { try hook(self, events) } }
      }
    }
    return failures
  }

  /// Adopts a newer row of the store; unsaved changes stay on top. Both sides of its relationships and values computed
  /// from the former row are adjusted.
  final func adopt(_ newer: Snapshot) {
    let (former, old, row) = (watchedValues, entity.toOneSlots.map(current), snapshot)
    if state.contains(.listed) { remember(.row(reading)) }
    forgetReadings(before: newer)
    rebase(on: newer)
    context?.observations.changeEvent?.refresh(self)
    outdateDifferences(from: former, because: .row)
    context?.derivations.setVersion(newer.version, of: objectID)
    context?.noteChange()
    context?.changedObjects.note(self)
    for (slot, old) in zip(entity.toOneSlots, old) {
      if !changed.contains(slot) {
        rowMoved(slot, from: old ?? .null, to: newer.values[slot])
      } else if row?.values[slot] != newer.values[slot] {
        dropInverse(from: newer.values[slot], slot: slot)
      }
    }
  }

  /// Adopts the store's current row, unless the object is a fault or has unsaved changes. Throws errors of the store.
  package final func adoptCurrentValues() throws {
    if !isFault, !state.contains(.listed) { _ = try adoptCurrentRow() }
  }

  /// Adopts the store's current row when the other side of a relationship proves that this row is outdated.
  ///
  /// An object that the next save writes keeps its row, so that the save finds the conflict. Returns nil if the row no
  /// longer exists.
  final func adoptCurrentRow() throws -> Snapshot? {
    guard let context, let snapshot, !isDeleted else { return snapshot }
    if isWritten { return snapshot }
    let now = try context.source.currentSnapshot(of: objectID)
    if let now, now.version > snapshot.version { adopt(now) }
    return now
  }

  /// Whether the next save writes part of the row.
  final var isWritten: Bool {
    guard let snapshot else { return false }
    return changed.slots.contains { slot in
      !entity.properties[slot].isTransient && !snapshot.cell(slot).isSame(as: current(slot) ?? .null)
    }
  }

  /// Adopts a row that was read while the object had changes, which are undone now.
  ///
  /// In a store that counts versions, a row of the same version may have other values.
  final func adopt(later row: Snapshot) {
    if isFault { return adoptRow(row) }
    guard let snapshot, !snapshot.isIdentical(to: row), snapshot.version <= row.version else { return }
    if snapshot.version < row.version || snapshot.values != row.values { adopt(row) }
  }
}
