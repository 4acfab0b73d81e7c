import MoonbaseGraph
import MoonbaseLua
public import MoonbaseModel
import MoonbasePlatform

/// Runs automation scripts in a domain and returns the exit status and message of the program.
///
/// ```swift
/// let outcome = ScriptRunner(domain).run([try ScriptSource(contentsOf: scriptURL)], arguments: ["--all"])
/// if let message = outcome.message { print(message) }
/// exit(outcome.status)
/// ```
///
/// A value over a domain, which it neither closes nor owns. The runner never throws: every error becomes a status and a
/// message for standard error, with advice.
public struct ScriptRunner {
  /// The outcome of a script.
  public struct Outcome: Sendable, Equatable {
    /// The exit status: 0 for success, 1 for an error of the script or its data, 3 for an exceeded limit, 130 for an
    /// interruption, or the argument of `os.exit`.
    public var status: Int32
    /// The message for standard error; nil if there is none.
    public var message: String?
    /// The kind of error that ended the script; nil where it ended well, or by an error of Lua's own.
    public var code: ErrorCode?
  }

  /// The domain of the scripts.
  private let domain: ScriptDomain
  /// Whether a traceback is shown even if it contains only the place of the error.
  var tellsOnlyFrame = true

  /// A runner for a domain.
  public init(_ domain: ScriptDomain) { self.domain = domain }

  /// Runs sources one after another in a shared environment, the last source with the arguments.
  ///
  /// `arg[0]` is the name of the last source and `arg[-1]` that of the program. `prepare` is called after all sources
  /// were compiled, before the first runs, so that a broken script opens nothing. The domain's limits apply to both.
  /// Unsaved changes, and a failed save that no script read, are reported.
  ///
  /// At the end, jobs are awaited, pending saves finished and files flushed, still within the limits.
  public func run(
    _ sources: [ScriptSource], arguments: [String] = [], program: String = "moonbase", prepare: () throws -> Void = {}
  ) -> Outcome {
    do {
      var results: [LuaValue] = []
      try domain.state.run {
        let environment = try environment(sources.last?.name ?? program, program: program, arguments: arguments)
        let chunks = try sources.map { try domain.state.load(Self.source(of: $0), in: environment) }
        try prepare()
        for chunk in chunks { results = try chunk.call(arguments.map(LuaValue.text)) }
        try domain.finishJobs()
        domain.contexts.waitForPendingSaves()
        try domain.state.flushFiles()
      }
      let outcome = ending()
      guard outcome.message == nil, let form = try Self.form(of: results) else { return outcome }
      return Outcome(
        status: outcome.status,
        message: "\(sources.last?.name ?? program) returned \(form), which moonbase run does not use")
    } catch {
      return delivered(outcome(of: error))
    }
  }

  /// Flushes the output of a script that was ended. A slow reader has as much time as at the end of a script. A run
  /// that was ended by a limit or an interruption gets no further time, and its pending saves are abandoned.
  func delivered(_ outcome: Outcome, cancelsJobs: Bool = true) -> Outcome {
    if cancelsJobs { domain.cancelJobs() }
    guard ![LuaInterpreter.Status.limit, LuaInterpreter.Status.interrupted].contains(outcome.status) else {
      domain.contexts.breakOffSaves()
      return outcome
    }
    do {
      try domain.state.run {
        domain.contexts.waitForPendingSaves()
        try domain.state.flushFiles()
      }
      return outcome
    } catch {
      let messages = [outcome.message, self.outcome(of: error).message].compactMap(\.self)
      return Outcome(status: Self.status(of: error), message: messages.joined(separator: "\n"))
    }
  }

  /// The kind of a file that was mistaken for a script. Nil for results of other forms, which are ignored.
  private static func form(of results: [LuaValue]) throws -> String? {
    guard let table = results.first?.tableValue else { return nil }
    if try ReturnedTable.isModel(table) { return "a model (name it with --model)" }
    return try ReturnedTable.isExtension(table) ? "an extension (name it with --extension)" : nil
  }

  /// The source in the form that Lua loads, as text or as a program.
  static func source(of script: ScriptSource) -> LuaSource {
    script.program.map { LuaSource(bytes: $0, name: script.name) } ?? LuaSource(script.text, name: script.name)
  }

  /// The exit status for a busy store; trying again may help. The number of `EX_TEMPFAIL` in sysexits.
  private static let busy: Int32 = 75

