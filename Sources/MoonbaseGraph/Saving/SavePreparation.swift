import MoonbaseModel
import MoonbasePlatform

/// The phases of a save before it writes: delete rules, validation and `willSave`, repeated for objects that these
/// change.
///
/// Made and run once per attempt of a save. Objects that no rule or hook concerns are skipped as early as possible, so
/// that a large import pays only for the rules it has.
struct SavePreparation {
  /// The context that is saved.
  let context: ManagedObjectContext

  /// The number of rounds after which validation or `willSave` counts as endless.
  private static let greatestRounds = 100

  /// Runs the phases. Returns whether the save is known to change only objects that existed before. Throws validation
  /// failures, the errors of hooks, and the first pending error.
  func run() throws -> Bool {
    context.errors.warnings.removeAll()
    try context.applyDeleteRules()
    var (waiting, areUpdates) = try objectsToLookAt()
    guard !waiting.isEmpty else {
      try context.throwPendingError()
      return areUpdates
    }
    if context.saveOrder == .validateFirst {
      try validate(waiting)
      (waiting, areUpdates) = try objectsToLookAt(areValidated: true)
      guard !waiting.isEmpty else {
        try context.throwPendingError()
        return areUpdates
      }
    }
    var isUnchecked = context.saveOrder == .willSaveFirst
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

  /// The changed objects that need work before a store writes them: rules, hooks, delete rules, counts of destinations,
  /// stored attributes or delayed values. With `areValidated`, rules and counts are left out. Also returns whether all
  /// changed objects existed before and still exist. Objects of one entity usually follow each other, so the behavior
  /// is looked up once for them.
  private func objectsToLookAt(areValidated: Bool = false) throws -> (objects: [ManagedObject], areUpdates: Bool) {
    guard !context.hasStoredAttributes else { return (Array(context.changedObjects), false) }
    var result: [ManagedObject] = []
    var all: ManagedObject.State = []
    var last: (table: UnsafeMutableRawPointer?, isLookedAt: Bool) = (nil, false)
    try context.changedObjects.forEachUnretained { pointer in
      try pointer._withUnsafeGuaranteedRef { object in
        if last.table != object.table.toOpaque() {
          let behavior = try context.behavior(of: object.entity)
          last = (object.table.toOpaque(), areValidated ? behavior.hasWillSave : behavior.needsSaveHooks)
        }
        all.formUnion(object.state)
        if last.isLookedAt || object.state.contains(.deleted) || object.hasDelayedValues {
          result.append(object)
        }
      }
    }
    return (result, all.isDisjoint(with: [.inserted, .deleted]))
  }

  /// Counts rounds, so that endless changes end with an error. The limit is `greatestRounds`.
  private struct Rounds {
    /// The rounds so far.
    private var count = 0
    /// The end of the message, made only for the error.
    private let reason: () -> String

    /// No round has begun.
    init(_ reason: @escaping @autoclosure () -> String) { self.reason = reason }

    /// Throws `.extensionFailure` after too many rounds.
    mutating func begin(with culprit: @autoclosure () throws -> ManagedObject) throws {
      count += 1
      guard count > greatestRounds else { return }
      let object = try culprit()
      throw GraphError(
        .extensionFailure, message: "\(object.entity.name): \(reason())", entity: object.entity.name,
        objectID: object.objectID)
    }
  }

  /// Runs `body` and returns the objects that were changed, inserted or deleted meanwhile; with `noted` only those for
  /// which the change is a reason to call rules or `willSave`. Each object occurs once.
  private func changes(noted: Bool = false, by body: () throws -> Void) rethrows -> [ManagedObject] {
    let savepoint = context.journal.begin()
    defer { context.endSavepoint(savepoint) }
    try body()
    return context.journal.objects(since: savepoint, noted: noted)
  }

  /// Validates objects until neither rules nor dependent stored attributes change any more. Returns the objects to
  /// which rules gave delayed values. Delayed values are written by the next `willSave` round.
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

  /// Validates objects, and again those that rules changed. Returns the objects to which rules gave delayed values.
  /// Throws all failures of a round as one error.
  @discardableResult
  private func validate(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    guard context.hostSettings.validatesAtSave else { return [] }
    context.running.phase = .validating
    defer { context.running.phase = .willSave }
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
        context.errors.warnings.replace(failures.warnings, of: waiting)
        try failures.throwFailures(consequence: "; nothing was saved")
        // Rules may have moved a destination that kept a deleted object.
        try context.dropNewDeletedObjects()
      }
      late.append(distinct: waiting.filter(\.hasDelayedValues))
      waiting = changed
    }
    return late.elements
  }

  /// Calls `willSave` on objects, and on objects that change meanwhile, also by delete rules. Returns all changed
  /// objects. Stored attributes are computed after the hooks of each round.
  private func runWillSave(_ objects: [ManagedObject]) throws -> [ManagedObject] {
    var touched = DistinctObjects()
    var waiting = objects
    var rounds = Rounds(adviceOnWillSave)
    while !waiting.isEmpty {
      try rounds.begin(with: culprit(of: waiting))
      var areOnlyFollowers = false
      waiting = try changes(noted: true) {
        // A primitive setter does not count as a change, but dependent values must still be computed.
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
      // Values that depend on stored attributes are already computed.
      if areOnlyFollowers { waiting = try waiting.filter(hasWorkAtWillSave) }
    }
    return touched.elements
  }

  /// An object that a hook may change endlessly, for the error message. Prefers an object with a hook.
  private func culprit(of objects: [ManagedObject]) throws -> ManagedObject {
    try objects.first { try $0.context === context && context.behavior(of: $0.entity).hasWillSave } ?? objects[0]
  }

  /// The setter is named in the language of the extension.
  private var adviceOnWillSave: String {
    let hook = context.extensionRegistry.hookName("willSave")
    let setter =
      hook == "willSave" ? "setPrimitiveValue(_:forKey:)" : "object:set_primitive(\"modified\", moonbase.date.now())"
    return
      "\(hook) changes or inserts objects again and again: let it do so only where something is missing or differs, and set a time "
      + "that is another one each time by \(setter), which is no change of its own"
  }

  /// Whether an object has values to check or write. A fault whose row another context deleted has none. Reads the row
  /// of a fault, unless no rule or hook needs it.
  private func hasSomethingToSave(_ object: ManagedObject) throws -> Bool {
    guard object.context === context else { return false }
    return try !object.needsRow || !context.behavior(of: object.entity).needsSaveHooks || !context.isGone(object)
  }

  /// Whether `willSave` or a delayed value needs work. Most objects with only stored attributes need none. Reads a row
  /// only if necessary.
  private func hasWorkAtWillSave(_ object: ManagedObject) throws -> Bool {
    guard object.context === context else { return false }
    guard try object.hasDelayedValues || context.behavior(of: object.entity).hasWillSave else { return false }
    return try hasSomethingToSave(object)
  }

  /// Writes delayed values of an object and calls its `willSave` hooks. First the class, then the extensions in order.
  private func callWillSave(_ object: ManagedObject) throws {
    let behavior = try context.behavior(of: object.entity)
    if try object.writeDelayedValues() { context.noteChange() }
    guard behavior.hasWillSave else { return }
    if behavior.hooks.contains(.willSave) { try object.running("willSave") { try object.willSave() } }
    // An object that deleted itself may have left the context.
    for entry in behavior.extensions where object.context === context {
      try object.run("willSave", hook: entry.willSave)
    }
  }
}
