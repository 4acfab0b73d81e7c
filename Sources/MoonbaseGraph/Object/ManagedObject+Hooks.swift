package import MoonbaseModel

/// Calls of extensions: their depth is limited, and errors name the failing code.
extension ManagedObject {
  /// Runs code of an extension for an attribute. An error keeps its kind, and gains the names of the attribute and the
  /// hook.
  ///
  /// Endless recursion, for example by a derived attribute that depends on itself, ends with an error. Throws
  /// `.extensionFailure` beyond `ManagedObjectContext.greatestHookDepth`.
  package final func blaming<Result>(_ slot: Slot, hook: String, _ body: () throws -> Result) throws -> Result {
    guard let context else {
      do { return try body() } catch { throw failure(of: error, property: entity.property(at: slot).name, hook: hook) }
    }
    if context.running.hookDepth >= ManagedObjectContext.greatestHookDepth {
      throw failure(
        "needs itself: \(context.running.hookDepth) transformers, rules and derived attributes called each other",
        property: entity.property(at: slot).name)
    }
    do {
      return try context.withinHook(body)
    } catch {
      throw failure(of: error, property: entity.property(at: slot).name, hook: hook)
    }
  }

  /// Runs a transformer. An error of the default transformer is caused by the value or the bytes, not by an extension.
  /// Errors of the default transformer refuse the value.
  final func running<Result>(
    _ transformer: SlotTransformer, slot: Slot, hook: String, _ body: () throws -> Result
  ) throws -> Result {
    guard transformer.own.isDefault else { return try blaming(slot, hook: hook, body) }
    do {
      return try body()
    } catch let error as ModelError where !error.code.endsRun {
      throw refused(slot, value: nil, reason: error.message, as: error.code)
    }
  }

  /// Runs an accessor of a subclass. An accessor that accesses its own property by name ends with an error. Throws
  /// `.extensionFailure` beyond `ManagedObjectContext.greatestHookDepth`.
  final func accessing<Result>(_ slot: Slot, _ body: () throws -> Result) throws -> Result {
    guard let context else { return try body() }
    guard context.running.accessorDepth < ManagedObjectContext.greatestHookDepth else {
      let name = entity.property(at: slot).name
      throw failure(
        "its accessor needs itself: \(context.running.accessorDepth) accessors called each other; inside an accessor use the primitive value",
        property: name)
    }
    context.running.accessorDepth += 1
    defer { context.running.accessorDepth -= 1 }
    return try body()
  }

  /// Runs a hook of an extension, if there is one; an error gains the hook's name. Does nothing without a hook.
  final func run(_ name: String, hook: EntityExtension.Hook?) throws {
    guard let hook else { return }
    try running(name) { try hook(self) }
  }

  /// Runs code of an extension for the object as a whole; an error gains the hook's name. Saves, resets and rollbacks
  /// are refused while `body` runs.
  @discardableResult
  package final func running<Result>(_ hook: String, _ body: () throws -> Result) throws -> Result {
    if let context, context.running.hookDepth >= ManagedObjectContext.greatestHookDepth {
      throw failure(
        "\(context.extensionRegistry.hookName(hook)): \(context.running.hookDepth) hooks called each other",
        property: nil)
    }
    do {
      guard let context else { return try body() }
      return try context.withinHook(body)
    } catch {
      throw failure(of: error, property: nil, hook: hook)
    }
  }

  /// Converts an error of an extension to one of the graph. An error of the graph that passed through a script is
  /// restored. Errors that end a script's run stay unchanged.
  private func failure(of error: any Error, property: String?, hook: String) -> any Error {
    if let error = error as? GraphError { return error.causedElsewhere }
    let ended = GraphError(endOf: error, in: hook, entity: entity.name, property: property, objectID: objectID)
    if let ended { return ended }
    let script = error as? any ScriptFailure
    if let script, script.endsRun { return error }
    if let script, script.isOutOfStack, let context, context.running.hookDepth > 10 {
      let prefix = property == nil ? "\(script.hookName(hook)): " : ""
      return failure(
        "\(prefix)needs itself, or too much: \(context.running.hookDepth) scripts called each other", property: property
      )
    }
    let name = script?.hookName(hook) ?? hook
    if let script, let known = script.hostError as? GraphError {
      return self.known(known, script: script, property: property, hook: name).causedElsewhere
    }
    let advice = script?.advice.map { "; \($0)" } ?? ""
    var failure = failure("\(name): \(error)\(advice)", property: property)
    failure.underlying = error
    if let code = script?.codeOfScript, !code.endsRun, !code.isOfStore { failure.code = code }
    return failure
  }

  /// Adds the place in the innermost script hook to an error of the graph that the script did not catch. An error that
  /// already names an extension is not changed.
  private func known(_ error: GraphError, script: any ScriptFailure, property: String?, hook: String)
    -> GraphError
  {
    var known = error
    guard !(known.underlying is any ScriptFailure) else { return known }
    known.underlying = script
    // An error of an extension already names the extension.
    guard error.code != .extensionFailure else { return known }
    let place = script.place.map { "\($0): " } ?? ""
    known.message = "\(subject(property)): \(hook): \(place)\(error.message)"
    known.reason = nil
    return known
  }

  /// For example "Person.age", or "Person" for the whole object.
  private func subject(_ property: String?) -> String { property.map { "\(entity.name).\($0)" } ?? entity.name }

  /// The error of an extension with a reason, for a property or the object as a whole. The message begins with entity
  /// and property.
  final func failure(_ reason: String, property: String?) -> GraphError {
    var error = GraphError(
      .extensionFailure, message: "\(subject(property)): \(reason)", entity: entity.name, property: property,
      objectID: objectID)
    error.reason = reason
    return error
  }
}