  /// The exit status for an error: 75 for a busy store, 3 for a limit, 130 for an interruption, else 1. An underlying
  /// error decides where the error itself has status 1.
  public static func status(of error: any Error) -> Int32 {
    typealias Status = LuaInterpreter.Status
    switch error {
    case let error as any CodedError:
      let status = status(of: error.code)
      return status == Status.failure ? (error as? GraphError)?.underlying.map(Self.status) ?? status : status
    case let error as LuaError:
      let status = LuaInterpreter.status(of: error)
      return status == Status.failure ? error.underlying.map(Self.status) ?? status : status
    default: return Status.failure
    }
  }

  /// The status of a code.
  private static func status(of code: ErrorCode) -> Int32 {
    switch code {
    case .storeBusy: busy
    case .limitExceeded, .sourceTooLarge: LuaInterpreter.Status.limit
    case .interrupted: LuaInterpreter.Status.interrupted
    default: LuaInterpreter.Status.failure
    }
  }

  /// The environment of the scripts, with the table `arg`.
  private func environment(_ name: String, program: String, arguments: [String]) throws -> LuaEnvironment {
    let table = try domain.state.argumentTable(script: name, program: program, arguments: arguments)
    return try domain.state.environment(["arg": .table(table)])
  }

  /// The outcome of a completed script, determined by unsaved changes and unread failures. The status is 0 for unsaved
  /// changes, which are only reported.
  private func ending() -> Outcome {
    if let failure = domain.unseenFailure {
      return Outcome(
        status: Self.status(of: failure.error.error), message: Self.text(of: failure),
        code: Self.code(of: failure.error.error))
    }
    let (changes, changesOfChildren) = domain.contexts.unsaved
    var messages: [String] = []
    // The script knows about objects left unsaved by a failed save whose error it read.
    if changes > 0, changes != domain.unsavedOfSeenFailure {
      let objects = changes == 1 ? "1 changed object was" : "\(changes) changed objects were"
      messages.append("\(objects) not saved: call context:save() to keep changes")
    }
    if changesOfChildren > 0 {
      let objects =
        changesOfChildren == 1
        ? "1 changed object of a child context was" : "\(changesOfChildren) changed objects of child contexts were"
      messages.append("\(objects) not saved: save the child, and then its parent, to keep changes")
    }
    return Outcome(status: 0, message: messages.isEmpty ? nil : messages.joined(separator: "\n"))
  }

  /// A failure that no script has read, with its place. For example `shop.lua:12: a save failed and nothing was saved:
  /// Person.age: must be at least 0`.
  static func text(of failure: UnseenFailure) -> String {
    let place = failure.error.place.map { failure.error.text.hasPrefix("\($0): ") ? "" : "\($0): " } ?? ""
    let lines = ["\(place)\(failure.cause.rawValue): \(failure.error.text)"] + traceback(failure.error.hookTraceback)
    return lines.joined(separator: "\n")
  }

  /// The outcome of an error: status, message with advice and tracebacks, code. `os.exit` gives its own status.
  func outcome(of error: any Error) -> Outcome {
    let script = error as? LuaError ?? (error as? ScriptError)?.underlying as? LuaError
    if let status = script?.kind.exitStatus {
      domain.state.run { domain.contexts.waitForPendingSaves() }
      return Outcome(status: Int32(truncatingIfNeeded: status), message: ending().message)
    }
    // An error that a script raised again with `error` or `assert` is the error that it received.
    let raised = script.flatMap { ($0.value(in: domain.state)?.objectValue(as: ErrorBox.self))?.error }
    let status = Self.status(of: raised ?? error)
    let message =
      script.map { text(of: $0, hook: error is ScriptError ? $0 : Self.hook(of: raised ?? $0.underlying)) }
      ?? "\(error)"
    return Outcome(
      status: status, message: behindSave(status) + message,
      code: Self.code(of: raised ?? script?.underlying ?? error))
  }

  /// The code of a coded error; nil for errors of Lua.
  private static func code(of error: any Error) -> ErrorCode? { (error as? any CodedError)?.code }

  /// The words before a limit or an interruption in a hook behind a save.
  private func behindSave(_ status: Int32) -> String {
    defer { domain.endedBehindSave = false }
    let endsRun = [LuaInterpreter.Status.limit, LuaInterpreter.Status.interrupted].contains(status)
    return domain.endedBehindSave && endsRun ? "\(UnseenFailure.Cause.didSave.rawValue): " : ""
  }

  /// The extension's error underlying an error of the graph.
  private static func hook(of error: (any Error)?) -> LuaError? {
    guard let error = error as? GraphError else { return nil }
    return error.underlying as? LuaError ?? error.details.lazy.compactMap { $0.underlying as? LuaError }.first
  }

