import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

extension ChildProcess {
  /// Waits until the process has printed a text; fails after ten minutes.
  func wait(for wanted: String) throws {
    for _ in 0..<30_000 {
      if output.contains(wanted) { return }
      try #require(isRunning || output.contains(wanted), "it ended before it said \(wanted)")
      usleep(20_000)
    }
    Issue.record("it did not say \(wanted)")
  }

  /// Waits for the end, ten minutes at most, and returns the status.
  func end() throws -> Int32 {
    for _ in 0..<30_000 where isRunning { usleep(20_000) }
    if isRunning {
      kill()
      Issue.record("it did not end")
    }
    let outcome = outcome()
    try #require(outcome.signal == nil, "signal \(outcome.status)")
    return outcome.status
  }
}

extension Workbench {
  /// Starts `moonbase` in the folder without waiting for its end.
  func begin(_ arguments: String...) throws -> ChildProcess { try begin(arguments) }

  /// Starts `moonbase` with a list of arguments, without waiting for its end.
  func begin(_ arguments: [String]) throws -> ChildProcess { try ChildProcess(Self.command, arguments, in: folder) }

  #if os(Linux)
    /// Starts `moonbase` with the default handling of SIGINT, even if these tests ignore the signal.
    func beginInterruptible(_ arguments: [String]) throws -> ChildProcess {
      let arguments = ["--default-signal=INT", Self.command.path] + arguments
      return try ChildProcess(URL(fileURLWithPath: "/usr/bin/env"), arguments, in: folder)
    }
  #endif
}

extension Workbench {
  /// An SQLite connection without the store. It waits up to a minute for a running program's lock, since programs lock
  /// the file briefly when they start and end.
  func connection(to name: String, mode: Connection.Mode = .create) throws -> Connection {
    let connection = try Connection(file(name).path, mode: mode)
    connection.setBusyTimeout(milliseconds: 60_000)
    return connection
  }

  /// An SQLite connection without the store, which holds the write lock.
  final class Locker {
    private var connection: Connection?

    fileprivate init(_ connection: Connection) throws {
      try connection.execute("BEGIN IMMEDIATE")
      self.connection = connection
    }

    func end() { connection = nil }
  }

  /// Takes the write lock of a store until the end.
  func lock(_ name: String) throws -> Locker { try Locker(connection(to: name, mode: .readWrite)) }

  /// Runs SQL without the store.
  func execute(_ sql: String, in name: String) throws { try connection(to: name).executeScript(sql) }
}

extension ChildProcess.Outcome {
  /// The lines of standard error, without notes about new stores.
  var complaintsBesideNewStores: String {
    complaints.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasSuffix(" is a new store") }.joined(separator: "\n")
  }
}
