import MoonbaseModel
import OrderedCollections

extension ManagedObjectContext {
  /// Saves all changes, in one transaction for each store.
  ///
  /// The order is the guide's: delete rules, validation, `willSave`, validation of what `willSave` changed, one store
  /// transaction, `didSave`; `saveOrder` can put `willSave` first. On an error nothing is saved and every change is kept.
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
    if let error = pendingErrors.first { throw error }
    if findsValuesChangedInPlace { try checkReadValues() }
    try prepareToSave()
    guard hasChanges else { return }
    phase = .writing
    let plan = try SavePlan(self)
    try plan.write()
    phase = .didSave
    try finishSave(plan)
  }

  // MARK: Before

  private func prepareToSave() throws {
    try processPendingChanges()
    if saveOrder == .guide { try validate(Array(changedObjects)) }
    let touched = try runWillSave()
    try processPendingChanges()
    try validate(saveOrder == .guide ? touched : Array(changedObjects))
  }

  /// How often rules and `willSave` may be run again because of what they changed.
  private static let greatestRounds = 100

  /// Checks objects, and again those that rules changed meanwhile.
  private func validate(_ objects: [ManagedObject]) throws {
    phase = .validating
    defer {
      phase = .willSave
      touchedObjects = nil
    }
    var waiting = objects
    var rounds = 0
    while let first = waiting.first {
      rounds += 1
      guard rounds <= Self.greatestRounds else {
        throw GraphError(
          .invalidRequest, "rules of \(first.entity.name) change objects again and again: a rule only looks",
          entity: first.entity.name, objectID: first.objectID)
      }
      touchedObjects = []
      var failures: [GraphError] = []
      for object in waiting where object.context === self {
        var validator = try ObjectValidator(object)
        failures += try validator.validate(for: object.isDeleted ? .delete : object.isInserted ? .insert : .update)
      }
      try GraphError.throwFailures(failures, consequence: "; nothing was saved")
      waiting = touchedObjects.map(Array.init) ?? []
    }
  }

  /// Calls `willSave` on every changed object, and again on those that changed meanwhile; returns these.
  private func runWillSave() throws -> [ManagedObject] {
    defer { touchedObjects = nil }
    var touched: OrderedSet<ManagedObject> = []
    var waiting = Array(changedObjects)
    var rounds = 0
    while let first = waiting.first {
      rounds += 1
      guard rounds <= Self.greatestRounds else {
        throw GraphError(
          .invalidRequest,
          "willSave of \(first.entity.name) changes or inserts objects again and again: let it do so only where something is missing or differs",
          entity: first.entity.name, objectID: first.objectID)
      }
      touchedObjects = []
      for object in waiting where object.context === self { try callWillSave(object) }
      waiting = touchedObjects.map(Array.init) ?? []
      touched.append(contentsOf: waiting)
    }
    return Array(touched)
  }

  private func callWillSave(_ object: ManagedObject) throws {
    let behavior = try behavior(of: object.entity)
    if try object.writeDelayedValues() { changeCount &+= 1 }
    guard behavior.hasWillSave else { return }
    if behavior.objectClass != ManagedObject.self { try object.running("willSave") { try object.willSave() } }
    for entry in behavior.extensions { try object.run("willSave", entry.willSave) }
  }

  // MARK: After

  private func finishSave(_ plan: SavePlan) throws {
    let objects = changedObjects
    changedObjects = []
    readObjects = []
    prefetched = [:]
    for object in objects {
      let wasDeleted = object.isDeleted
      if object.isInserted { object.state.insert(.born) }
      object.state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
      if wasDeleted {
        registered[object.objectID] = nil
        object.leave(because: .deleted)
      }
    }
    plan.adopt()
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
