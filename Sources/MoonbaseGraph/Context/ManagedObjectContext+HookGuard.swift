import MoonbaseModel
import MoonbasePlatform

/// How far a save is, for what hooks may do meanwhile.
///
/// | asked for by a hook | validation | `willSave` | `didSave` | outside of a save |
/// |---|---|---|---|---|
/// | change a value | no by a rule, else validated again | yes, validated | yes, for the next save | yes |
/// | insert, delete | no | yes | yes, for the next save | yes |
/// | save, reset, roll back, refresh | no | no | no | no |
///
/// A rule changes nothing, also where a program asks for it, and a getter inserts and deletes nothing. The primitive
/// value of a transient attribute, which either may keep, is no change.
enum SavePhase {
  /// Rules and normalizers run.
  case validating
  /// Delete rules and `willSave` run.
  case willSave
  /// The store writes.
  case writing
  /// The data is saved.
  case didSave
}

/// What code that the context itself calls may not ask of it.
extension ManagedObjectContext {
  /// Calls of extensions inside of each other beyond this are taken for an endless recursion.
  static let greatestHookDepth = 100

  /// Throws where code that the context itself called asks for what would take objects or changes away under it.
  func refuseWithinHooks(_ operation: String) throws {
    try Self.refuseWithinFunctions(operation)
    if phase != nil {
      throw GraphError(
        .recursiveSave,
        message: "\(operation) while the same context saves: a hook or rule that runs during a save must not do that"
      )
    }
    guard hookDepth == 0 else {
      throw GraphError(
        .contextBusy,
        message:
          "\(operation) while the context runs a hook: do it where the hook's cause, such as an insert or a delete, is done"
      )
    }
  }

  /// Throws where a function runs that a store waits for.
  @inline(__always)
  static func refuseWithinFunctions(_ operation: @autoclosure () -> String) throws {
    guard HostFunction.isRunning else { return }
    HostFunction.refuse()
    throw functionRefusal(operation())
  }

  private static func functionRefusal(_ operation: String) -> GraphError {
    GraphError(
      .contextBusy,
      message:
        "\(operation) while a function of a batch update runs, which may only look at what it is given: do it before or after the update"
    )
  }

  /// Runs a function, which must not go on as if nothing were when it catches the refusal.
  static func runningFunction(_ body: () throws -> Void) throws {
    let refusals = HostFunction.refusals
    try HostFunction.run(body)
    guard HostFunction.refusals == refusals else { throw functionRefusal("a store was asked") }
  }

  /// Throws where rules run: what came or went now would not be validated.
  func refuseWhileValidating(_ operation: String) throws {
    guard phase == .validating else { return }
    let hook = extensionRegistry.hookName("willSave")
    throw GraphError(.contextBusy, message: "\(operation) while rules are checked: a rule only looks; do it in \(hook)")
  }

  /// Throws where a derived value is computed: a program that reads it does not expect that objects come or go.
  func refuseWithinGetters(_ operation: @autoclosure () -> String) throws {
    guard derivations.isRecording, propagationDepth == 0, let computed = derivations.computations.last else { return }
    throw GraphError(
      .contextBusy,
      message:
        "\(operation()) while \(computed.name) is computed: a getter only computes; do it in \(extensionRegistry.hookName("willSave")), or where the value is asked for"
    )
  }

  /// Runs a rule. A change that it made, by any door, is undone, and is an error, which says what rule it was.
  func runningRule<Result>(_ rule: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
    let (savepoint, sweeps) = (journal.begin(), propagationCount)
    ruleDepth += 1
    defer {
      ruleDepth -= 1
      endSavepoint(savepoint)
      tellObservers()
    }
    do {
      let result = try body()
      // A fetch applies the delete rules that wait.
      if sweeps == propagationCount, let change = journal.firstNoted(since: savepoint) {
        throw changed(change.object, change.slot, by: rule())
      }
      return result
    } catch {
      if journal.hasChanges(since: savepoint) { undo(since: savepoint) }
      throw error
    }
  }

  /// Asks a rule in its quick form. The answer is false also where the rule failed or changed something, and the
  /// change is undone. The rule itself is asked then, and tells the error.
  func isFulfilled(
    _ rule: EntityExtension.QuickRule, _ cell: RawCell, of object: ManagedObject
  ) -> Bool {
    // Rules that ask each other would each be asked twice, and so on at each level.
    guard ruleDepth == 0, hookDepth < Self.greatestHookDepth else { return false }
    let (savepoint, sweeps) = (journal.begin(), propagationCount)
    ruleDepth += 1
    hookDepth += 1
    var isFulfilled = (try? rule.holds(cell, object)) ?? false
    if journal.hasChanges(since: savepoint) {
      if sweeps == propagationCount, journal.firstNoted(since: savepoint) != nil { isFulfilled = false }
      if !isFulfilled { undo(since: savepoint) }
    }
    hookDepth -= 1
    if hasEndsOfHooks { endHook() }
    ruleDepth -= 1
    endSavepoint(savepoint)
    tellObservers()
    return isFulfilled
  }

  private func changed(_ object: ManagedObject, _ slot: Slot?, by rule: String) -> GraphError {
    let property = slot.map { object.entity.property(at: $0).name }
    let subject = property.map { "\($0) of \(object.objectID)" } ?? "\(object.objectID)"
    return GraphError(
      .contextBusy,
      message:
        "\(rule): \(subject) was changed while rules are checked: a rule only looks; do it in \(extensionRegistry.hookName("willSave"))",
      entity: object.entity.name, property: property, objectID: object.objectID)
  }

  /// Runs code of an extension. Nothing that it calls may save, reset, roll back or refresh this context.
  @inline(__always)
  func withinHook<Result>(_ body: () throws -> Result) rethrows -> Result {
    hookDepth += 1
    defer {
      hookDepth -= 1
      if hasEndsOfHooks { endHook() }
    }
    return try body()
  }

  /// Calls a closure when the hook returns that runs now; does nothing where none runs.
  package func atEndOfHook(_ body: @escaping () -> Void) {
    guard hookDepth > 0 else { return }
    endsOfHooks.append((hookDepth, body))
    hasEndsOfHooks = true
  }

  @inline(never)
  private func endHook() {
    while let last = endsOfHooks.last, last.depth > hookDepth {
      endsOfHooks.removeLast()
      last.body()
    }
    hasEndsOfHooks = !endsOfHooks.isEmpty
  }

  /// Whether a hook, a rule, a transformer or a getter of the context runs.
  package var isWithinHook: Bool { hookDepth > 0 }
}
