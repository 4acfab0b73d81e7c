import MoonbasePlatform
import MoonbaseSQLite

/// The reading connections of a store, as many as threads read at once. Some idle connections are kept.
///
/// Owned by a store, used by all threads. The order for a call is: wait for a free place, take an idle connection or
/// open one, read, check that the reading is sound, keep the connection. A connection that is not sound is closed and
/// the reading repeated.
package final class SessionPool: Sendable {
  /// The number of idle connections that are kept.
  private static let kept = 4
  /// The pools of stores that are only read.
  private static let readOnlyPools = Lock<[WeakPool]>([])

  /// A list of pools must not keep stores open.
  private struct WeakPool: Sendable {
    weak let pool: SessionPool?
  }

  /// Open connections that no thread uses.
  private let idle = Lock<[Session]>([])
  /// The number of open views. A view is a connection in an open read transaction.
  private let views = Lock(0)
  /// The file of the store.
  private let file: StoreFile
  /// The folder of external files. Nil where rows can name none.
  private let folder: SupportFolder?
  /// Opens a connection with registered functions.
  private let open: @Sendable () throws -> Session
  /// The greatest number of connections for calls. Cursors may use four times as many.
  private let limit: Int
  /// The largest limit; a process can open fewer files.
  private static let greatestLimit = 1 << 20
  /// The number of connections in use: `reading` for calls, `lent` for cursors.
  private let reading = Lock(0)
  /// Includes connections that wait between two calls of their cursor.
  private let lent = Lock(0)
  /// Set by the store before `close`.
  private let closing: ClosedFlag
  /// The number of open connections.
  private let connections = Lock(0)
  /// The sessions that borrowed a connection, by the connection's session.
  private let borrowers = Lock<[ObjectIdentifier: WeakBorrower]>([:])

  /// A closing pool ends sessions, but does not keep them alive.
  private struct WeakBorrower: Sendable {
    weak let session: (any ReadingBorrower)?
  }

  /// `open` is called on the thread of a reader, without locks of the pool.
  init(
    _ file: StoreFile, naming folder: SupportFolder?, isReadOnly: Bool, limit: Int, closing: ClosedFlag,
    _ open: @escaping @Sendable () throws -> Session
  ) {
    self.file = file
    (self.limit, self.closing) = (min(limit, Self.greatestLimit), closing)
    self.folder = folder
    self.open = open
    guard isReadOnly else { return }
    Self.readOnlyPools.withLock { pools in
      pools.removeAll { $0.pool == nil }
      pools.append(WeakPool(pool: self))
    }
  }

  /// Runs `body` with a connection, and again with a new connection where another process wrote meanwhile without a
  /// lock that prevents it. Therefore `body` must have no effect besides its result. Throws `FileChanged` after 20
  /// attempts, and `.invalidRequest` while the store closes.
  func withSession<Result>(_ body: (Session) throws -> Result) throws -> Result {
    try waitForPlace()
    defer { reading.withLock { $0 -= 1 } }
    for _ in 0..<20 {
      let session = try sound()
      beginReading(session)
      do {
        let result = try body(session)
        endReading(session)
        if session.isSound(file) {
          keep(session)
          return result
        }
      } catch {
        endReading(session)
        if session.isSound(file, after: error) {
          keep(session)
          throw error
        }
      }
      try HostWork.pause(milliseconds: 20)
    }
    throw FileChanged()
  }

  /// Waits until fewer connections read than the limit allows, because each has descriptors and pages of its own. After
  /// a timeout the thread proceeds without a free place: a nested read would wait for itself. Checks every millisecond.
  private func waitForPlace() throws {
    let end = ContinuousClock.now + file.busyTimeout
    while !reserveFreePlace() {
      if closing.isClosed { throw closing.error(file) }
      guard ContinuousClock.now < end else { return reading.withLock { $0 += 1 } }
      try HostWork.pause(milliseconds: 1)
    }
  }

  /// Counts the place as taken.
  private func reserveFreePlace() -> Bool {
    reading.withLock { [limit] count in
      guard count < limit else { return false }
      count += 1
      return true
    }
  }

  /// The greatest number of open views. Each is a connection with descriptors and pages of its own.
  private static let greatestViewCount = 32

  /// Lends a connection until it is given back, beyond a call; with `isView`, in an open transaction. Returns nil for a
  /// file that may not be read for long, or where too many connections are lent.
  func lend(isView: Bool, to reader: any ReadingBorrower) throws -> Session? {
    guard let session = try lend(isView: isView) else { return nil }
    borrowers.withLock { $0[ObjectIdentifier(session)] = WeakBorrower(session: reader) }
    return session
  }

  /// Lends without noting the borrower.
  private func lend(isView: Bool) throws -> Session? {
    for _ in 0..<20 {
      let session = try sound()
      let isRoom = isView ? views.withLock { $0 < Self.greatestViewCount } : lent.withLock { $0 < 4 * limit }
      guard session.canBeHeldOpen, isRoom else {
        keep(session)
        return nil
      }
      // Registered before the connection reads its state: saves from now on keep the external files that this state
      // names.
      beginReading(session)
      guard isView else {
        lent.withLock { $0 += 1 }
        return session
      }
      do {
        try session.connection.beginReading()
      } catch {
        endReading(session)
        if session.isSound(file, after: error) { throw error }
        try HostWork.pause(milliseconds: 20)
        continue
      }
      if session.isSound(file) {
        views.withLock { $0 += 1 }
        return session
      }
      session.connection.endReading()
      endReading(session)
    }
    throw FileChanged()
  }

  /// Takes back a lent connection, whose statements have ended. Ends the read transaction of a view.
  func giveBack(_ session: Session, isView: Bool) {
    borrowers.withLock { $0[ObjectIdentifier(session)] = nil }
    if isView {
      session.connection.endReading()
      views.withLock { $0 -= 1 }
    } else {
      lent.withLock { $0 -= 1 }
    }
    endReading(session)
    if session.isSound(file) { keep(session) }
  }

  /// From now on the external files that rows name are kept.
  private func beginReading(_ session: Session) {
    if let folder { session.reader = ExternalReaders.begin(in: folder) }
  }

  /// Call this for each `beginReading`.
  private func endReading(_ session: Session) {
    if let folder, let reader = session.reader { ExternalReaders.end(reader, in: folder) }
    session.reader = nil
  }

  /// A connection whose file is unchanged, without outdated functions. Closes idle connections that cannot be used any
  /// more, and opens a new one if none is left.
  private func sound() throws -> Session {
    if closing.isClosed { throw closing.error(file) }
    while let session = idle.withLock({ $0.popLast() }) {
      if !session.isOutdated, session.isSound(file) { return session }
    }
    return try counted(open)
  }

  /// Opens a connection and counts it as open until it is closed. Closing waits for a connection that is being opened.
  /// Throws `.invalidRequest` while the store closes.
  private func counted(_ open: () throws -> Session) throws -> Session {
    connections.withLock { $0 += 1 }
    do {
      if closing.isClosed { throw closing.error(file) }
      let session = try open()
      session.connection.onClose = { [connections] in connections.withLock { $0 -= 1 } }
      return session
    } catch {
      connections.withLock { $0 -= 1 }
      throw error
    }
  }

  /// Keeps a connection for reuse, unless it has outdated functions of scripts. Closes it otherwise.
  private func keep(_ session: Session) {
    idle.withLock { idle in
      idle.removeAll(where: \.isOutdated)
      if idle.count < Self.kept, !session.isOutdated, !closing.isClosed { idle.append(session) }
    }
  }

  /// The longest that closing waits for readers, each of which ends with its next step.
  private static let greatestPatience = Duration.seconds(5)

  /// Ends the sessions that borrowed connections, waits for running calls, and closes all connections. `closing` must
  /// be set before. After five seconds it returns although connections are open.
  func close() {
    let end = ContinuousClock.now + Self.greatestPatience
    repeat {
      for session in borrowers.withLock({ $0.values.compactMap(\.session) }) { session.end() }
      idle.withLock { $0.removeAll() }
      if connections.withLock({ $0 }) == 0 { return }
      usleep(200)
    } while ContinuousClock.now < end
  }

  /// Closes the idle read-only connections to a file. SQLite shares the index of a write-ahead log among a process's
  /// connections to a file: with a read-only index no connection could write. Called before a store opens the file for
  /// writing.
  package static func closeReadOnlySessions(of file: StoreFile) {
    let pools = readOnlyPools.withLock { $0 }
    for pool in pools.compactMap(\.pool) where pool.file.truePath == file.truePath {
      pool.idle.withLock { $0.removeAll() }
    }
  }
}

/// A user of a lent connection: a session of a view or of a cursor.
protocol ReadingBorrower: AnyObject, Sendable {
  /// Ends the use: the next step of a statement throws, and the connection is given back.
  func end()
}
