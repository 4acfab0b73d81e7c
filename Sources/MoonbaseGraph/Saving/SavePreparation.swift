import MoonbaseModel
import MoonbasePlatform

/// What a save does before it writes: delete rules, rules and `willSave`, again for what these change.
struct SavePreparation {
  let context: ManagedObjectContext

  /// How often rules and `willSave` may be run again because of what they changed.
  private static let greatestRounds = 100

  /// Does it. Returns whether the save changes nothing but objects that were there before, as far as it was looked at.
  func run() throws -> Bool {
    context.warnings.removeAll()
    try context.applyDeleteRules()
    var (waiting, areUpdates) = try objectsToLookAt()
    guard !waiting.isEmpty else {
      try context.throwPendingError()
      return areUpdates
    }
    if context.saveOrder == .guide {
      try validate(waiting)
      (waiting, areUpdates) = try objectsToLookAt(areValidated: true)
      guard !waiting.isEmpty else {
        try context.throwPendingError()
        return areUpdates
      }
    }
    var isUnchecked = context.saveOrder == .framework
    var rounds = Rounds("rules assign delayed values again and again: a rule only looks")
    while let first = waiting.first {
      try rounds.begin(with: first)
      let touched = try runWillSave(waiting)
      waiting = try settle(isUnchecked ? objectsToLookAt().objects : touched)
      isUnchecked = false
    }
    try context.throwPendingError()
    return false
  }

  /// The changed objects at which anything but the store looks: rules, hooks, delete rules, counts of destinations,
  /// stored attributes, delayed values. Once objects are validated, rules and counts do not look any more. And whether
  /// all changed objects were there before and stay.
  private func objectsToLookAt(areValidated: Bool = false) throws -> (objects: [ManagedObject], areUpdates: Bool) {
    guard !context.hasStoredAttributes else { return (Array(context.changedObjects), false) }
    var result: [ManagedObject] = []
    var all: ManagedObject.State = []
    var last: (table: UnsafeMutableRawPointer?, isLookedAt: Bool) = (nil, false)
    try context.changedObjects.forEachUnretained { pointer in
      try pointer._withUnsafeGuaranteedRef { object in
        if last.table != object.table.toOpaque() {
          let behavior = try context.behavior(of: object.entity)
          last = (object.table.toOpaque(), areValidated ? behavior.hasWillSave : behavior.looksAtSaves)
        }
        all.formUnion(object.state)
        if last.isLookedAt || object.state.contains(.deleted) || object.hasDelayedValues {
          result.append(object)
        }
      }
    }
    return (result, all.isDisjoint(with: [.inserted, .deleted]))
  }

  /// Counts rounds, so that what changes things again and again ends with an error.
  private struct Rounds {
    private var count = 0
    private let reason: () -> String

    init(_ reason: @escaping @autoclosure () -> String) { self.reason = reason }

    mutating func begin(with culprit: @autoclosure () throws -> ManagedObject) throws {
      count += 1
      guard count > greatestRounds else { return }
      let object = try culprit()
      throw GraphError(
        .extensionFailure, message: "\(object.entity.name): \(reason())", entity: object.entity.name,
        objectID: object.objectID)
    }
  }

  /// Runs `body`; returns the objects that changed, came or went meanwhile, by whichever door; with `noted` those for which that
  /// is a reason to call rules or `willSave`.
  private func changes(noted: Bool = false, by body: () throws -> Void) rethrows -> [ManagedObject] {
    let savepoint = context.journal.begin()
    defer { context.endSavepoint(savepoint) }
    try body()
    return context.journal.objects(since: savepoint, noted: noted)
  }

  /// Checks objects until neither rules nor the stored attributes that follow what rules changed change any more; returns those
  /// to which rules gave delayed values.
  private func settle(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    var late = DistinctObjects()
    var waiting = objects
    var rounds = Rounds("its rules change again what stored attributes are computed from: a rule only looks")
    while let first = waiting.first {
      try rounds.begin(with: first)
      let changed = try changes { late.append(distinct: try validate(waiting)) }
      waiting = try changes { try context.keepStoredAttributes(after: changed) }
    }
    return late.elements.filter { $0.context === context && !$0.delayed.isEmpty }
  }

