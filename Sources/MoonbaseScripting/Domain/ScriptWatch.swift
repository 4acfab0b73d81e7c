import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// An observation made by a script. The context retains it until the script cancels it or the context ends.
///
/// Made by `context:on`, `object:observe` and `results:on_change`. The graph calls back on the context's thread, within
/// the operation that caused the event; the function runs with the limits of the extension that registered it.
final class ScriptWatch {
  /// Not retained: the context retains this object.
  private let context: ContextReference
  /// The underlying observation of the graph, which ends together with this object.
  private var observation: AnyObject?
  /// The script's function.
  private let function: LuaFunction
  private let types: HostTypes
  /// The extension that made the observation; nil for an extension without limits.
  private let running: RunningExtension?
  /// The name of the event, for messages.
  private let event: String

  /// Makes an observation that has not begun. `event` appears in errors, as `did_save: …`.
  init(_ event: String, of context: ManagedObjectContext, _ function: LuaFunction, types: HostTypes) {
    (self.event, self.context, self.function, self.types) = (event, context.reference, function, types)
    running = types.domain.flatMap { .current(in: $0.state) }
  }

  /// Observes until cancelled.
  ///
  /// The context keeps this object from now on; `observation` is released by `cancel()`.
  func begin(_ observation: AnyObject, in context: ManagedObjectContext) {
    self.observation = observation
    context.keep(observation: self)
  }

  /// Whether the function is still called.
  var isActive: Bool { observation != nil && context.context?.keeps(observation: self) == true }

  /// Ends the observation. Further calls have no effect; a call from within the function is allowed.
  func cancel() {
    observation = nil
    context.context?.release(observation: self)
  }

  /// Calls the function. An error fails the observed operation.
  ///
  /// Used for `will_save`, which may still refuse the save. `arguments` is evaluated only if the observation is active.
  func call(_ arguments: (ScriptDomain) throws -> [LuaValue]) throws {
    guard observation != nil else { return }
    let domain = try types.openDomain()
    do {
      _ = try domain.state.runNested {
        try running.within(event) { try function.call(arguments(domain)) }
      }
    } catch {
      throw failure(of: error)
    }
  }

  /// Calls the function when the operation can no longer fail. The error is kept like that of a `did_save` hook. An
  /// error that ends the run is raised by the call that caused the event. Used for `did_save`, `did_merge`,
  /// `objects_did_change`, `results:on_change` and key observations.
  func callLate(_ arguments: (ScriptDomain) throws -> [LuaValue]) {
    do {
      try call(arguments)
    } catch let error as GraphError where !error.code.endsRun {
      context.context?.keepLate(error)
      types.domain?.noteLate(error)
    } catch {
      types.domain?.noteEnd(error)
    }
  }

  /// The error that names the event and keeps code, entity and property of the script's error. Errors that end the run
  /// stay unchanged.
  private func failure(of error: any Error) -> any Error {
    guard let script = error as? LuaError else {
      guard let coded = error as? any CodedError, !coded.code.endsRun else { return error }
      return GraphError(coded.code, message: "\(event): \(coded)", underlying: error)
    }
    if script.endsRun { return error }
    let known = script.hostError as? GraphError
    if let known, known.code.endsRun { return known }
    let place = script.place.map { "\($0): " } ?? ""
    return GraphError(
      known?.code ?? .extensionFailure,
      message: "\(event): \(known.map { place + $0.message } ?? "\(script)")", entity: known?.entity,
      property: known?.property, objectID: known?.objectID, underlying: script)
  }
}

extension ScriptDomain {
  /// Keeps an observer's error for the end of the program, unless a script reads it before.
  fileprivate func noteLate(_ error: GraphError) {
    unseenFailure = UnseenFailure(
      error: ErrorBox(error, domain: self, calls: state.callsUnderWay()), cause: .observer)
  }

  /// Notes that an observer ended the run, by `os.exit` or a limit. The call that caused the event ends the run.
  fileprivate func noteEnd(_ error: any Error) {
    endOfRun = endOfRun ?? error
    types.hasAftermath = true
  }
}

extension HostTypes {
  /// Describes `watch:cancel()` and `watch.is_active`.
  func describeWatch() {
    watch.method("cancel", upTo: 0) { watch, _ in watch.cancel() }
    watch.property("is_active", get: { watch, call in call.return(watch.isActive) })
  }

  /// The events of `context:on`.
  private static let events = ["will_save", "did_save", "objects_did_change", "did_merge"]

