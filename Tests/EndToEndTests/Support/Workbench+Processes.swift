import MoonbasePlatform
import MoonbaseSQLite
import Testing

extension Workbench {
  /// A run of `moonbase` that goes on while the test does something else. It is killed when the test lets go of it.
  final class Running {
    private let process = Process()
    private let output: URL
    private let input = Pipe()

    fileprivate init(_ bench: Workbench, _ executable: URL, _ arguments: [String]) throws {
      output = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-\(UUID().uuidString).out")
      try Data().write(to: output)
      process.executableURL = executable
      process.arguments = arguments
      process.currentDirectoryURL = bench.folder
      process.standardInput = input
      process.standardOutput = try FileHandle(forWritingTo: output)
      process.standardError = FileHandle.nullDevice
      try process.run()
    }

    deinit {
      kill()
      try? FileManager.default.removeItem(at: output)
    }

    var text: String { (try? String(contentsOf: output, encoding: .utf8)) ?? "" }

    /// Waits until the run has printed a text; fails after a minute.
    func wait(for wanted: String) throws {
      for _ in 0..<3000 {
        if text.contains(wanted) { return }
        try #require(process.isRunning || text.contains(wanted), "it ended before it said \(wanted)")
        usleep(20_000)
      }
      Issue.record("it did not say \(wanted)")
    }

    /// Gives the run a line.
    func say(_ line: String) {
      guard process.isRunning else { return }
      try? input.fileHandleForWriting.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Does what Ctrl-C does.
    func interrupt() { process.interrupt() }

    /// Ends it as a crash would.
    func kill() {
      guard process.isRunning else { return }
      sendKill(to: process.processIdentifier)
      process.waitUntilExit()
    }

    /// Waits for the end, a minute at most, and tells the status.
    func end() throws -> Int32 {
      for _ in 0..<3000 where process.isRunning { usleep(20_000) }
      if process.isRunning {
        kill()
        Issue.record("it did not end")
      }
      process.waitUntilExit()
      try #require(process.terminationReason == .exit, "signal \(process.terminationStatus)")
      return process.terminationStatus
    }
  }

  /// Begins a run of `moonbase` in the folder.
  func begin(_ arguments: String...) throws -> Running { try Running(self, Self.command, arguments) }

  #if os(Linux)
    /// The same, where SIGINT is not ignored, whatever these tests were started by.
    func beginInterruptible(_ arguments: [String]) throws -> Running {
      let arguments = ["--default-signal=INT", Self.command.path] + arguments
      return try Running(self, URL(fileURLWithPath: "/usr/bin/env"), arguments)
    }
  #endif
}

/// The signal that nothing can catch.
private func sendKill(to process: pid_t) { _ = kill(process, SIGKILL) }

extension Workbench {
  /// A connection past the store, which holds the write lock.
  final class Locker {
    private var connection: Connection?

    fileprivate init(_ url: URL) throws {
      let connection = try Connection(url.path, mode: .readWrite)
      try connection.execute("BEGIN IMMEDIATE")
      self.connection = connection
    }

    func end() { connection = nil }
  }

  /// Takes the write lock of a store until the end.
  func lock(_ name: String) throws -> Locker { try Locker(file(name)) }

  /// Runs SQL past the store.
  func execute(_ sql: String, in name: String) throws { try Connection(file(name).path).executeScript(sql) }
}
