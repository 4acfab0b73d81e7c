import MoonbaseModel
import MoonbaseGraph
import MoonbasePlatform
package import MoonbaseSQLite

/// A connection that changes nothing on disk, the write-ahead log and its index included.
///
/// No writing connection of the same process may be opened during its life: SQLite shares one log index among all
/// connections of a process to a file, and the index would stay read-only.
///
/// Made by `StoreFile.openForReading` and used on one thread. After each reading, ask `isSound`: only a sound
/// connection has read one state of the file. The way of opening depends on the files beside the store:
///
/// - A rollback journal: with locks, if no process died while it wrote.
/// - A log and its index: with the locks of the index (`readonly_shm`).
/// - A log without an index: with an index in memory, without locks.
/// - None of these: with locks, or as `immutable` for a file in log mode.
package struct ReadingConnection {
  /// The reason why the data read is consistent.
  ///
  /// Decides whether the connection may stay open for long (`Session.canBeHeldOpen`), and how `isSound` checks.
  enum Ground: Sendable {
    /// The connection takes part in the locks of the write-ahead log.
    case index
    /// The connection takes part in the locks of a file without a log. Valid until the file gets a log, because SQLite
    /// would create an empty log to read the file.
    case journal
    /// The connection takes part in no locks. Valid while the files are unchanged. The integers are sizes, times and
    /// inodes of the files (`StoreFile.footprint`).
    case silence([Int])
  }

  /// Opened read-only.
  package let connection: Connection
  /// How the data is known to be consistent.
  let ground: Ground

  /// Whether the data read until now is consistent. Cheap except for `Ground.silence`, which looks at the files.
  package func isSound(_ file: StoreFile) -> Bool {
    switch ground {
    case .index: true
    case .journal: !connection.usesWriteAheadLog
    case .silence(let footprint): footprint == file.footprint
    }
  }

  /// Whether an error concerns the data itself. The last writer that closes a file removes log and index, also while a
  /// reader is active; SQLite then reports a file that cannot be opened or written. A new connection finds all data in
  /// the file. Otherwise the error may come from reading without locks, and the reading is to be repeated.
  func isSound(_ file: StoreFile, after error: any Error) -> Bool {
    guard isSound(file) else { return false }
    guard case .index = ground else { return true }
    return !error.isOfAVanishedLog
  }
}

/// Errors of a file whose log or index was removed by another process.
extension Error {
  /// SQLite's result codes for a log or index that was removed meanwhile.
  fileprivate var isOfAVanishedLog: Bool {
    let error = self as? SQLiteError ?? (self as? GraphError)?.underlying as? SQLiteError
    guard let code = error?.code, code != .moved else { return false }
    return [.readOnly, .cannotOpen, .lockingProtocol].contains(code.primary)
  }
}

extension StoreFile {
  /// Runs `body` with a connection that changes nothing on disk.
  ///
  /// Throws `FileChanged` where another process wrote meanwhile without a lock that prevents it. The caller may then
  /// try again. `body` runs once; its effects are not undone.
  package func reading<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    let reading = try openForReading()
    do {
      try requireWhole(reading.connection)
      let result = try body(reading.connection)
      if reading.isSound(self) { return result }
    } catch {
      if reading.isSound(self, after: error) { throw error }
    }
    throw FileChanged()
  }

  /// Chooses the way by the files beside the store. Tries four times, because a writing process may open or close the
  /// file in between. Throws the errors of `StoreFailure`.
  package func openForReading() throws -> ReadingConnection {
    var attempt = 0
    while true {
      attempt += 1
      do {
        return try openAsItIs()
      } catch let error as SQLiteError {
        // A writing process may have opened or closed the file since the check.
        guard error.isOfAVanishedLog, attempt < 4, size("") != nil else {
          throw StoreFailure(path: path).graphError(error)
        }
        try HostWork.pause(milliseconds: 10)
      }
    }
  }

  /// Chooses once, by the sizes of log and index.
  private func openAsItIs() throws -> ReadingConnection {
    let log = size("-wal")
    let index = size("-shm")
    if hasJournal { return try openBesideJournal() }
    if let log, let index, log > 0 || index > 0 { return try openBesideIndex() }
    if let log, log > 0 { return try openWithPrivateIndex() }
    return try openWithoutLog()
  }

  /// A journal that no process holds any more must be rolled back first, which needs to write. Throws `.readOnlyStore`
  /// then.
  private func openBesideJournal() throws -> ReadingConnection {
    let connection = try openWithLocks()
    do {
      _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master")
    } catch let error as SQLiteError where [.readOnly, .cannotOpen].contains(error.code.primary) {
      throw GraphError(
        .readOnlyStore,
        message:
          "\(path): a process died while writing to it, and what is half written must be taken back, which is writing: open it once for "
          + "writing (moonbase run --store \(path) -e return)",
        underlying: error)
    }
    return ReadingConnection(connection: connection, ground: .journal)
  }

  /// Uses the index of a writing process as it is. An index that a process left incomplete is unusable: if it stays
  /// incomplete, the log is read without the index. Three attempts, 10 milliseconds apart.
  private func openBesideIndex() throws -> ReadingConnection {
    let system = ImpatientSystem.name.map { "&vfs=\($0)" } ?? ""
    for attempt in 1...3 {
      let connection = try open("mode=ro&readonly_shm=1\(system)")
      do {
        _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master")
        return ReadingConnection(connection: connection, ground: .index)
      } catch let error as SQLiteError where error.isOfAVanishedLog || error.code.primary == .busy {
        if attempt < 3 { try HostWork.pause(milliseconds: 10) }
      }
    }
    return try openWithPrivateIndex()
  }

  /// Without an index file no other connection exists. SQLite then builds the index in memory, provided it has the file
  /// exclusively. The VFS without locks provides this for a file that cannot be locked for writing. The connection
  /// keeps the log on closing.
  private func openWithPrivateIndex() throws -> ReadingConnection {
    let footprint = settledFootprint()
    let connection = try open("mode=ro&vfs=unix-none")
    // SQLite would remove a log without valid content, such as a damaged one, on closing.
    connection.setLeavesLog(true)
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return ReadingConnection(connection: connection, ground: .silence(footprint))
  }

  /// A file in rollback mode has locks of its own. A file in log mode without a log can only be read as immutable:
  /// SQLite would create the log. The mode is known only after opening, so a file in rollback mode is opened twice.
  private func openWithoutLog() throws -> ReadingConnection {
    let footprint = settledFootprint()
    let connection = try open("immutable=1")
    if connection.usesWriteAheadLog { return ReadingConnection(connection: connection, ground: .silence(footprint)) }
    return ReadingConnection(connection: try openWithLocks(), ground: .journal)
  }

  /// A writer with a journal blocks readers during its commit.
  private func openWithLocks() throws -> Connection {
    let connection = try open("mode=ro")
    connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds)
    return connection
  }

  /// File times have a resolution of some milliseconds: a change shortly after another would not show. Waits for at
  /// most half a second, until the times of all files are older than their resolution.
  private func settledFootprint() -> [Int] {
    for _ in 0..<50 where ([""] + Self.companions).contains(where: { FileIdentity.isFresh(truePath + $0) }) {
      usleep(10_000)
    }
    return footprint
  }

  /// The URI has no authority: with two slashes, the first folder would be taken for the authority. `parameters` are
  /// those of SQLite's URIs, such as `mode=ro`.
  private func open(_ parameters: String) throws -> Connection {
    let escaped = truePath.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? truePath
    return try Connection("file://\(escaped)?\(parameters)", mode: mode([.readOnly, .uri]))
  }
}
