import MoonbaseGraph
package import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Runs the inputs of a person in a shared environment: `read` compiles an input, and `run` runs it. The domain's
/// limits apply to each input.
///
/// Owned by the loop of the command's prompt. `read` only parses, so that an incomplete line costs little; `run`
/// returns every outcome as a value and never throws. Variables stay in the environment between inputs, and unsaved
/// changes in the contexts.
package final class ScriptPrompt {
  /// The result of parsing an input.
  package enum Reading {
    /// A chunk that can run.
    case chunk(LuaFunction)
    /// The input continues in the next line.
    case incomplete
    /// The input is not valid Lua, for this reason.
    case refused(String)
  }

  /// The outcome of an input.
  package enum Ending {
    /// Completed, with a notice about a failure that no script has read.
    case done(notice: String?)
    /// An error, an exceeded limit or an interruption. The status is that of `ScriptRunner`.
    case failed(status: Int32, message: String)
    /// Ended by `os.exit`.
    case exit(status: Int32)
  }

  /// The domain in which inputs run.
  package let domain: ScriptDomain
  /// The global variables of the inputs.
  let environment: LuaEnvironment
  /// Makes messages and statuses as for scripts.
  private var runner: ScriptRunner
  /// The name of the inputs in messages.
  private let name: String
  /// The input last read.
  private var source = LuaSource("", name: "")
  /// The memory limit of all inputs together.
  private let memory: UInt64?
  private let hardMemory: UInt64?
  /// The limit as the number of bytes in use.
  private let ceiling: Int

  /// Makes a prompt. `program` is the name in `arg[-1]`.
  ///
  /// The memory in use now does not count against the limit of the inputs.
  package init(_ domain: ScriptDomain, name: String, program: String = "moonbase") throws {
    (self.domain, self.name, runner) = (domain, name, ScriptRunner(domain))
    runner.tellsOnlyFrame = false
    (memory, hardMemory) = (domain.state.limits.memory, domain.state.limits.hardMemory)
    // The memory of the libraries is not counted.
    ceiling = domain.state.memoryUsed + (domain.state.remainingMemory.map { min($0, .max / 2) } ?? 0)
    let arguments = try domain.state.argumentTable(script: nil, program: program, arguments: [])
    environment = try domain.state.environment(["arg": .table(arguments)])
  }

  /// Makes the context from the host also available as `context`. Call this after `ScriptDomain.setContext(_:)`.
  package func nameContext() throws {
    try environment.table.set("context", to: domain.moonbase.get("context"))
  }

  // MARK: Reading

  /// Reads an input: an expression whose values are shown, or statements.
  ///
  /// `2 + 3` and `= 2 + 3` are expressions. `firstLine` is the number of the input's first line, for messages.
  package func read(_ bytes: [UInt8], firstLine: Int) -> Reading {
    makeRoom()
    source = LuaSource(part: bytes, name: name, firstLine: firstLine)
    let isAsked = Self.isAsked(bytes)
    let expression = isAsked ? Self.withoutSign(bytes) : bytes
    do {
      return .chunk(try load(expression, firstLine, isExpression: true))
    } catch let ofExpression {
      guard ofExpression.kind == .syntax, !isAsked else {
        return Self.endsTooEarly(ofExpression, bytes) ? .incomplete : refusal(ofExpression)
      }
      do {
        return .chunk(try load(KeptLocals.source(of: bytes), firstLine, isExpression: false, shown: bytes))
      } catch {
        return reading(ofExpression, error, of: bytes)
      }
    }
  }

  /// Loads a file to run like an input. Throws `LuaError` of kind `syntax` for a text that is not Lua.
  package func load(_ script: ScriptSource) throws -> LuaFunction {
    try domain.state.load(ScriptRunner.source(of: script), in: environment)
  }

  /// Compiles some bytes. `shown` is the text for messages, where the compiled text differs.
  private func load(
    _ bytes: [UInt8], _ line: Int, isExpression: Bool, shown: [UInt8]? = nil
  ) throws(LuaError) -> LuaFunction {
    try domain.state.load(
      LuaSource(part: bytes, name: name, firstLine: line, isExpression: isExpression, shown: shown), in: environment)
  }

  /// `= 1 + 1`, the form of older prompts. Whether an input begins with `=`.
  private static func isAsked(_ bytes: [UInt8]) -> Bool {
    bytes.drop { $0 == UInt8(ascii: " ") }.first == UInt8(ascii: "=")
  }

  /// The input with a blank in place of its first `=`, so that columns in messages stay right.
  private static func withoutSign(_ bytes: [UInt8]) -> [UInt8] {
    guard let place = bytes.firstIndex(of: UInt8(ascii: "=")) else { return bytes }
    return bytes[..<place] + [UInt8(ascii: " ")] + bytes[(place + 1)...]
  }

  /// An input is incomplete if it ends too early as an expression or as statements. For a mistake within an expression,
  /// the statement parser only reports that no statement begins so.
  private func reading(_ ofExpression: LuaError, _ ofStatements: LuaError, of bytes: [UInt8]) -> Reading {
    guard ofStatements.kind == .syntax else { return refusal(ofStatements) }
    if Self.endsTooEarly(ofExpression, bytes) || Self.endsTooEarly(ofStatements, bytes) { return .incomplete }
    return refusal(Self.isAboutBeginning(ofStatements, of: bytes) ? ofExpression : ofStatements)
  }

  /// Whether the statement parser failed at the first token.
  private static func isAboutBeginning(_ error: LuaError, of bytes: [UInt8]) -> Bool {
    var lexer = LuaLexer(bytes)
    _ = lexer.next()
    let token = String(decoding: bytes[lexer.start..<min(lexer.at, bytes.count)], as: UTF8.self)
    return error.message == "unexpected symbol near '\(token)'"
  }

  /// The reading of an input with a mistake.
  private func refusal(_ error: LuaError) -> Reading { .refused(runner.outcome(of: error).message ?? error.message) }

  /// A quoted string ends with its line, unless a backslash continues it. Whether the parser failed at the end of the
  /// input, so that a further line may complete it.
  private static func endsTooEarly(_ error: LuaError, _ bytes: [UInt8]) -> Bool {
    guard error.message.hasSuffix("<eof>") else { return false }
    return !error.message.hasPrefix("unfinished string") || bytes.last == UInt8(ascii: "\\")
      || bytes.suffix(2) == Array("\\z".utf8)[...]
  }

  // MARK: Running

  /// Runs an input. `take` receives its values within the same run, so that limits and interruptions also apply to
  /// showing them.
  ///
  /// The first value becomes the variable `_`. A failure while values are shown gets the line of the input.
  package func run(_ chunk: LuaFunction, taking take: ([LuaValue]) throws -> Void) -> Ending {
    var isRun = false
    let ending = ending {
      let values = try chunk.call([])
      domain.contexts.waitForPendingSaves()
      if let first = values.first, first.isPresent { try environment.table.set("_", to: first) }
      isRun = true
      try take(values)
    }
    // A request may fail only when its rows are shown.
    guard isRun, case .failed(let status, let message) = ending, !message.hasPrefix("\(name):") else { return ending }
    let line = source.firstLine
    let frame = source.frame(line: line, message: message, context: 0).map { "\n\($0)" } ?? ""
    return .failed(status: status, message: "\(name):\(line): \(message)\(frame)")
  }

  /// Runs a command of the person to the host, under the same limits.
  ///
  /// Also the common part of `run`: contexts adopt reloaded extensions first, pending saves and files are finished at
  /// the end.
  package func ending(of body: () throws -> Void) -> Ending {
    makeRoom()
    domain.endedBehindSave = false
    do {
      try domain.state.run {
        // Extensions reloaded since the last input apply from this input.
        for context in domain.contexts.all { context.followExtensions() }
        try body()
        domain.contexts.waitForPendingSaves()
        try domain.state.flushFiles()
      }
      return .done(notice: popUnreadFailure())
    } catch {
      if let status = (error as? LuaError)?.kind.exitStatus { return .exit(status: Int32(truncatingIfNeeded: status)) }
      let outcome = runner.delivered(runner.outcome(of: error), cancelsJobs: false)
      // The message already names the error.
      domain.unseenFailure = nil
      return .failed(status: outcome.status, message: (outcome.message ?? "\(error)") + Self.advice(for: error))
    }
  }

  /// The advice about memory that variables hold; empty for other errors.
  private static func advice(for error: any Error) -> String {
    guard (error as? LuaError)?.kind == .limit(.memory) else { return "" }
    return "\nvalues that stay in variables count for all inputs: set those to nil that are not needed, as in t = nil"
  }

  /// The divisor of the memory limit that gives the room reserved for an input, whatever earlier inputs keep in
  /// variables. Releasing variables also takes memory.
  private static let part: UInt64 = 8

  /// Raises the memory limit for the next input if earlier inputs left little room, up to twice the limit. A limit that
  /// was raised for an earlier input is lowered first. Without a limit, or while a run is active, nothing changes.
  private func makeRoom() {
    guard let memory, memory < .max / 16, !domain.state.isRunning else { return }
    if domain.state.limits.memory != memory {
      (domain.state.limits.memory, domain.state.limits.hardMemory) = (memory, hardMemory)
    }
    let wanted = memory / Self.part
    guard missingRoom(of: wanted) > 0 else { return }
    domain.state.collectGarbage()
    let missing = missingRoom(of: wanted)
    guard missing > 0 else { return }
    domain.state.limits.memory = min(memory + missing, 2 * memory + wanted)
    domain.state.limits.hardMemory = hardMemory ?? 4 * memory
  }

  /// The bytes that the wanted room lacks; 0 if there is enough.
  private func missingRoom(of wanted: UInt64) -> UInt64 {
    UInt64(max(0, Int(wanted) - (ceiling - domain.state.memoryUsed)))
  }

  /// The text of the unread failure, which is then forgotten.
  private func popUnreadFailure() -> String? {
    defer { domain.unseenFailure = nil }
    return domain.unseenFailure.map(ScriptRunner.text(of:))
  }

  // MARK: Changes

  /// The number of objects with unsaved changes in all contexts.
  package var unsavedCount: Int { domain.contexts.unsaved.ofRoots + domain.contexts.unsaved.ofChildren }

  /// The number of objects with unsaved changes in child contexts, whose changes reach the parent only when the child
  /// saves.
  package var unsavedOfChildren: Int { domain.contexts.unsaved.ofChildren }

  /// Whether any context has unsaved changes.
  package var hasUnsavedChanges: Bool { domain.contexts.all.contains(where: \.hasChanges) }

  /// Saves all contexts over stores. Returns the number of saved objects and the warnings of rules. Children are not
  /// saved, because they save into their parents. Throws the error of the first context that cannot save; contexts
  /// before it are saved.
  package func save() throws -> (count: Int, warnings: [String]) {
    let before = domain.contexts.unsaved.ofRoots
    var warnings: [String] = []
    for context in domain.contexts.all where context.parent == nil && context.hasChanges {
      try domain.notingEnd(behindSaveOf: context) { try context.save() }
      warnings += context.validationWarnings.map { "\($0)" }
      // An error of a hook after the save becomes the notice of this run.
      _ = domain.didSaveError(of: context)
    }
    return (before - domain.contexts.unsaved.ofRoots, warnings)
  }

  /// Discards the unsaved changes of all contexts.
  package func rollback() throws { for context in domain.contexts.all { try context.rollback() } }

  /// Whether a variable has a value.
  package func hasValue(_ name: String) -> Bool { (try? environment.table.get(name))?.isPresent == true }

  /// Ends the jobs that inputs began. Call this before the domain is closed.
  package func finish() { domain.cancelJobs() }
}
