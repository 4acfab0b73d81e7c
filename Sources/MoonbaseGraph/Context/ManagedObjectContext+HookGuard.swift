import MoonbaseModel
import MoonbasePlatform

/// Refusals of requests that hooks, rules and getters make.
extension ManagedObjectContext {
  /// The limit of nested calls of extensions; deeper nesting counts as endless recursion.
  static let greatestHookDepth = 100

  /// Throws within a hook, for an operation that would remove objects or changes that the running code uses.
  package func refuseWithinHooks(_ operation: String) throws {
    try Self.refuseWithinFunctions(operation)
    if running.phase != nil {
      throw GraphError(
        .recursiveSave,
        message: "\(operation) while the same context saves: a hook or rule that runs during a save must not do that"
      )
    }
    guard running.hookDepth == 0 else {
      throw GraphError(
        .contextBusy,
        message:
          "\(operation) while the context runs a hook: do it where the hook's cause, such as an insert or a delete, is done"
      )
    }
  }

  /// Throws while a function of a store's batch update runs. The refusal is remembered, so that a function cannot hide
  /// it (`runningFunction`).
  @inline(__always)
  package static func refuseWithinFunctions(_ operation: @autoclosure () -> String) throws {
    guard HostFunction.isRunning else { return }
    HostFunction.refuse()
    throw functionRefusal(operation())
  }

  /// The code is `.contextBusy`.
  private static func functionRefusal(_ operation: String) -> GraphError {
    GraphError(
      .contextBusy,
      message:
        "\(operation) while a function of a batch update runs, which may only look at what it is given: do it before or after the update"
    )
  }

  /// Runs a function of a batch update. A request that was refused meanwhile is an error, even if the function caught
  /// it.
  package static func runningFunction(_ body: () throws -> Void) throws {
    let refusals = HostFunction.refusals
    try HostFunction.run(body)
    guard HostFunction.refusals == refusals else { throw functionRefusal("a store was asked") }
  }

  /// Throws while rules are evaluated, since inserted or deleted objects would not be validated. The code is
  /// `.contextBusy`.
  func refuseWhileValidating(_ operation: String) throws {
    guard running.phase == .validating else { return }
    let hook = extensionRegistry.hookName("willSave")
    throw GraphError(.contextBusy, message: "\(operation) while rules are checked: a rule only looks; do it in \(hook)")
  }

  /// Throws while a derived value is computed: reading a value must not insert or delete objects. The code is
  /// `.contextBusy`. Delete rules that apply meanwhile are allowed.
  func refuseWithinGetters(_ operation: @autoclosure () -> String) throws {
    guard derivations.isRecording, running.propagationDepth == 0, let computed = derivations.computations.last else {
      return
    }
    throw GraphError(
      .contextBusy,
      message:
        "\(operation()) while \(computed.name) is computed: a getter only computes; do it in \(extensionRegistry.hookName("willSave")), or where the value is asked for"
    )
  }

  /// Runs a rule. A change by the rule is undone, and an error names the rule. Throws `.contextBusy` for a change, and
  /// the errors of `body`.
  func runningRule<Result>(_ rule: @autoclosure () -> String, _ body: () throws -> Result) throws -> Result {
    let (savepoint, sweeps) = (journal.begin(), running.propagationCount)
    running.ruleDepth += 1
    defer {
      running.ruleDepth -= 1
      endSavepoint(savepoint)
      tellObservers()
    }
    do {
      let result = try body()
      // A fetch applies pending delete rules, which is no change of the rule.
      if sweeps == running.propagationCount, let change = journal.firstNoted(since: savepoint) {
        throw changed(change.object, change.slot, by: rule())
      }
      return result
    } catch {
      if journal.hasChanges(since: savepoint) { undo(since: savepoint) }
      throw error
    }
  }

  /// Evaluates a rule in its quick form; false also after an error or a change, which is undone.
  ///
  /// The caller then evaluates the full rule, which reports the error.
  func isFulfilled(
    _ rule: EntityExtension.QuickRule, _ cell: RawCell, of object: ManagedObject
  ) -> Bool {
    // Nested rules would each be evaluated twice, at every level.
    guard running.ruleDepth == 0, running.hookDepth < Self.greatestHookDepth else { return false }
    let (savepoint, sweeps) = (journal.begin(), running.propagationCount)
    running.ruleDepth += 1
    running.hookDepth += 1
    var isFulfilled = (try? rule.holds(cell, object)) ?? false
    if journal.hasChanges(since: savepoint) {
      if sweeps == running.propagationCount, journal.firstNoted(since: savepoint) != nil { isFulfilled = false }
      if !isFulfilled { undo(since: savepoint) }
    }
    running.hookDepth -= 1
    if running.hasEndsOfHooks { endHook() }
    running.ruleDepth -= 1
    endSavepoint(savepoint)
    tellObservers()
    return isFulfilled
  }

  /// The error for a change by a rule, with the changed property.
  private func changed(_ object: ManagedObject, _ slot: Slot?, by rule: String) -> GraphError {
    let property = slot.map { object.entity.property(at: $0).name }
    let subject = property.map { "\($0) of \(object.objectID)" } ?? "\(object.objectID)"
    return GraphError(
      .contextBusy,
      message:
        "\(rule): \(subject) was changed while rules are checked: a rule only looks; do it in \(extensionRegistry.hookName("willSave"))",
      entity: object.entity.name, property: property, objectID: object.objectID)
  }

  /// Runs code of an extension, in which this context refuses saves, resets, rollbacks and refreshes.
  @inline(__always)
  package func withinHook<Result>(_ body: () throws -> Result) rethrows -> Result {
    running.hookDepth += 1
    defer {
      running.hookDepth -= 1
      if running.hasEndsOfHooks { endHook() }
    }
    return try body()
  }

  /// Calls a closure when the running hook returns; does nothing outside of hooks. Closures run in reverse order of
  /// their addition.
  package func atEndOfHook(_ body: @escaping () -> Void) {
    guard running.hookDepth > 0 else { return }
    running.endsOfHooks.append((running.hookDepth, body))
    running.hasEndsOfHooks = true
  }

  /// Runs the closures of hooks that have ended.
  @inline(never)
  private func endHook() {
    while let last = running.endsOfHooks.last, last.depth > running.hookDepth {
      running.endsOfHooks.removeLast()
      last.body()
    }
    running.hasEndsOfHooks = !running.endsOfHooks.isEmpty
  }

  /// Whether a hook, rule, transformer or getter is running.
  package var isWithinHook: Bool { running.hookDepth > 0 }
}
