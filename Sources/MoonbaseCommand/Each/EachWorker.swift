import Moonbase
import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Calls a function for objects and saves, on a thread, in a context and a Lua state of its own.
final class EachWorker {
  /// What all workers have in common.
  struct Setting: Sendable {
    let container: PersistentContainer
    let function: EachFunction
    let scripts: ScriptSettings
    let stores: StoreSettings
    /// Where batches are noted that are saved.
    var bookmark: RecomputeBookmark? = nil
  }

  /// So often what somebody else saved meanwhile is read anew before a batch is halved, or an object fails.
  private static let greatestTries = 10
  /// So often those that a refused save names are set aside before the batch is halved.
  private static let greatestRounds = 3

  private let work: EachWork
  private let domain: ScriptDomain
  private let context: ManagedObjectContext
  private let call: (ManagedObject, ManagedObjectContext) throws -> Void
  private let bookmark: RecomputeBookmark?
  /// The objects that the last save wrote. Only asked for where hooks of a save may change more than the code does,
  /// because a save that is observed waits for the disk.
  private var written: SavedObjectIDs?
  private var saves: SaveObservation?
  /// How many objects were visited last, of which nothing is on its way to be saved yet.
  private var unsettled = 0

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

  func close() { domain.close() }

  /// Takes batches until there are no more. All of it is one run: limits hold for the whole.
  func run() throws {
    do {
      try domain.state.run {
        while let ids = work.next() { try processAhead(ids) }
        try finish()
        try domain.state.flushFiles()
      }
    } catch {
      // Nothing stays half done: what was not saved is given up. What was on its way may have arrived.
      if let former = underWay {
        if (try? context.finishSave()) != nil { settle(former) } else { unsettled += former.visited.count }
      }
      work.note(EachReport(givenUp: unsettled))
      try? context.rollback()
      throw error
    }
  }

  // MARK: Saving ahead

  /// A batch whose objects were visited.
  private struct Batch {
    let ids: [ManagedObjectID]
    var report = EachReport()
    var failures: [Failure] = []
    var visited: [ManagedObject] = []
  }

  /// The batch that another thread is saving.
  private var underWay: Batch?

  /// Visits a batch while the former is being saved, and has it saved while the next is visited. As soon as one is refused, its objects are
  /// visited again, one batch after the other.
  private func processAhead(_ ids: [ManagedObjectID]) throws {
    guard !work.isDry else { return try process(ids) }
    var batch = try visit(ids)
    guard try settleUnderWay(before: batch) else { return try process(ids) }
    do {
      try context.saveAhead(with: bookmark?.change(after: batch.visited, changed: batch.report.changed))
    } catch let error as GraphError where !ObjectFunction.endsAll(error) {
      try giveUp(batch)
      return try process(ids)
    }
    count(&batch)
    (underWay, unsettled) = (batch, 0)
    try context.turnIntoFaults(batch.visited)
  }

  /// Waits for what is on its way. False where it was refused: then it is processed anew, and what was done since is given up.
  private func settleUnderWay(before next: Batch?) throws -> Bool {
    guard let former = underWay else { return true }
    // Arrived or not, it is on its way no more.
    underWay = nil
    do {
      try context.finishSave()
    } catch let error as GraphError where !ObjectFunction.endsAll(error) {
      try giveUp(former)
      if let next { try giveUp(next) }
      try process(former.ids)
      return false
    }
    settle(former)
    return true
  }

  private func finish() throws { _ = try settleUnderWay(before: nil) }

  private func giveUp(_ batch: Batch) throws {
    try context.rollback()
    try context.turnIntoFaults(batch.visited)
    unsettled = 0
    // Nobody will visit them again.
    if work.isStopping { work.note(EachReport(givenUp: batch.visited.count)) }
  }

  // MARK: One batch after the other

  /// Saves what the function does with objects, but for those with which it cannot be saved.
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
    // With others it could not be saved, and perhaps for what was done with another.
    for id in suspects {
      // Where nothing is saved, alone it would not find the value that one before it took.
      if work.isDry, let clash = clashes[id] { noteFailure(id, clash) } else { try process([id]) }
    }
  }

  private func noteFailure(_ id: ManagedObjectID, _ refusal: GraphError) {
    work.noteFailure(id, refusal.description)
    // One that was given up as all was ended is counted already.
    if !work.isStopping { work.note(EachReport(visited: 1)) }
  }

  /// Calls the function for objects and saves. Gives why the save was refused; then everything is as it was.
  private func attempt(_ ids: [ManagedObjectID]) throws -> GraphError? {
    defer { context.stalenessInterval = nil }
    var tries = 0
    while true {
      var batch = try visit(ids)
      do {
        if work.isDry { try preview(batch.visited) } else { try context.save() }
        count(&batch)
        settle(batch)
        unsettled = 0
        // So memory stays flat.
        try context.turnIntoFaults(batch.visited)
        return nil
      } catch let error as GraphError where !ObjectFunction.endsAll(error) {
        try giveUp(batch)
        tries += 1
        guard error.isConflict, tries < Self.greatestTries, !work.isStopping else { return error }
        // Somebody else was quicker: all is read anew.
        context.stalenessInterval = .zero
        usleep(UInt32(tries) * 1000)
      }
    }
  }

  private typealias Failure = (id: ManagedObjectID, text: String)

  /// Calls the function for each object. What fails is undone.
  private func visit(_ ids: [ManagedObjectID]) throws -> Batch {
    var batch = Batch(ids: ids)
    unsettled = 0
    let objects = try context.loadObjects(with: ids)
    batch.report.gone = ids.count - objects.count
    for object in objects {
      if work.isStopping { break }
      // The code of one before it may have deleted it.
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

  /// Counts what hooks of the save did besides the code.
  private func count(_ batch: inout Batch) {
    guard let written else { return }
    self.written = nil
    let updated = Set(written.updated)
    batch.report.inserted = written.inserted.count
    batch.report.deleted = written.deleted.count
    batch.report.changed = batch.visited.count { updated.contains($0.objectID) }
    batch.report.othersChanged = updated.count - batch.report.changed
  }

  /// What was done is saved, or given up for good: it is told.
  private func settle(_ batch: Batch) {
    for failure in batch.failures { work.noteFailure(failure.id, failure.text) }
    for error in context.takeDidSaveErrors() {
      if let id = error.objectID { work.noteFailure(id, "it is saved, but then: \(error)") }
    }
    work.note(batch.report)
  }

  // MARK: Without saving

  /// Shows what a save would leave. Throws what would fail it.
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
  /// The objects that it tells of.
  fileprivate var blamedIDs: Set<ManagedObjectID> {
    details.reduce(into: Set([objectID].compactMap(\.self))) { $0.formUnion($1.blamedIDs) }
  }

  /// Those of its failures that tell of values which must be unique and which another object has.
  fileprivate var clashes: [GraphError] {
    details.isEmpty ? (code == .constraintConflict ? [self] : []) : details.flatMap(\.clashes)
  }

  /// Whether somebody else was quicker.
  fileprivate var isConflict: Bool { code == .mergeConflict || details.contains(where: \.isConflict) }
}
