import DequeModule
import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// A save that another thread writes while the context goes on (`ManagedObjectContext.saveAhead`).
///
/// The other thread has the rows and the store, and no object. The context has what the objects had, to give it back if the save
/// fails.
final class SaveAhead {
  /// An object, what it had, and the ID under which it is saved.
  struct HandedOver {
    let object: ManagedObject
    /// Nil for a new object, which keeps its row.
    let reading: ManagedObject.Reading?
    let id: ManagedObjectID
  }

  /// The bytes of what an object had, without its values, by estimate.
  private static let readingWeight = 160

  private let errand = AwaitedErrand()
  private let outcome = Lock<(any Error)?>(nil)
  let objects: ContiguousArray<HandedOver>
  /// Saved objects to whose lists new ones of these came.
  let owners: ContiguousArray<ManagedObject>
  /// The pages of the rows that are the objects' own.
  let ownRows: [RowPage]
  /// The IDs that new objects get.
  let permanent: PermanentIDs
  /// The bytes that are kept for the case that it fails, by estimate.
  let weight: Int

  /// Begins to write.
  init(
    _ changes: StoreChanges, of objects: ContiguousArray<HandedOver>, owners: ContiguousArray<ManagedObject>,
    ownRows: [RowPage], permanent: PermanentIDs, sender: NewsInbox<SavedObjectIDs>?,
    to store: any PersistentStore, of coordinator: PersistentStoreCoordinator, author: String?,
    on writer: ThreadExecutor
  ) {
    (self.objects, self.owners, self.ownRows, self.permanent) = (objects, owners, ownRows, permanent)
    weight = objects.reduce(0) { weight, entry in
      weight &+ (entry.reading.map { $0.weight &+ Self.readingWeight } ?? MemoryLayout<HandedOver>.stride)
    }
    let (errand, outcome) = (errand, outcome)
    // It lets go of the store before it is waited for: who then lets the store go closes its file.
    let work = Lock<Work?>(
      Work(changes: changes, store: store, coordinator: coordinator, author: author, sender: sender))
    writer.run {
      errand.run {
        do {
          try work.withLock { $0.take() }?.run()
        } catch {
          outcome.withLock { $0 = error }
        }
      }
    }
  }

  private struct Work: Sendable {
    let changes: StoreChanges
    let store: any PersistentStore
    let coordinator: PersistentStoreCoordinator
    let author: String?
    let sender: NewsInbox<SavedObjectIDs>?

    func run() throws { try SaveAhead.write(changes, to: store, of: coordinator, author: author, from: sender) }
  }

  private static func write(
    _ changes: StoreChanges, to store: any PersistentStore, of coordinator: PersistentStoreCoordinator, author: String?,
    from sender: NewsInbox<SavedObjectIDs>?
  ) throws {
    var session: (any SaveSession)?
    do {
      let new = try store.beginSave(author: author)
      session = new
      try coordinator.write(changes, in: new)
      try new.prepare()
      try coordinator.committing {
        try new.commit()
        coordinator.didSave(changes, deriving: new.derivedObjectIDs, from: sender)
      }
    } catch {
      session?.abort()
      coordinator.didNotSave(changes)
      throw error
    }
  }

  /// Ends the save, which is undone if it is not done by now.
  func breakOff() {
    errand.stop()
    _ = errand.wait()
  }

  /// Waits for its end; the error of a save that failed.
  func wait() -> (any Error)? {
    let ending = errand.wait()
    return outcome.withLock { $0 }.map { ending ?? $0 }
  }
}

extension SavePlan {
  /// Fewer rows are written as quickly as they are handed over.
  private static let fewestRows = 64

  /// Whether another thread can write it while the context goes on, and nobody would see a difference: attributes of saved objects
  /// change, objects come, nothing hears of it, and the store can be read meanwhile.
  func mayBeWrittenAhead() throws -> Bool {
    guard plans.count == 1, let plan = plans.first,
      plan.changes.updated.count + plan.changes.inserted.count >= Self.fewestRows,
      deleted.isEmpty, hearers.isEmpty, !context.derivations.isWatching, context.holdersOfTemporaryIDs.isEmpty,
      !context.detectsInPlaceMutation, context.deletionsToPropagate.isEmpty
    else { return false }
    var quiet = ContiguousArray<Bool?>(repeating: nil, count: context.model.entities.count)
    for row in rows {
      let object = row.object
      if row.ownsChangedLists { continue }
      // What becomes of new objects is told by their IDs.
      if object.state.contains(.inserted), !object.objectID.isTemporaryID { return false }
      let isQuiet = try quiet[object.entity.index] ?? !context.behavior(of: object.entity).hasFaultHooks
      quiet[object.entity.index] = isQuiet
      guard isQuiet, object.delayed.isEmpty, object.state.contains(.inserted) || row.changesAttributesOnly else {
        return false
      }
    }
    // A store whose state can be kept for reading can be read while another thread writes it.
    let view = try plan.store.beginReading(.view)
    defer { view.end() }
    return view.isSteady
  }
}

extension SavePlan.NewRow {
  fileprivate var isWritten: Bool { if case .nothing = written { false } else { true } }

  /// The row that was made of the object.
  fileprivate var copy: Snapshot? { if case .copied(let row) = written { row } else { nil } }

  /// Whether the object is a saved one to whose lists new objects came, and is otherwise as it was.
  fileprivate var ownsChangedLists: Bool {
    guard case .nothing = written, !object.state.contains(.inserted), !object.hasLiveValues, object.delayed.isEmpty
    else {
      return false
    }
    let lists = object.relationships
    return lists.values.allSatisfy(\.hasOnlyNewDestinations) && object.changed.slots.allSatisfy { lists[$0] != nil }
  }

