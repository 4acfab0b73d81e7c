import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

extension ManagedObjectContext {
  /// Saves all changes, in one transaction for each store.
  ///
  /// The order is the guide's: delete rules, validation, `willSave`, validation of what `willSave` and its delete rules changed,
  /// one transaction for each store, `didSave`; `saveOrder` can put `willSave` first. On an error nothing is saved, every change is
  /// kept, and what rules, `willSave` and delete rules did during the save is undone.
  ///
  /// Of several stores all are written before the first commits. Should a commit fail after another one succeeded, what is
  /// committed counts as saved, the rest is kept for the next save, and the error says so.
  ///
  /// Throws the first of `pendingErrors`; validation failures (several as one `.multipleErrors`); `.mergeConflict` and
  /// `.constraintConflict`; `.readOnlyStore`; `.storeBusy`; what a hook throws; `.recursiveSave` and `.contextBusy` within a hook.
  ///
  /// An error of a `didSave` hook comes too late to fail the save: it is kept in `didSaveErrors`.
  public func save() throws {
    try refuseWithinHooks("a save was begun")
    guard !isInTransaction else {
      throw GraphError(.invalidRequest, "a transaction saves at its end: its body must not save")
    }
    phase = .willSave
    defer { phase = nil }
    try throwPendingError()
    if findsValuesChangedInPlace { try checkReadValues() }
    var plan: SavePlan?
    var counted: CountedOwners?
    let savepoint = journal.begin()
    do {
      defer { journal.end(savepoint) }
      do {
        try prepareToSave()
        guard hasChanges else { return }
        phase = .writing
        plan = try SavePlan(self)
        counted = CountedOwners(before: self)
        try plan?.write()
      } catch {
        // What came during the save is undone, its errors with it.
        pendingErrors = []
        undo(since: savepoint) { plan?.isSaved($0) == true }
        throw error
      }
    } catch {
      if let plan, plan.isPartlySaved { try finishSave(plan, counted) }
      throw error
    }
    if let plan { try finishSave(plan, counted) }
  }

  private func throwPendingError() throws {
    if let error = pendingErrors.first { throw error }
  }

  // MARK: Before

  /// How often rules and `willSave` may be run again because of what they changed.
  private static let greatestRounds = 100

  private func prepareToSave() throws {
    try processPendingChanges()
    if saveOrder == .guide { try validate(Array(changedObjects)) }
    var waiting = Array(changedObjects)
    var isUnchecked = saveOrder == .framework
    var rounds = Rounds("rules assign delayed values again and again: a rule only looks")
    while let first = waiting.first {
      try rounds.begin(with: first)
      let touched = try runWillSave(waiting)
      waiting = try validate(isUnchecked ? Array(changedObjects) : touched)
      isUnchecked = false
    }
    try throwPendingError()
  }

  /// Counts rounds, so that what changes things again and again ends with an error.
  private struct Rounds {
    private var count = 0
    private let reason: () -> String

    init(_ reason: @escaping @autoclosure () -> String) { self.reason = reason }

    mutating func begin(with object: ManagedObject) throws {
      count += 1
      guard count > greatestRounds else { return }
      throw GraphError(
        .invalidRequest, "\(object.entity.name): \(reason())", entity: object.entity.name, objectID: object.objectID)
    }
  }

  /// Checks objects, and again those that rules changed meanwhile; returns those to which rules gave delayed values.
  @discardableResult
  private func validate(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    phase = .validating
    defer {
      phase = .willSave
      touchedObjects = nil
    }
    var late: OrderedSet<ManagedObject> = []
    var waiting = objects
    var rounds = Rounds("its rules change objects again and again: a rule only looks")
    while let first = waiting.first {
      try rounds.begin(with: first)
      touchedObjects = []
      var failures: [GraphError] = []
      for object in waiting where object.context === self {
        try HostWork.charge()
        var validator = try ObjectValidator(object)
        failures += try validator.validate(for: object.isDeleted ? .delete : object.isInserted ? .insert : .update)
      }
      try GraphError.throwFailures(failures, consequence: "; nothing was saved")
      late.append(contentsOf: waiting.lazy.filter { !$0.delayed.isEmpty })
      waiting = touchedObjects.map(Array.init) ?? []
    }
    return Array(late)
  }

  /// Calls `willSave` on objects, and on those that change meanwhile, by delete rules too; returns all that changed.
  private func runWillSave(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    let savepoint = journal.begin()
    defer {
      journal.end(savepoint)
      touchedObjects = nil
    }
    var waiting = objects
    var rounds = Rounds(
      "\(self.domain.hookName("willSave")) changes or inserts objects again and again: let it do so only where something is missing or differs"
    )
    while let first = waiting.first {
      try rounds.begin(with: first)
      touchedObjects = []
      for object in waiting where object.context === self {
        try HostWork.charge()
        try callWillSave(object)
      }
      try keepStoredAttributes(after: waiting.filter { $0.context === self })
      try processPendingChanges()
      waiting = touchedObjects.map(Array.init) ?? []
    }
    return Array(journal.objects(since: savepoint))
  }

  private func callWillSave(_ object: ManagedObject) throws {
    let behavior = try behavior(of: object.entity)
    if try object.writeDelayedValues() { changeCount &+= 1 }
    guard behavior.hasWillSave else { return }
    if behavior.objectClass != ManagedObject.self { try object.running("willSave") { try object.willSave() } }
    // One that deleted itself may be gone already.
    for entry in behavior.extensions where object.context === self {
      try object.run("willSave", entry.willSave)
      for derived in entry.stored { try object.keep(derived) }
    }
  }

  // MARK: After

  /// What the plan saved counts as saved; what it could not save stays as it is.
  private func finishSave(_ plan: SavePlan, _ counted: CountedOwners?) throws {
    phase = .didSave
    let objects = plan.isPartlySaved ? changedObjects.filter(plan.isSaved) : Array(changedObjects)
    for object in objects {
      let wasDeleted = object.isDeleted
      if object.isInserted { object.state.insert(.born) }
      object.state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
      if wasDeleted {
        registered.remove(object)
        object.leave(because: .deleted)
      }
    }
    changedObjects.removeAll { !$0.state.contains(.listed) }
    readObjects = []
    prefetched = PrefetchedLists()
    plan.adopt()
    counted?.readCounts(after: objects, in: self)
    changeCount &+= 1
    for object in objects where object.context === self { try callDidSave(object) }
  }

  /// The data is saved, whatever the hooks say: their errors are kept.
  private func callDidSave(_ object: ManagedObject) throws {
    let behavior = try behavior(of: object.entity)
    guard behavior.hasDidSave else { return }
    do {
      try object.running("didSave") { object.didSave() }
      for entry in behavior.extensions { try object.run("didSave", entry.didSave) }
    } catch let error as GraphError {
      if didSaveErrors.count < 100 { didSaveErrors.append(error) }
    }
  }
}