  /// `hook` is the error raised by an extension. The lines are the message, details, advice, the line of code, and the
  /// tracebacks of extension and script.
  private func text(of error: LuaError, hook: LuaError?) -> String {
    // Messages of a plain program are not changed.
    var lines = [Self.beginning(of: domain.state.preset == .trusted ? error.plainDescription : error.description)]
    if let details = (error.underlying as? any CustomStringConvertible)?.description, !lines[0].contains(details) {
      lines.append(details)
    }
    if let advice = hook?.adviceForExtension ?? advice(for: error) ?? hook.flatMap(advice),
      !lines.contains(where: { $0.contains(advice) })
    {
      lines.append(advice)
    }
    if error.kind != .interrupted, let frame = domain.state.codeFrame(of: error) { lines.append(frame) }
    if let hook = (error.underlying as? GraphError)?.underlying as? LuaError {
      lines += Self.traceback(hook.traceback.map(\.description), heading: "stack traceback of the extension:")
    }
    let isTold = tellsOnlyFrame || error.traceback.count { $0.line != nil } > 1
    let frames = isTold ? error.traceback : []
    if error.kind != .syntax { lines += Self.traceback(frames.map(\.description)) }
    return lines.joined(separator: "\n")
  }

  /// The longest message shown whole, because this runs after the run, without limits. In bytes.
  private static let greatestMessage = 1 << 20

  /// The message, shortened if it is very long.
  private static func beginning(of message: String) -> String {
    let count = message.utf8.count
    guard count > greatestMessage else { return message }
    return String(decoding: message.utf8.prefix(greatestMessage), as: UTF8.self) + "… (\(count) bytes in all)"
  }

  /// Advice about a nil value, a missing context, and a list in place of an iterator. Nil for other messages.
  private func advice(for error: LuaError) -> String? {
    // Lua's own messages are short, so a prefix suffices.
    let message = String(decoding: error.message.utf8.prefix(1024), as: UTF8.self)
    if message == "(error object is a table value)" {
      return "error takes a text, or a table of message and code: error({ message = \"...\", code = 7 })"
    }
    if message.hasPrefix("attempt to call a table value (for iterator") {
      return "a list is walked over with: for index, element in ipairs(list) do"
    }
    if let advice = adviceForCalledValue(message) ?? adviceForLibraries(message) ?? domain.advice(forNil: message) {
      return advice
    }
    guard domain.foundNoContext, error.kind == .runtime, message.contains("a nil value") else { return nil }
    return
      "moonbase.context and moonbase.model are nil here: name a store with --store (or a model with --model, for a store"
      + " in memory), or take the context of moonbase.open{ store = ..., model = ... }"
  }

  /// Advice for `context:has_changes()`, and for `object:id()` if a property with this name hides the method.
  private func adviceForCalledValue(_ message: String) -> String? {
    guard let match = message.firstMatch(of: /attempt to call a (.+) value \(method '(\w+)'\)/), match.1 != "nil" else {
      return nil
    }
    let name = match.2
    let reading = "\(name) is a value here and no function: read it as .\(name)"
    let isMethod = domain.types.objectMethods.contains { $0.name == name }
    return isMethod
      ? "\(reading); the method of objects is moonbase.object.\(name)(object) where a property hides it" : reading
  }

  /// Advice for `os.execute` and other functions of Lua that a preset omits. Names the preset that has the function.
  private func adviceForLibraries(_ message: String) -> String? {
    guard domain.state.preset != .trusted,
      let match = message.firstMatch(of: /a nil value \((?:field|global) '(\w+)'\)/),
      let name = Self.leftOut[String(match.1)]
    else { return nil }
    let isInStandard = domain.state.preset == .pure && (name == "io" || name == "os")
    return "preset \(domain.state.preset) has no \(name): "
      + (isInStandard
        ? "--sandbox standard has it" : "--sandbox trusted has all of Lua, for programs of your own")
  }

  /// Names that a preset may lack, with their full spelling.
  private static let leftOut = [
    "execute": "os.execute", "popen": "io.popen", "tmpname": "os.tmpname", "setlocale": "os.setlocale",
    "dofile": "dofile", "loadfile": "loadfile", "loadlib": "package.loadlib", "sethook": "debug.sethook",
    "getlocal": "debug.getlocal", "io": "io", "os": "os", "debug": "debug",
    "package": "package",
  ]

  /// A heading and at most 20 frames; empty without frames.
  private static func traceback(_ frames: [String], heading: String = "stack traceback:") -> [String] {
    frames.isEmpty ? [] : [heading] + frames.prefix(20).map { "  \($0)" }
  }
}
