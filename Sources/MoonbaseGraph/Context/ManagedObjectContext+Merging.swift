import MoonbaseModel

/// Merging the saves of other contexts.
extension ManagedObjectContext {
  /// Whether saves of other contexts wait to be merged.
  package var hasPendingNotifications: Bool { merging.remaining > 0 || merging.inbox?.isPending == true }

  /// Merges the saves of another context or process.
  ///
  /// Registered objects get their new rows with unsaved changes on top, and read lists are read again. Deleted objects
  /// leave the context unless they have unsaved changes. A merge is no undo step.
  ///
  /// ```swift
  /// for await saved in container.coordinator.saves { try viewContext.mergeChanges(from: saved) }
  /// ```
  ///
  /// Throws `.recursiveSave` and `.contextBusy` within a hook, `.invalidRequest` within a transaction, and the errors
  /// of a store. The merge is completed after an error, and the first error is thrown.
  public func mergeChanges(from saved: SavedObjectIDs) throws {
    try checkOpen()
    try mergeChanges(from: saved, automatically: false)
  }

  /// An automatic merge leaves objects with conflicts alone.
  private func mergeChanges(from saved: SavedObjectIDs, automatically isAutomatic: Bool) throws {
    waitForPendingSave()
    try refuseWithinHooks("changes were merged")
    guard journal.isSettled else {
      throw GraphError(.invalidRequest, message: "changes were merged within a transaction: merge before or after it")
    }
    let isUnregistered = journal.isUnregistered
    // An open undo group continues after the merge.
    journal.isUnregistered = true
    undoManager?.noteNewRows()
    defer {
      journal.isUnregistered = isUnregistered
      tellObservers()
      tellDidMerge(saved)
    }
    defer { lifetime.sourceOfChildren?.tell(saved) }
    try observations.observers.holding { try merge(saved, automatically: isAutomatic) }
  }

  /// Merges the saves that arrived since the last call, if merging is enabled and no operation is in progress.
  ///
  /// An object keeps its row if another context changed a value that also has an unsaved change here. Its save then
  /// finds the conflict, which a newer row would hide. The object takes the newer row once it has no changes. Throws
  /// the first error after all saves were merged.
  func mergeNews() throws {
    try parent?.mergeNews()
    guard let inbox = merging.inbox, running.phase == nil, running.hookDepth == 0, journal.isSettled,
      readAhead.pinnedView == nil
    else {
      return
    }
    var failure: (any Error)?
    func add(_ saved: SavedObjectIDs) {
      do { try mergeChanges(from: saved, automatically: true) } catch { failure = failure ?? error }
    }
    let arrived = inbox.drain()
    defer { merging.remaining = 0 }
    for (index, saved) in arrived.enumerated() {
      merging.remaining = arrived.count - index - 1
      add(saved)
    }
    let free = merging.unmergedIDs.filter { registered[$0]?.takeUnretainedValue().state.contains(.listed) != true }
    merging.unmergedIDs.subtract(free)
    if !free.isEmpty { add(SavedObjectIDs(updated: Array(free))) }
    if let failure { throw failure }
  }

  /// Merges arrived saves outside of any call of the program, and ends the event. An error fails the next save. Called
  /// between events of the program.
  package func mergeArrivedSaves() {
    guard !lifetime.isClosed else { return }
    do { try mergeNews() } catch { keep(error) }
    endChangeEvent()
  }

  /// Objects that a deletion or an update removed from lists are unloaded from these.
  private func merge(_ saved: SavedObjectIDs, automatically isAutomatic: Bool) throws {
    if saved.isUnspecified || !saved.entityNames.isEmpty {
      source.forgetAllRows()
      // Objects that are not registered here may have been added to lists, or removed from them.
      tellListenersOfEverything()
      return try merge(listed(saved), automatically: isAutomatic)
    }
    counters.changeCount &+= 1
    for ids in [saved.inserted, saved.updated, saved.deleted] { tellListeners(of: ids) }
    forgetReadAhead()
    source.forgetRows(of: saved.updated + saved.deleted)
    var failures: [any Error] = []
    func trying(_ body: () throws -> Void) {
      do { try body() } catch { failures.append(error) }
    }
    // It is unknown which lists contained these objects.
    let unread = saved.updated.filter { id in
      registered[id]?.takeUnretainedValue().snapshot == nil && model.entity(of: id)?.slotsInLists.isEmpty == false
    }
    trying { try mergeUpdates(saved.updated, automatically: isAutomatic, trying) }
    trying { try mergeInsertions(saved.inserted + unread) }
    forgetMembers(Set(unread))
    leaveDeleted(saved.deleted)
    if let first = failures.first { throw first }
  }

