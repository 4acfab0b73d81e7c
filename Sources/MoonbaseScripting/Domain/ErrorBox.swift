import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// An error of the graph as scripts see it: `err.code`, `err.key`, `err.details`, `tostring(err)`.
///
/// Every error of the graph, of a model and of this layer becomes such an object when it enters Lua, both when it is
/// raised and when a call returns `nil, err`. `tostring` and every field mark the error as read (`seen()`), because an
/// unread failure is reported at the end of the program.
final class ErrorBox {
  /// The error as Swift code threw it.
  let error: any CodedError
  /// Weak, because a script may keep an error longer than its domain.
  private weak var domain: ScriptDomain?
  /// The active calls when a script received the error, innermost first.
  private let calls: [LuaError.Frame]

  /// Wraps an error.
  ///
  /// - Parameter calls: the script's calls at this moment (`callsUnderWay`), from which `place` and `traceback` are
  ///   made.
  init(_ error: any CodedError, domain: ScriptDomain, calls: [LuaError.Frame] = []) {
    self.error = error
    self.domain = domain
    self.calls = calls
  }

  /// Marks the error as read by a script, so that it is not reported at the end of the program.
  func seen() {
    guard let domain, let failure = domain.unseenFailure, failure.error === self else { return }
    domain.unsavedOfSeenFailure = failure.unsavedCount
    domain.unseenFailure = nil
  }

  /// The calls of the script that raised the underlying error; without such a script, the active calls when the error
  /// was raised or returned. Innermost first.
  var traceback: [String] { (hookCalls ?? calls).map(\.description) }

  /// The calls of the script that raised the underlying error.
  var hookTraceback: [String] { (hookCalls ?? []).map(\.description) }

  /// The traceback of the first underlying Lua error that has one, of the error itself or of its details.
  private var hookCalls: [LuaError.Frame]? {
    let errors = [graphError].compactMap(\.self) + (graphError?.details ?? [])
    let causes = errors.map(\.underlying) + [(error as? ScriptError)?.underlying]
    return causes.compactMap { $0 as? LuaError }.first { !$0.traceback.isEmpty }?.traceback
  }

  /// The line of the script that received the error, as `shop.lua:12`.
  var place: String? {
    calls.first { $0.line != nil }.flatMap { call in call.line.map { "\(call.source):\($0)" } }
  }

  /// The error as an error of the graph, with `details`, object ID and value; nil for errors of other layers.
  var graphError: GraphError? { error as? GraphError }

  /// The estimated bytes of the error. Errors hold values, detail errors and underlying errors.
  ///
  /// Lua's memory limit counts this number, therefore shared causes are counted once. Linear in the number of nested
  /// errors.
  var weight: Int {
    var total = 256 + 160 * calls.count
    var pending: [any Error] = [error]
    // Several errors may refer to the same underlying error.
    var seen: Set<ObjectIdentifier> = []
    var last: GraphError?
    while let error = pending.popLast() {
      if let error = error as? GraphError {
        total += error.ownWeight
        // A value that breaks several rules is part of all their failures, which follow each other.
        if last?.objectID != error.objectID || last?.property != error.property { total += error.value?.weight ?? 0 }
        last = error
        pending += error.details
        if let cause = error.underlying { pending.append(cause) }
      } else if let error = error as? LuaError {
        guard seen.insert(error.identity).inserted else { continue }
        total += 512 + 160 * error.traceback.count + error.message.utf8.count * 2
        if let cause = error.underlying { pending.append(cause) }
        // An error raised again by a hook is no longer a Lua handle, and is retained all the same.
        if let raised = raisedAgain(error) { pending.append(raised.error) }
      } else if let error = error as? ModelError {
        total +=
          512 + 2 * error.message.utf8.count + (error.entity?.utf8.count ?? 0) + (error.property?.utf8.count ?? 0)
        pending += error.others
      } else {
        let error = error as? ScriptError
        total += 512 + (error?.message.utf8.count ?? 0)
        pending += error?.others ?? []
      }
    }
    return total
  }

  /// The error that a Lua error value wraps, if a script raised such a value again.
  private func raisedAgain(_ error: LuaError) -> ErrorBox? {
    domain.flatMap { error.value(in: $0.state) }?.objectValue(as: ErrorBox.self)
  }

  /// `err.code`: the stable number of `ErrorCode`.
  var code: Int { error.code.rawValue }
  /// `err.key`: the name of the property; nil for errors about no property.
  var key: String? { error.property }
  /// `err.entity`: the name of the entity.
  var entity: String? { error.entity }

  /// The reason without the property's name if the error has one, else the whole text.
  ///
  /// `err.message`: for a failed rule, for example, `must be at least 0` without `Person.age`.
  var message: String {
    if let error = error as? ScriptError, error.others.isEmpty { return error.message }
    return graphError?.reason ?? text
  }

  /// The whole text, as `tostring(err)` gives it.
  var text: String { String(describing: error) }

