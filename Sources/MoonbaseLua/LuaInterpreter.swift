import MoonbaseLuaShim
import MoonbasePlatform

/// Runs Lua files as the stand-alone interpreter does: `arg`, `...`, exit statuses, messages and tracebacks on the
/// error stream, the first SIGINT for the script and the second for the process.
///
/// ```swift
/// let state = try LuaState(preset: .trusted, limits: .none)
/// let interpreter = try LuaInterpreter(state, program: "lua")
/// exit(interpreter.run(file: "program.lua", arguments: ["a", "b"]))
/// ```
///
/// Used by the programs `lua` and `moonbase`. An interpreter does not exit; it returns the status.
public struct LuaInterpreter {
  /// The exit statuses of the interpreter.
  public enum Status {
    /// Success.
    public static let success: Int32 = 0
    /// The script failed.
    public static let failure: Int32 = 1
    /// A limit was exceeded.
    public static let limit: Int32 = 3
    /// SIGINT.
    public static let interrupted: Int32 = 130
  }

  /// The state that runs the files.
  public let state: LuaState
  /// The prefix of messages, as "lua" in "lua: file.lua:1: …".
  public let program: String
  /// Whether SIGINT interrupts the script.
  public let handlesInterrupts: Bool
  /// The globals of all sources.
  private let environment: LuaEnvironment

  /// Creates an interpreter. All sources that it runs share an environment. `globals` are added to those of the preset.
  public init(
    _ state: LuaState, program: String = "lua", globals: [String: LuaValue] = [:], handlesInterrupts: Bool = true
  ) throws(LuaError) {
    self.state = state
    self.program = program
    self.handlesInterrupts = handlesInterrupts
    environment = try state.environment(globals)
  }

  /// Runs a file, or standard input for "-", and returns the exit status. The arguments are available as `...` and in
  /// the table `arg`. Errors are written to the error stream.
  public func run(file: String, arguments: [String] = []) -> Int32 {
    guarded {
      let limit = state.limits.sourceSize
      let source =
        file == "-"
        ? try LuaSource(standardInputAs: "=stdin", limit: limit) : try LuaSource(path: file, name: file, limit: limit)
      try execute(source, script: file, arguments: arguments)
    }
  }

  /// Runs code from the command line and returns the exit status. Without a script, the table `arg` has no entry 0.
  public func run(code: String, arguments: [String] = []) -> Int32 {
    guarded { try execute(LuaSource(code, name: "=(command line)"), script: nil, arguments: arguments) }
  }

  /// Loads the source and calls it.
  private func execute(_ source: LuaSource, script: String?, arguments: [String]) throws {
    let list = try state.argumentTable(script: script, program: program, arguments: arguments)
    try environment.table.set("arg", to: .table(list))
    try state.load(source, in: environment).call(arguments.map { .text($0) })
  }

  /// Handles SIGINT while `body` runs, and reports its error.
  private func guarded(_ body: () throws -> Void) -> Int32 {
    if handlesInterrupts { LuaInterrupter.onSIGINT(state.interrupter) }
    defer { if handlesInterrupts { LuaInterrupter.onSIGINT(nil) } }
    do {
      try body()
      return Status.success
    } catch {
      return report(LuaError(wrapping: error))
    }
  }

  /// Writes the message of an error to the error stream and returns its exit status. Nothing is written for `os.exit`.
  public func report(_ error: LuaError) -> Int32 {
    if error.kind.exitStatus == nil {
      var text = "\(program): \(error.plainReport)\n"
      text.withUTF8 { state.output.body(UnsafeRawBufferPointer($0), true) }
    }
    return Self.status(of: error)
  }

  /// The exit status for an error. Statuses are those of `Status`, or the argument of `os.exit`.
  public static func status(of error: LuaError) -> Int32 {
    if let status = error.kind.exitStatus { return Int32(truncatingIfNeeded: status) }
    if error.kind == .interrupted { return Status.interrupted }
    return error.kind.limit == nil ? Status.failure : Status.limit
  }
}

extension LuaState {
  /// Creates the script's `arg` table: the script at 0, its arguments from 1, the program at -1.
  public func argumentTable(script: String?, program: String? = nil, arguments: [String]) throws(LuaError) -> LuaTable {
    let list = try table(elements: arguments.count)
    if let script { try list.set(0, to: .text(script)) }
    if let program { try list.set(-1, to: .text(program)) }
    for (index, argument) in arguments.enumerated() { try list.set(index + 1, to: .text(argument)) }
    return list
  }
}
