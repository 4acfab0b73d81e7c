public import MoonbasePlatform

/// A program that a test starts. All child processes of tests start here, and are killed when the instance is released.
public final class ChildProcess {
  /// The end of a program and its output.
  public struct Outcome: Sendable {
    /// The exit status, or the signal that ended the program.
    public let status: Int32
    /// The signal that ended the program, if any: a crash must not look like an exit status.
    public let signal: Int32?
    /// The program's standard output.
    public let output: String
    /// The program's standard error.
    public let complaints: String
  }

  private let process = Process()
  /// Files instead of pipes, since a pipe without a reader fills up.
  private let streams: TemporaryFolder
  private let lines = Pipe()

  /// Starts a program. Without `input` it reads the lines passed to `say`.
  public init(
    _ program: URL, _ arguments: [String], in folder: URL? = nil, input: String? = nil,
    environment: [String: String] = [:]
  ) throws {
    streams = try TemporaryFolder()
    for name in ["out", "err"] { try Data().write(to: streams.file(name)) }
    process.executableURL = program
    process.arguments = arguments
    if let folder { process.currentDirectoryURL = folder }
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    if let input {
      try Data(input.utf8).write(to: streams.file("in"))
      process.standardInput = try FileHandle(forReadingFrom: streams.file("in"))
    } else {
      process.standardInput = lines
    }
    process.standardOutput = try FileHandle(forWritingTo: streams.file("out"))
    process.standardError = try FileHandle(forWritingTo: streams.file("err"))
    try process.run()
  }

  /// Starts a program with its output on a terminal.
  public init(
    _ program: URL, _ arguments: [String], in folder: URL, terminal: FileHandle, environment: [String: String]
  ) throws {
    streams = try TemporaryFolder()
    process.executableURL = program
    process.arguments = arguments
    process.currentDirectoryURL = folder
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    (process.standardInput, process.standardOutput, process.standardError) = (terminal, terminal, terminal)
    try process.run()
  }

  deinit { kill() }

  /// Runs a program to its end.
  public static func run(
    _ program: URL, _ arguments: [String], in folder: URL? = nil, input: String = "",
    environment: [String: String] = [:]
  ) throws -> Outcome {
    try ChildProcess(program, arguments, in: folder, input: input, environment: environment).outcome()
  }

  /// Runs a program, found by its name on the PATH, to its end.
  public static func run(
    named name: String, _ arguments: [String], in folder: URL? = nil, input: String = "",
    environment: [String: String] = [:]
  ) throws -> Outcome {
    let env = URL(fileURLWithPath: "/usr/bin/env")
    return try run(env, [name] + arguments, in: folder, input: input, environment: environment)
  }

  /// Whether the program is running.
  public var isRunning: Bool { process.isRunning }

  /// The standard output so far.
  public var output: String { text("out") }

  /// Writes a line to standard input.
  public func say(_ line: String) {
    guard process.isRunning else { return }
    try? lines.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// Closes standard input.
  public func closeInput() { try? lines.fileHandleForWriting.close() }

  /// Sends SIGINT, as Ctrl-C does.
  public func interrupt() { process.interrupt() }

  /// Asks the process to end (SIGTERM).
  public func terminate() { process.terminate() }

  /// Kills the program, as a crash would end it.
  public func kill() {
    guard process.isRunning else { return }
    sendKill(to: process.processIdentifier)
    process.waitUntilExit()
  }

  /// Waits for the end of the program.
  public func outcome() -> Outcome {
    process.waitUntilExit()
    let signal = process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
    return Outcome(status: process.terminationStatus, signal: signal, output: output, complaints: text("err"))
  }

  private func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: streams.file(name))) ?? Data(), as: UTF8.self)
  }
}

/// Sends SIGKILL, which cannot be caught.
private func sendKill(to process: pid_t) { _ = kill(process, SIGKILL) }
