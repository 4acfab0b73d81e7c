import MoonbaseModel
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// A connection that changes nothing on the disk, the write-ahead log and its index included.
///
/// A connection of the same process that writes must not be opened while it lives: SQLite lets all connections of a
/// process to a file share one log index, which would stay read-only.
struct ReadingConnection {
  /// Why what it reads can be believed.
  enum Ground: Sendable {
    /// It takes part in the locks of the write-ahead log.
    case index
    /// It takes part in the locks of a file without a log, as long as the file does not change to one with a log: SQLite would
    /// make that, empty, to read it.
    case journal
    /// It takes part in no locks, so that all holds only as long as the files are as they were.
    case silence([Int])
  }

  let connection: Connection
  let ground: Ground

  /// Whether what was read until now can be believed.
  func isSound(_ file: StoreFile) -> Bool {
    switch ground {
    case .index: true
    case .journal: !connection.usesWriteAheadLog
    case .silence(let footprint): footprint == file.footprint
    }
  }

  /// Whether an error is one of what was read. Where the last writer closes a file, its log and index go away beside who reads, and
  /// SQLite says that something cannot be opened or written: another connection finds all in the file.
  func isSound(_ file: StoreFile, after error: any Error) -> Bool {
    guard isSound(file) else { return false }
    guard case .index = ground else { return true }
    return !error.isOfAVanishedLog
  }
}

extension Error {
  fileprivate var isOfAVanishedLog: Bool {
    let error = self as? SQLiteError ?? (self as? GraphError)?.underlying as? SQLiteError
    guard let code = error?.code, code != .moved else { return false }
    return [.readOnly, .cannotOpen, .lockingProtocol].contains(code.primary)
  }
}

/// A file was changed while it was read without locks.
struct FileChanged: Error {}

extension StoreFile {
  /// Runs `body` with a connection that changes nothing on the disk.
  ///
  /// Throws `FileChanged` where another process wrote meanwhile that no lock kept away; then it may be tried again.
  func reading<Result>(_ body: (Connection) throws -> Result) throws -> Result {
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

  func openForReading() throws -> ReadingConnection {
    var attempt = 0
    while true {
      attempt += 1
      do {
        return try openAsItIs()
      } catch let error as SQLiteError {
        // A process that writes may have opened or closed it since it was looked at.
        guard error.isOfAVanishedLog, attempt < 4, size("") != nil else {
          throw StoreFailure(path: path).graphError(error)
        }
        try HostWork.pause(milliseconds: 10)
      }
    }
  }

  private func openAsItIs() throws -> ReadingConnection {
    let log = size("-wal")
    let index = size("-shm")
    if hasJournal { return try openBesideJournal() }
    if let log, let index, log > 0 || index > 0 { return try openBesideIndex() }
    if let log, log > 0 { return try openWithPrivateIndex() }
    return try openWithoutLog()
  }

  /// A journal that no process holds any more would have to be rolled back first, which is writing.
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

  /// The index of a process that writes is used as it is. One that a process left unfinished is no use: where
  /// it stays so, the log is read without it.
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

  /// Without an index file no other connection lives; SQLite then builds the index in memory, if it may believe that it is
  /// alone. The VFS without locks lets it believe so on a file that cannot be locked for writing.
  private func openWithPrivateIndex() throws -> ReadingConnection {
    let footprint = settledFootprint()
    let connection = try open("mode=ro&vfs=unix-none")
    // A log that SQLite finds nothing in, as one that is damaged, would be removed in the end.
    connection.setLeavesLog(true)
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return ReadingConnection(connection: connection, ground: .silence(footprint))
  }

  /// A file in rollback mode has locks of its own. One that wants a log which is not there can be read only as if no
  /// process ever wrote to it: SQLite would make the log.
  private func openWithoutLog() throws -> ReadingConnection {
    let footprint = settledFootprint()
    let connection = try open("immutable=1")
    if connection.usesWriteAheadLog { return ReadingConnection(connection: connection, ground: .silence(footprint)) }
    return ReadingConnection(connection: try openWithLocks(), ground: .journal)
  }

  /// A writer with a journal keeps readers away while it commits.
  private func openWithLocks() throws -> Connection {
    let connection = try open("mode=ro")
    connection.setBusyTimeout(milliseconds: busyTimeout.milliseconds)
    return connection
  }

  /// The times of files tick every few milliseconds: a change so soon after another one would not show.
  private func settledFootprint() -> [Int] {
    for _ in 0..<50 where ([""] + Self.companions).contains(where: { FileIdentity.isFresh(truePath + $0) }) {
      usleep(10_000)
    }
    return footprint
  }

  /// No authority before the path: two slashes at its beginning would make its first folder one.
  private func open(_ parameters: String) throws -> Connection {
    let escaped = truePath.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? truePath
    return try Connection("file://\(escaped)?\(parameters)", mode: mode([.readOnly, .uri]))
  }
}