  /// Gives objects the current rows of their stores, with unsaved changes on top. Objects without a row leave. Throws
  /// the first error at the end.
  func refreshRows(of ids: [ManagedObjectID]) throws {
    guard !ids.isEmpty else { return }
    counters.changeCount &+= 1
    tellListeners(of: ids)
    forgetReadAhead()
    source.forgetRows(of: ids)
    var failures: [any Error] = []
    try mergeUpdates(ids, automatically: false) { body in
      do { try body() } catch { failures.append(error) }
    }
    let there = Set(try source.snapshots(of: ids).map(\.id))
    leaveDeleted(ids.filter { !there.contains($0) })
    if let first = failures.first { throw first }
  }

  /// Adds to a saved set all registered objects that may be affected, divided by whether their stores have them. Reads
  /// the rows of all registered objects, if the save does not name its objects.
  private func listed(_ saved: SavedObjectIDs) throws -> SavedObjectIDs {
    let entities = saved.entityNames.compactMap { model.entity($0) }
    let ids = registered.values.map { $0.takeUnretainedValue() }.filter { object in
      !object.isInserted && (saved.isUnspecified || entities.contains { object.entity.isKind(of: $0) })
    }.map(\.objectID)
    let there = Set(try source.snapshots(of: ids).map(\.id))
    return SavedObjectIDs(all: [
      SavedObjectIDs(inserted: saved.inserted, updated: saved.updated, deleted: saved.deleted),
      SavedObjectIDs(updated: ids.filter(there.contains), deleted: ids.filter { !there.contains($0) }),
    ])
  }

  /// Rows are read in one request. `trying` collects the errors of hooks.
  private func mergeUpdates(
    _ ids: [ManagedObjectID], automatically isAutomatic: Bool, _ trying: (() throws -> Void) -> Void
  ) throws {
    let known = ids.compactMap { registered[$0]?.takeUnretainedValue() }.filter { !$0.isInserted }
    guard !known.isEmpty else { return }
    for row in try source.snapshots(of: known.map(\.objectID)) {
      guard let object = registered[row.id]?.takeUnretainedValue() else { continue }
      guard object.isFault, !object.state.contains(.listed) else {
        if isAutomatic, object.conflicts(with: row) {
          merging.unmergedIDs.insert(row.id)
          continue
        }
        trying { try merge(row, into: object) }
        continue
      }
      object.adoptRow(row)
      object.forgetReadDestinations()
    }
  }

  /// Unloads read lists that have new members. The next access reads the list again.
  private func mergeInsertions(_ ids: [ManagedObjectID]) throws {
    // A store may have been removed meanwhile.
    let ids = ids.filter { model.entity(of: $0) != nil && (try? source.store(of: $0)) != nil }
    guard readAhead.hasReadLists, !ids.isEmpty else { return }
    for row in try source.snapshots(of: ids) {
      guard let entity = model.entity(of: row.id) else { continue }
      for slot in entity.slotsInLists where !entity.properties[slot].isTransient {
        guard let inverse = entity.properties[slot].relationship?.inverseSlot,
          case .objectID(let id) = row.values[slot], let owner = registered[id]?.takeUnretainedValue(),
          let list = owner.relationships[inverse], list.isLoaded, !list.knows(row.id)
        else { continue }
        owner.unload(list, slot: inverse)
      }
    }
  }

  /// Removes objects that other contexts deleted, unless they have unsaved changes. References to the objects are
  /// cleared.
  private func leaveDeleted(_ ids: [ManagedObjectID]) {
    let gone = ids.compactMap { registered[$0]?.takeUnretainedValue() }.filter { !$0.state.contains(.listed) }
    forgetMembers(
      Set(ids).subtracting(ids.filter { registered[$0]?.takeUnretainedValue().state.contains(.listed) == true }))
    guard !gone.isEmpty else { return }
    meetInEvent(gone)
    for object in gone {
      for slot in object.entity.toOneSlots {
        object.rowMoved(slot, from: object.snapshot?.values[slot] ?? .null, to: .null)
      }
      object.outdateAll()
      registered.remove(object)
      object.becomeDeleted()
    }
    UnclearedReferences(to: gone, in: self)?.cut()
  }

  /// Unloads read lists that contain members which are gone or may have moved. Takes time in proportion to all
  /// registered objects.
  private func forgetMembers(_ ids: Set<ManagedObjectID>) {
    guard readAhead.hasReadLists, !ids.isEmpty else { return }
    for pointer in registered.values {
      let owner = pointer.takeUnretainedValue()
      for (slot, list) in owner.relationships
      where list.isLoaded && !owner.entity.properties[slot].isTransient && !list.known(among: ids).isEmpty {
        owner.unload(list, slot: slot)
      }
    }
  }
}