  /// `err.details`: the single errors of a failure with several causes, else a list of this error alone. Empty after
  /// the end of the domain.
  var details: [ErrorBox] {
    guard let domain else { return [] }
    let details: [any CodedError] =
      graphError?.details ?? (error as? ScriptError)?.all ?? (error as? ModelError)?.all ?? []
    guard details.count != 1 || graphError != nil else { return [self] }
    return details.isEmpty ? [self] : details.map { ErrorBox($0, domain: domain) }
  }
}

/// An error that a script received and has not read.
///
/// The domain keeps at most one (`unseenFailure`). Reading the error clears the failure; a failure that is left at the
/// end of the program is printed with its cause.
struct UnseenFailure {
  /// The failed operation.
  ///
  /// The raw value is the start of the message at the end of the program.
  enum Cause: String {
    case save = "a save failed and nothing was saved"
    case transaction = "a transaction failed and was rolled back"
    case didSave = "the data is saved, but a did_save hook failed"
    case job = "a job on another thread failed"
    case observer = "an observer failed; what it observed is done"
  }

  /// The error as the script received it. Identity decides whether a script has read this failure.
  let error: ErrorBox
  let cause: Cause
  /// The number of objects with unsaved changes, for a failed save.
  var unsavedCount: Int?
}

extension HostTypes {
  /// The fields of an error, in the order of `pairs`.
  private enum ErrorField: String, CaseIterable {
    case code, message, entity, key, id, value, details, traceback
  }

  /// Describes the type `error`: fields, `pairs`, `tostring` and `..`.
  func describeError() {
    let fields = ErrorField.allCases
    error.properties(
      fields.map(\.rawValue), get: { [unowned self] box, slot, call in try get(fields[slot], of: box, call: &call) })
    error.operator(.pairs) { [unowned self] call in
      let box = try call.object(0, as: ErrorBox.self)
      var rest = fields[...]
      try call.return(
        try openDomain().state.function { [unowned self] call in
          guard let field = rest.popFirst() else { return call.returnNil() }
          call.return(field.rawValue)
          try get(field, of: box, call: &call)
        })
    }
    error.operator(.text) { call in
      let box = try call.object(0, as: ErrorBox.self)
      box.seen()
      call.return(box.text)
    }
    error.operator(.concatenate) { call in call.return(try Self.text(of: 0, in: call) + Self.text(of: 1, in: call)) }
  }

  /// Returns one field to Lua and marks the error as read.
  private func get(_ field: ErrorField, of box: ErrorBox, call: inout LuaCall) throws {
    box.seen()
    switch field {
    case .code: call.return(box.code)
    case .message: call.return(box.message)
    case .entity: try call.return(box.entity.map(LuaValue.text) ?? .nil)
    case .key: try call.return(box.key.map(LuaValue.text) ?? .nil)
    case .id: try openDomain().answer(&call, with: box.graphError?.objectID.map(Value.objectID) ?? .null)
    case .value: try openDomain().answer(&call, with: box.graphError?.value ?? .null)
    case .details:
      let domain = try openDomain()
      let details = box.details.map { LuaValue.object(LuaObject($0, as: domain.types.error)) }
      try call.return(.table(try domain.state.list(details)))
    case .traceback: call.return(box.traceback.joined(separator: "\n"))
    }
  }

  /// An operand of `..`: an error's text, or a value that Lua can concatenate.
  private static func text(of index: Int, in call: borrowing LuaCall) throws -> String {
    guard let box = call.objectIfPresent(index, as: ErrorBox.self) else { return try call.text(index) }
    box.seen()
    return box.text
  }
}

/// Conversions of errors at the boundary to Lua.
extension ScriptDomain {
  /// The Lua error value for an error of the graph; nil for other errors.
  func luaError(_ error: any Error) -> LuaValue? {
    box(of: error).map { .object(LuaObject($0, as: types.error)) }
  }

  /// An error of the graph, or an error about an argument or operand; nil for other errors.
  func box(of error: any Error) -> ErrorBox? {
    let coded = error as? any CodedError ?? (error as? LuaError).map { ScriptError(mistake: $0) }
    return coded.map { ErrorBox($0, domain: self, calls: state.callsUnderWay()) }
  }

  /// Errors of the graph as a list of error values. The errors carry no calls, because they are listed and not raised
  /// (`context.validation_warnings`).
  func list(of errors: [GraphError]) throws -> LuaTable {
    try state.list(errors.map { .object(LuaObject(ErrorBox($0, domain: self), as: types.error)) })
  }

  /// Runs an operation that data or other processes may make fail. Returns `true` to the script, or `nil` and the
  /// error, which is also this function's result.
  ///
  /// Mistakes of the program are rethrown and raised in the script.
  ///
  /// `call` receives exactly one or two results. Errors that end the run (limits, `os.exit`) are rethrown too.
  @discardableResult
  func attempt(_ call: inout LuaCall, _ body: () throws -> Void) throws -> ErrorBox? {
    do {
      try body()
      call.return(true)
      return nil
    } catch let error as any CodedError where !error.isMistake && !error.code.endsRun {
      let box = ErrorBox(error, domain: self, calls: state.callsUnderWay())
      call.returnNil()
      try call.return(box, as: types.error)
      return box
    }
  }
}
