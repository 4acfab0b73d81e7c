import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

extension ChildProcess {
  /// Waits until it has printed a text; fails after ten minutes.
  func wait(for wanted: String) throws {
    for _ in 0..<30_000 {
      if output.contains(wanted) { return }
      try #require(isRunning || output.contains(wanted), "it ended before it said \(wanted)")
      usleep(20_000)
    }
    Issue.record("it did not say \(wanted)")
  }

  /// Waits for the end, ten minutes at most, and tells the status.
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
  /// Begins a run of `moonbase` in the folder, which goes on while the test does something else.
  func begin(_ arguments: String...) throws -> ChildProcess { try begin(arguments) }

  /// The same, with the arguments as a list.
  func begin(_ arguments: [String]) throws -> ChildProcess { try ChildProcess(Self.command, arguments, in: folder) }

  #if os(Linux)
    /// The same, where SIGINT is not ignored, whatever these tests were started by.
    func beginInterruptible(_ arguments: [String]) throws -> ChildProcess {
      let arguments = ["--default-signal=INT", Self.command.path] + arguments
      return try ChildProcess(URL(fileURLWithPath: "/usr/bin/env"), arguments, in: folder)
    }
  #endif
}

extension Workbench {
  /// A connection past the store. It waits for a minute where a program that still runs holds the file, as one does for a moment whenever it
  /// begins or ends.
  func connection(to name: String, mode: Connection.Mode = .create) throws -> Connection {
    let connection = try Connection(file(name).path, mode: mode)
    connection.setBusyTimeout(milliseconds: 60_000)
    return connection
  }

  /// A connection past the store, which holds the write lock.
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

  /// Runs SQL past the store.
  func execute(_ sql: String, in name: String) throws { try connection(to: name).executeScript(sql) }
}

extension ChildProcess.Outcome {
  /// The lines of standard error, without the names of the stores that it made.
  var complaintsBesideNewStores: String {
    complaints.split(separator: "\n", omittingEmptySubsequences: false)
      .filter { !$0.hasSuffix(" is a new store") }.joined(separator: "\n")
  }
}