  /// `context:on("did_save", function(changes) end)`. An unknown event is refused with a suggestion and the list of
  /// events.
  func describeObservers() {
    context.method("on", upTo: 2) { [unowned self] context, call in
      let event = try call.text(0)
      guard Self.events.contains(event) else {
        throw call.argumentError(
          0,
          problem: "there is no event '\(event.asName)'\(suggestion(for: event, among: Self.events)), there are "
            + Self.events.listed())
      }
      let watch = ScriptWatch(event, of: context, try call.function(1), types: self)
      watch.begin(observation(of: event, in: context, for: watch), in: context)
      try call.return(watch, as: self.watch)
    }
  }

  /// The underlying observation of the graph, which calls the watch. Only `will_save` may fail its operation.
  private func observation(of event: String, in context: ManagedObjectContext, for watch: ScriptWatch) -> AnyObject {
    func changes(_ box: ChangesBox) -> (ScriptDomain) -> [LuaValue] {
      { domain in [.object(LuaObject(box, as: domain.types.changes))] }
    }
    switch event {
    case "will_save":
      return context.observeSaves(willSave: { [unowned watch] in try watch.call(changes(ChangesBox(savesOf: $0))) })
    case "did_save":
      return context.observeSaves(didSave: { [unowned watch] in watch.callLate(changes(ChangesBox($0))) })
    case "did_merge":
      return context.observeMerges { [unowned watch] in watch.callLate(changes(ChangesBox(merged: $0))) }
    default:
      return context.observeChanges { [unowned watch] in watch.callLate(changes(ChangesBox($0))) }
    }
  }

  /// `object:observe("age", function(value, object, old) end)`.
  ///
  /// For a to-many relationship, `value` is the relationship itself and `old` a list of the former destinations.
  func observe(_ object: ManagedObject, call: inout LuaCall) throws {
    guard let context = object.managedObjectContext else { throw object.detachedError }
    let key = try call.name(0)
    let watch = ScriptWatch("observe(\"\(key)\")", of: context, try call.function(1), types: self)
    let property = try openDomain().property(.text(key), of: object.entity)
    let observation = try object.observe(property.name) { [unowned watch, unowned self] change in
      watch.callLate { domain in
        [try value(change.new, of: change, domain), try domain.handle(change.object), try old(change, domain)]
      }
    }
    watch.begin(observation, in: context)
    try call.return(watch, as: self.watch)
  }

  /// The new value of the observed property as scripts see it: an object for a to-one relationship.
  private func value(_ value: Value, of change: ObservedChange, _ domain: ScriptDomain) throws -> LuaValue {
    guard let property = change.object.entity.property(change.key), let relationship = property.relationship else {
      return try domain.luaValue(from: value)
    }
    if relationship.isToMany { return .object(LuaObject(ToManyBox(change.object, slot: property.slot), as: members)) }
    guard let id = value.objectID else { return .nil }
    return try destination(id, of: change.object, domain)
  }

  /// The former value; for a to-many relationship a list.
  private func old(_ change: ObservedChange, _ domain: ScriptDomain) throws -> LuaValue {
    guard change.object.entity.property(change.key)?.relationship?.isToMany == true else {
      return try value(change.old, of: change, domain)
    }
    let ids = (change.old.list ?? []).compactMap(\.objectID)
    return .table(try domain.state.list(ids.map { try destination($0, of: change.object, domain) }))
  }

  /// The object of an ID, or the ID if the context has no such object any more.
  private func destination(_ id: ManagedObjectID, of object: ManagedObject, _ domain: ScriptDomain) throws -> LuaValue {
    guard let context = object.managedObjectContext, let object = context.registeredObject(for: id) else {
      return try domain.luaValue(from: .objectID(id))
    }
    return try domain.handle(object)
  }

  /// Runs after each call that changes something. Ends an undo step if undo is on, and raises the error of an observer
  /// that ended the run.
  ///
  /// The check is inlined; the rare work is in `finishCall(in:)`.
  @inline(__always)
  func finish(in context: ManagedObjectContext?) throws {
    if hasAftermath { try finishCall(in: context) }
  }

  /// Ends the undo step and raises the pending error of an observer, once.
  @inline(never)
  private func finishCall(in context: ManagedObjectContext?) throws {
    if let undo = context?.undoManager, undo.groupsByCall { try undo.endStep() }
    guard let domain, let end = domain.endOfRun else { return }
    domain.endOfRun = nil
    throw end
  }
}
