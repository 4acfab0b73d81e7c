public import MoonbasePlatform

/// A program that a test starts: the one place where child processes begin. It is killed when the test lets go of it.
public final class ChildProcess {
  /// How a program ended, and what it wrote.
  public struct Outcome: Sendable {
    /// Its exit status; the signal where one ended it.
    public let status: Int32
    /// The signal that ended it, if one did: a crash must not look like an exit status.
    public let signal: Int32?
    /// What it wrote to standard output.
    public let output: String
    /// What it wrote to standard error.
    public let complaints: String
  }

  private let process = Process()
  /// Files instead of pipes: nothing can fill up while nothing reads.
  private let streams: TemporaryFolder
  private let lines = Pipe()

  /// Starts a program. Without an input it gets the lines of `say`.
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

  /// Starts a program in a terminal, which takes its output.
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

  /// Runs a program, by its name on the PATH, to its end.
  public static func run(
    named name: String, _ arguments: [String], in folder: URL? = nil, input: String = "",
    environment: [String: String] = [:]
  ) throws -> Outcome {
    let env = URL(fileURLWithPath: "/usr/bin/env")
    return try run(env, [name] + arguments, in: folder, input: input, environment: environment)
  }

  /// Whether it has not ended.
  public var isRunning: Bool { process.isRunning }

  /// What it has written to standard output so far.
  public var output: String { text("out") }

  /// Gives it a line.
  public func say(_ line: String) {
    guard process.isRunning else { return }
    try? lines.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
  }

  /// There are no more lines.
  public func closeInput() { try? lines.fileHandleForWriting.close() }

  /// Does what Ctrl-C does.
  public func interrupt() { process.interrupt() }

  /// Ends it as a crash would.
  public func kill() {
    guard process.isRunning else { return }
    sendKill(to: process.processIdentifier)
    process.waitUntilExit()
  }

  /// Waits for its end.
  public func outcome() -> Outcome {
    process.waitUntilExit()
    let signal = process.terminationReason == .uncaughtSignal ? process.terminationStatus : nil
    return Outcome(status: process.terminationStatus, signal: signal, output: output, complaints: text("err"))
  }

  private func text(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: streams.file(name))) ?? Data(), as: UTF8.self)
  }
}

/// The signal that nothing can catch.
private func sendKill(to process: pid_t) { _ = kill(process, SIGKILL) }