  /// Whether attributes of a saved object changed, and nothing else did or is known of it.
  fileprivate var changesAttributesOnly: Bool {
    isWritten && object.relationships.isEmpty && object.partners.isEmpty
      && !object.entity.toOneSlots.contains(where: object.changed.contains)
  }
}

extension ManagedObjectContext {
  /// Saves as `save` does, or as well as: where it can, what is prepared is written by another thread while the context goes on, and
  /// the objects are faults meanwhile. At most one save is under way; whatever needs to know what became of it waits.
  ///
  /// An error of the writing comes from the next call, or from `finishSave`; the objects have their changes then. Errors of what comes
  /// before it, validation among them, come at once.
  ///
  /// ```swift
  /// for (number, line) in lines.enumerated() {
  ///   try context.insert("Line", values: ["text": .string(line)])
  ///   if number % 10_000 == 9_999 { try context.saveAhead() }
  /// }
  /// try context.save()  // waits for what is under way, and saves the rest
  /// ```
  public func saveAhead() throws { try saveAhead(with: nil) }

  /// The same, together with a change of a store's metadata.
  package func saveAhead(with metadataChange: MetadataChange?) throws {
    try finishSave()
    followExtensions()
    try save(ahead: savesAhead, with: metadataChange)
  }

  /// Ends the save that is under way, for a run that had to end: what is not saved by now is not saved.
  package func breakOffSave() {
    saveUnderWay?.breakOff()
    settle()
  }

  /// Waits for the save that `saveAhead` may have under way, and throws why it failed.
  public func finishSave() throws {
    settle()
    guard let failure = failureOfSave else { return }
    failureOfSave = nil
    throw failure
  }

  /// Waits for the save that is under way, if there is one. If it fails its objects have their changes again, and the error waits for
  /// `finishSave`.
  @inline(__always)
  package func settle() {
    if saveUnderWay != nil { settleSave() }
  }

  @inline(never)
  private func settleSave() {
    guard let save = saveUnderWay else { return }
    let failure = save.wait()
    saveUnderWay = nil
    weigh(-save.weight)
    // Rows that were read meanwhile may be those of before.
    forgetReadAhead()
    if let failure { takeBack(save, after: failure) } else { finish(save) }
  }

  private func takeBack(_ save: SaveAhead, after failure: any Error) {
    failureOfSave = failure
    for entry in save.objects where entry.object.context === self {
      // Past the journal: a savepoint that is open by now began when the changes were there.
      if let reading = entry.reading { entry.object.restore(reading) } else { entry.object.endHandOver(listed: true) }
      changedObjects.append(entry.object)
      entry.object.outdateAll(because: .change)
    }
    for owner in save.owners { owner.endHandOverOfLists(nil) }
    noteChange()
  }

  private func finish(_ save: SaveAhead) {
    defer { for page in save.ownRows { page.forgetBases() } }
    guard !save.permanent.isEmpty else { return }
    observers.prepareForNewIDs()
    for entry in save.objects where entry.reading == nil && entry.object.context === self {
      entry.object.endHandOver(listed: false)
      entry.object.becomeSaved(as: .nothing, id: entry.id, permanent: save.permanent)
    }
    for owner in save.owners { owner.endHandOverOfLists(save.permanent) }
    tellHoldersOfTemporaryIDs(save.permanent)
    looseLeads.forgetSaved(in: self)
    noteChange()
  }

  /// The same where rows of these objects are asked for, if any may be under way.
  func settle(before ids: [ManagedObjectID]) {
    guard saveUnderWay != nil else { return }
    let isUnderWay = ids.contains { registered[$0]?.takeUnretainedValue().state.contains(.refreshed) ?? false }
    if isUnderWay { settleSave() }
  }

  /// Takes over that another thread writes a plan.
  func handOver(_ plan: SavePlan) {
    guard let part = plan.plans.first else { return }
    let writer = saveWriter ?? ThreadExecutor(name: "Moonbase save")
    saveWriter = writer
    var objects: ContiguousArray<SaveAhead.HandedOver> = []
    objects.reserveCapacity(plan.rows.count)
    var owners: ContiguousArray<ManagedObject> = []
    for row in plan.rows {
      if row.ownsChangedLists {
        row.object.handOverLists()
        owners.append(row.object)
      } else {
        let reading = row.object.handOver(to: row.copy)
        objects.append(SaveAhead.HandedOver(object: row.object, reading: reading, id: row.id))
      }
    }
    changedObjects.removeSaved()
    readObjects = []
    forgetReadAhead()
    forgetJournal()
    noteChange()
    let save = SaveAhead(
      part.changes, of: objects, owners: owners, ownRows: plan.ownRows, permanent: plan.permanent, sender: inbox,
      to: part.store,
      of: coordinator, author: transactionAuthor, on: writer)
    saveUnderWay = save
    weigh(save.weight)
  }
}

extension ManagedObject {
  /// Whether another thread may be writing the object.
  package final var isOnItsWay: Bool { context?.saveUnderWay != nil && needsRow }

  /// Before something is read or set: whether that was saved which another thread writes. Only then it is a fault that was none before, or
  /// has lists of which that is so.
  @inline(__always)
  final func settle() {
    if !state.isDisjoint(with: [.refreshed, .listsUnderWay]), let context { context.settle() }
  }

  /// Before a list changes: whether that was saved which another thread writes of this object. What it writes of objects that came to
  /// a list before goes on meanwhile.
  @inline(__always)
  final func settleOwnChanges() {
    if state.isSuperset(of: [.fault, .refreshed]), let context { context.settle() }
  }

  /// The same before something is asked that only the save of a new object alters.
  @inline(__always)
  final func settleID() {
    if state.isSuperset(of: [.refreshed, .inserted]) { settle() }
  }
}
