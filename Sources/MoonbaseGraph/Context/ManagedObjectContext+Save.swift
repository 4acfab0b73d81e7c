import MoonbaseModel
import OrderedCollections

extension ManagedObjectContext {
  /// Saves all changes, in one transaction for each store.
  ///
  /// The order is the guide's: delete rules, validation, `willSave`, validation of what `willSave` changed, one store
  /// transaction, `didSave`; `saveOrder` can put `willSave` first. On an error nothing is saved and every change is kept.
  ///
  /// Throws the first of `pendingErrors`; validation failures (several as one `.multipleErrors`); `.mergeConflict` and
  /// `.constraintConflict`; `.readOnlyStore`; `.storeBusy`; what a hook throws; `.recursiveSave`.
  public func save() throws {
    guard !isSaving else {
      throw GraphError(.recursiveSave, "a save was begun while the same context saves: a hook must not save")
    }
    isSaving = true
    defer { isSaving = false }
    if let error = pendingErrors.first { throw error }
    if findsValuesChangedInPlace { try checkReadValues() }
    try prepareToSave()
    guard hasChanges else { return }
    let plan = try SavePlan(self)
    try plan.write()
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

  private func validate(_ objects: [ManagedObject]) throws {
    var failures: [GraphError] = []
    for object in objects where object.context === self {
      var validator = try ObjectValidator(object)
      failures += try validator.validate(for: object.isDeleted ? .delete : object.isInserted ? .insert : .update)
    }
    try GraphError.throwFailures(failures)
  }

  /// Calls `willSave` on every changed object, again on those that it changed; returns these.
  private func runWillSave() throws -> [ManagedObject] {
    var touched: [ManagedObject] = []
    var seen: Set<ObjectIdentifier> = []
    var waiting = Array(changedObjects)
    var rounds = 0
    while !waiting.isEmpty {
      rounds += 1
      guard rounds <= 1000 else {
        throw GraphError(
          .invalidRequest,
          "willSave of \(waiting[0].entity.name) changes objects again and again: let it set a value only if it differs",
          entity: waiting[0].entity.name)
      }
      var again: [ManagedObject] = []
      for object in waiting where object.context === self {
        let before = changeCount
        try callWillSave(object)
        if changeCount != before { again.append(contentsOf: changedSince(before, object)) }
      }
      for object in again where seen.insert(ObjectIdentifier(object)).inserted { touched.append(object) }
      waiting = again
    }
    return touched
  }

  private func callWillSave(_ object: ManagedObject) throws {
    let behavior = try behavior(of: object.entity)
    if try object.writeDelayedValues() { changeCount &+= 1 }
    guard behavior.hasWillSave else { return }
    try object.willSave()
    for entry in behavior.extensions { try entry.willSave?(object) }
  }

  /// The objects that may have changed in a `willSave`: its own object, and those that came into the list.
  private func changedSince(_ count: UInt64, _ object: ManagedObject) -> [ManagedObject] {
    let others = changedObjects.filter { $0.lastChange > count && $0 !== object }
    return [object] + others
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
        object.context = nil
      }
    }
    plan.adopt()
    changeCount &+= 1
    for object in objects where object.context === self {
      let behavior = try behavior(of: object.entity)
      guard behavior.hasDidSave else { continue }
      object.didSave()
      for entry in behavior.extensions { try entry.didSave?(object) }
    }
  }
}
