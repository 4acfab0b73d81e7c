import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Calls a function for objects and saves them. A worker has its own thread, context and Lua state.
///
/// The worker visits a batch while another thread saves the previous one. If a save is refused, the
/// objects at fault are found by repeating and dividing the batch, so that every other object is
/// saved. All methods run on the worker's thread.
final class EachWorker {
  /// The settings that all workers share.
  struct Setting: Sendable {
    /// The open stores.
    let container: PersistentContainer
    /// The function to call.
    let function: EachFunction
    /// The settings for the Lua state: limits and access.
    let scripts: ScriptSettings
    /// The settings of the stores.
    let stores: StoreSettings
    /// Records the batches that are saved.
    var bookmark: RecomputeBookmark? = nil
  }

  /// The number of times that a batch is repeated after a conflict with another save before it is divided or an
  /// object fails.
  private static let greatestTries = 10
  /// The number of times that the objects named by a refused save are set aside before the batch is divided.
  private static let greatestRounds = 3

  /// The work, which hands out batches.
  private let work: EachWork
  /// The worker's Lua state.
  private let domain: ScriptDomain
  /// The worker's context.
  private let context: ManagedObjectContext
  /// The function in the worker's Lua state.
  private let call: (ManagedObject, ManagedObjectContext) throws -> Void
  /// Records the progress in the store; nil for `each`.
  private let bookmark: RecomputeBookmark?
  /// The objects that the last save wrote. It is only set if hooks of a save may change more objects than the code
  /// does, because an observed save waits for the disk.
  private var written: SavedObjectIDs?
  /// The observation that sets `written`.
  private var saves: SaveObservation?
  /// The number of objects that were visited last and are not yet being saved.
  private var unsettled = 0

  /// A worker with its own domain and context. Throws if the function cannot be loaded.
  init(_ setting: Setting, _ work: EachWork) throws {
    self.work = work
    let domain = try setting.scripts.openDomain(forScriptsIn: setting.function.folder, setting.stores)
    self.domain = domain
    context = try domain.context(of: setting.container.opened)
    try domain.setContext(context)
    call = try domain.state.run { try setting.function.call(in: domain) }
    bookmark = setting.bookmark
    work.add(domain.state.interrupter)
    if context.extensionRegistry.extensions.values.joined().contains(where: { $0.willSave != nil }) {
      saves = context.observeSaves(didSave: { [unowned self] save in written = save.objectIDs })
    }
  }

  /// Closes the Lua state.
  func close() { domain.close() }

  /// Takes batches until there are no more. The whole work is one run, so the limits apply to all of it.
  ///
  /// Throws the error that ends the run, such as a limit.
  func run() throws {
    do {
      try domain.state.run {
        while let ids = work.next() { try processAhead(ids) }
        try finish()
        try domain.state.flushFiles()
      }
    } catch {
      // Discard unsaved changes, so that no batch is saved in part. The save that was in progress may have succeeded.
      if let former = underWay {
        if (try? context.finishSave()) != nil { finish(former) } else { unsettled += former.visited.count }
      }
      work.note(EachReport(givenUp: unsettled))
      try? context.rollback()
      throw error
    }
  }

  // MARK: Saving ahead

  /// A batch whose objects were visited.
  private struct Batch {
    /// The objects of the batch.
    let ids: [ManagedObjectID]
    /// The numbers of the batch.
    var report = EachReport()
    /// The objects whose function failed.
    var failures: [Failure] = []
    /// The objects that were visited.
    var visited: [ManagedObject] = []
  }

  /// The batch that another thread is saving.
  private var underWay: Batch?

  /// Visits a batch while the previous batch is being saved. If a save is refused, the objects of its batch are visited
  /// again, and the batches are saved one after the other.
  private func processAhead(_ ids: [ManagedObjectID]) throws {
    guard !work.isDry else { return try process(ids) }
    var batch = try visit(ids)
    guard try finishUnderWay(before: batch) else { return try process(ids) }
    do {
      try context.saveAhead(with: bookmark?.change(after: batch.visited, changed: batch.report.changed))
    } catch let error as GraphError where !ObjectFunction.endsAll(error) {
      try discard(batch)
      return try process(ids)
    }
    count(&batch)
    (underWay, unsettled) = (batch, 0)
    try context.turnIntoFaults(batch.visited)
  }

  /// Waits for the save in progress. Returns false if it was refused. In that case, the batch is processed again, and
  /// later changes are discarded.
  private func finishUnderWay(before next: Batch?) throws -> Bool {
    guard let former = underWay else { return true }
    // The save has ended, whether it succeeded or not.
    underWay = nil
    do {
      try context.finishSave()
    } catch let error as GraphError where !ObjectFunction.endsAll(error) {
      try discard(former)
      if let next { try discard(next) }
      try process(former.ids)
      return false
    }
    finish(former)
    return true
  }

  /// Waits for the last save.
  private func finish() throws { _ = try finishUnderWay(before: nil) }

  /// Discards a batch: its changes are undone and its objects become faults.
  private func discard(_ batch: Batch) throws {
    try context.rollback()
    try context.turnIntoFaults(batch.visited)
    unsettled = 0
    // These objects will not be visited again.
    if work.isStopping { work.note(EachReport(givenUp: batch.visited.count)) }
  }

  // MARK: One batch after the other