  /// Checks objects, and again those that rules changed meanwhile; returns those to which rules gave delayed values.
  @discardableResult
  private func validate(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    guard context.validatesAtSave else { return [] }
    context.phase = .validating
    defer { context.phase = .willSave }
    var late = DistinctObjects()
    var waiting = objects
    var rounds = Rounds("its rules change objects again and again: a rule only looks")
    while let first = waiting.first {
      try rounds.begin(with: first)
      let changed = try changes(noted: true) {
        let failures = FailureCollector()
        var last: (table: UnsafeMutableRawPointer?, checks: QuickChecks?) = (nil, nil)
        for object in waiting where try hasSomethingToSave(object) {
          try HostWork.charge()
          if last.table != object.table.toOpaque() {
            last = (object.table.toOpaque(), try context.behavior(of: object.entity).quickChecks)
          }
          if let checks = last.checks, try checks.pass(object) { continue }
          var validator = try ObjectValidator(object, failures: failures)
          try validator.validate(for: object.isDeleted ? .delete : object.isInserted ? .insert : .update)
        }
        context.warnings.take(failures.warnings, of: waiting)
        try failures.throwFailures(consequence: "; nothing was saved")
        // Rules may have moved what kept one here.
        try context.dropNewDeletedObjects()
      }
      late.append(distinct: waiting.filter(\.hasDelayedValues))
      waiting = changed
    }
    return late.elements
  }

  /// Calls `willSave` on objects, and on those that change meanwhile, by delete rules too; returns all that changed.
  private func runWillSave(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    var touched = DistinctObjects()
    var waiting = objects
    var rounds = Rounds(adviceOnWillSave)
    while !waiting.isEmpty {
      try rounds.begin(with: culprit(of: waiting))
      var areOnlyFollowers = false
      waiting = try changes(noted: true) {
        // A primitive setter is silent, and what is computed from the value follows all the same.
        let changed = try changes {
          for object in waiting where try hasWorkAtWillSave(object) {
            try HostWork.charge()
            try callWillSave(object)
          }
        }
        let followers = try changes { try context.keepStoredAttributes(after: waiting, changed) }
        let swept = try changes { try context.applyDeleteRules() }
        for objects in [changed, followers, swept] { touched.append(distinct: objects) }
        areOnlyFollowers = changed.isEmpty && swept.isEmpty
      }
      // Values that are computed from stored ones are computed by now.
      if areOnlyFollowers { waiting = try waiting.filter(hasWorkAtWillSave) }
    }
    return touched.elements
  }

  /// The one that a hook may change again and again.
  private func culprit(of objects: [ManagedObject]) throws -> ManagedObject {
    try objects.first { try $0.context === context && context.behavior(of: $0.entity).hasWillSave } ?? objects[0]
  }

  private var adviceOnWillSave: String {
    let hook = context.extensionRegistry.hookName("willSave")
    let setter =
      hook == "willSave" ? "setPrimitiveValue(_:forKey:)" : "object:set_primitive(\"modified\", moonbase.date.now())"
    return
      "\(hook) changes or inserts objects again and again: let it do so only where something is missing or differs, and set a time "
      + "that is another one each time by \(setter), which is no change of its own"
  }

  /// Of a fault whose row another context deleted there are no values that could be checked or written.
  private func hasSomethingToSave(_ object: ManagedObject) throws -> Bool {
    guard object.context === context else { return false }
    return try !object.needsRow || !context.behavior(of: object.entity).looksAtSaves || !context.isGone(object)
  }

  /// Most objects of which only stored attributes are computed have none.
  private func hasWorkAtWillSave(_ object: ManagedObject) throws -> Bool {
    guard object.context === context else { return false }
    guard try object.hasDelayedValues || context.behavior(of: object.entity).hasWillSave else { return false }
    return try hasSomethingToSave(object)
  }

  private func callWillSave(_ object: ManagedObject) throws {
    let behavior = try context.behavior(of: object.entity)
    if try object.writeDelayedValues() { context.noteChange() }
    guard behavior.hasWillSave else { return }
    if behavior.hooks.contains(.willSave) { try object.running("willSave") { try object.willSave() } }
    // One that deleted itself may be gone already.
    for entry in behavior.extensions where object.context === context {
      try object.run("willSave", hook: entry.willSave)
    }
  }
}