  /// Calls the function for objects and saves them, except for those that prevent a save.
  ///
  /// An object is set aside if a save names it. If a save names none, the batch is divided.
  private func process(_ ids: [ManagedObjectID]) throws {
    var rest = ids
    var suspects: [ManagedObjectID] = []
    var clashes: [ManagedObjectID: GraphError] = [:]
    var rounds = 0
    while let refusal = try attempt(rest) {
      guard rest.count > 1 else {
        if let id = rest.first {
          noteFailure(id, refusal)
        }
        break
      }
      let blamed = refusal.blamedIDs
      let others = rest.filter { !blamed.contains($0) }
      rounds += 1
      guard !others.isEmpty, others.count < rest.count, rounds <= Self.greatestRounds else {
        try process(Array(rest[..<(rest.count / 2)]))
        try process(Array(rest[(rest.count / 2)...]))
        break
      }
      suspects += rest.filter(blamed.contains)
      for error in refusal.clashes { if let id = error.objectID { clashes[id] = error } }
      rest = others
    }
    // Save each suspect alone. Perhaps it only failed because of another object in the batch.
    for id in suspects {
      // Without saves, an object alone would not see the unique value that an earlier object has taken.
      if work.isDry, let clash = clashes[id] { noteFailure(id, clash) } else { try process([id]) }
    }
  }

  /// Records an object that could not be saved.
  private func noteFailure(_ id: ManagedObjectID, _ refusal: GraphError) {
    work.noteFailure(id, refusal.description)
    // If the work is stopping, the object is already counted in `givenUp`.
    if !work.isStopping { work.note(EachReport(visited: 1)) }
  }

  /// Calls the function for objects and saves them. Returns the reason if the save was refused. In that case,
  /// everything is unchanged.
  private func attempt(_ ids: [ManagedObjectID]) throws -> GraphError? {
    defer { context.stalenessInterval = nil }
    var tries = 0
    while true {
      var batch = try visit(ids)
      do {
        if work.isDry { try preview(batch.visited) } else { try context.save() }
        count(&batch)
        finish(batch)
        unsettled = 0
        // Faults keep memory use constant.
        try context.turnIntoFaults(batch.visited)
        return nil
      } catch let error as GraphError where !ObjectFunction.endsAll(error) {
        try discard(batch)
        tries += 1
        guard error.isConflict, tries < Self.greatestTries, !work.isStopping else { return error }
        // Another save has changed the data meanwhile. Read everything again.
        context.stalenessInterval = .zero
        usleep(UInt32(tries) * 1000)
      }
    }
  }

  /// An object and the reason of its failure.
  private typealias Failure = (id: ManagedObjectID, text: String)

  /// Calls the function for each object. If a call fails, its changes are undone.
  private func visit(_ ids: [ManagedObjectID]) throws -> Batch {
    var batch = Batch(ids: ids)
    unsettled = 0
    let objects = try context.loadObjects(with: ids)
    batch.report.gone = ids.count - objects.count
    for object in objects {
      if work.isStopping { break }
      // The code for an earlier object may have deleted this one.
      guard !object.isDeleted else {
        batch.report.gone += 1
        continue
      }
      batch.visited.append(object)
      unsettled += 1
      do {
        try call(object, context)
      } catch  where !ObjectFunction.endsAll(error) && !ObjectFunction.isOfProgram(error) {
        batch.failures.append((object.objectID, ObjectFunction.text(of: error)))
      }
    }
    batch.report.visited = batch.visited.count
    batch.report.inserted = context.insertedObjects.count
    batch.report.deleted = context.deletedObjects.count
    let changed = Set(context.updatedObjects.filter(\.hasPersistentChangedValues).map(\.objectID))
    batch.report.changed = batch.visited.count { changed.contains($0.objectID) }
    batch.report.othersChanged = changed.count - batch.report.changed
    return batch
  }

  /// Counts the changes that hooks made during the save.
  private func count(_ batch: inout Batch) {
    guard let written else { return }
    self.written = nil
    let updated = Set(written.updated)
    batch.report.inserted = written.inserted.count
    batch.report.deleted = written.deleted.count
    batch.report.changed = batch.visited.count { updated.contains($0.objectID) }
    batch.report.othersChanged = updated.count - batch.report.changed
  }

  /// Reports a batch that is saved, or whose failures are final.
  private func finish(_ batch: Batch) {
    for failure in batch.failures { work.noteFailure(failure.id, failure.text) }
    for error in context.drainDidSaveErrors() {
      if let id = error.objectID { work.noteFailure(id, "it is saved, but then: \(error)") }
    }
    work.note(batch.report)
  }

  // MARK: Without saving

  /// Shows the changes that a save would make. Throws the error that a save would throw.
  private func preview(_ visited: [ManagedObject]) throws {
    try context.prepareSave()
    for object in visited where object.isDeleted { work.show { "\(object.objectID.short): deleted" } }
    for object in visited where !object.isDeleted && object.hasPersistentChangedValues {
      try work.show { try ObjectDifference(object).text }
    }
    try context.rollback()
  }
}

extension GraphError {
  /// The objects that the error names.
  fileprivate var blamedIDs: Set<ManagedObjectID> {
    details.reduce(into: Set([objectID].compactMap(\.self))) { $0.formUnion($1.blamedIDs) }
  }

  /// The failures in this error that are about unique values which another object already has.
  fileprivate var clashes: [GraphError] {
    details.isEmpty ? (code == .constraintConflict ? [self] : []) : details.flatMap(\.clashes)
  }

  /// Whether another save has changed the data meanwhile.
  fileprivate var isConflict: Bool { code == .mergeConflict || details.contains(where: \.isConflict) }
}
