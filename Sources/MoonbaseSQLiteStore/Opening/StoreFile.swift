import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// A store's file before SQLite touches it.
///
/// Nothing here opens the file except through SQLite: closing a descriptor of a file drops all locks that the process holds
/// on it, those of a store that is open already included.
struct StoreFile: Sendable {
  /// The path as it was given, made absolute. A `..` in it is for the file system to follow, because what stands before it
  /// may be a link.
  let path: String

  var url: URL { URL(fileURLWithPath: path) }

  enum State {
    case absent
    /// It is there and has no bytes.
    case empty
    /// It has contents.
    case present
  }

  init(url: URL) { path = url.pathAsGiven }

  /// Looks at what kind of file it is. Throws for folders, pipes and all else that is no file, and for unreadable files.
  func state() throws -> State {
    var status = stat()
    guard stat(path, &status) == 0 else {
      if errno == ENOENT { return .absent }
      throw GraphError(.cannotOpenFile, "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    if let kind = Self.kind(status.st_mode) {
      throw GraphError(.cannotOpenFile, "\(path) is a \(kind), not a store: name a file")
    }
    guard access(path, R_OK) == 0 else {
      throw GraphError(
        .cannotOpenFile, "\(path) cannot be read: \(String(cString: strerror(errno))); change its permissions")
    }
    return status.st_size == 0 ? .empty : .present
  }

  /// What a thing is that is no ordinary file.
  private static func kind(_ mode: mode_t) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "folder"
    case S_IFIFO: "pipe"
    case S_IFSOCK: "socket"
    default: "device"
    }
  }

  /// Fails where a new file could not be made.
  func checkFolder() throws {
    let folder = path.folderOfPath
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw GraphError(.cannotOpenFile, "\(path) cannot be made: there is no folder \(folder)")
    }
    guard access(folder, W_OK) == 0 else {
      throw GraphError(
        .cannotOpenFile,
        "\(path) cannot be made: the folder \(folder) may not be written: \(String(cString: strerror(errno)))")
    }
  }

  /// Whether the file may be written.
  var isWritable: Bool { access(path, W_OK) == 0 }

  /// Whether a log or a journal lies beside it that belongs to somebody who writes, or who died writing.
  var isInUse: Bool { size(path + "-wal") != nil && size(path + "-shm") != nil || hasJournal }

  private var hasJournal: Bool { (size(path + "-journal") ?? 0) > 0 }

  /// Changes when somebody writes.
  var footprint: [Int] {
    ["", "-wal", "-shm", "-journal"].flatMap { suffix -> [Int] in
      var status = stat()
      guard stat(path + suffix, &status) == 0 else { return [-1] }
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      return [Int(status.st_size), time.tv_sec, time.tv_nsec]
    }
  }

  // MARK: Opening

  /// A connection that changes nothing on the disk, the write-ahead log and its index included.
  ///
  /// A connection of the same process that writes must not be opened while it lives: SQLite lets all connections of a
  /// process to a file share one log index, which would stay read-only.
  func openForReading() throws -> Connection {
    let log = size(path + "-wal")
    let index = size(path + "-shm")
    do {
      if hasJournal { return try openBesideJournal() }
      if let log, let index, log > 0 || index > 0 { return try openBesideIndex() }
      if let log, log > 0 { return try openWithPrivateIndex() }
      return try open("immutable=1")
    } catch let error as SQLiteError {
      throw StoreFailure(path: path).graphError(error)
    }
  }

  /// A journal that nobody holds any more would have to be rolled back first, which is writing.
  private func openBesideJournal() throws -> Connection {
    let connection = try open("mode=ro")
    do {
      _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master")
    } catch let error as SQLiteError where [.readOnly, .cannotOpen].contains(error.code.primary) {
      throw GraphError(
        .readOnlyStore,
        "\(path): somebody died while writing to it; open it once for writing, so that SQLite can repair it",
        underlying: error)
    }
    return connection
  }

  /// The index of somebody who writes is used as it is. One that was left unfinished by somebody who died is no use: where
  /// it stays so, the log is read without it.
  private func openBesideIndex() throws -> Connection {
    let system = ImpatientSystem.name.map { "&vfs=\($0)" } ?? ""
    for attempt in 1...3 {
      let connection = try open("mode=ro&readonly_shm=1\(system)")
      do {
        _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master")
        return connection
      } catch let error as SQLiteError where [.lockingProtocol, .readOnly, .busy].contains(error.code.primary) {
        if attempt < 3 { usleep(10_000) }
      }
    }
    return try openWithPrivateIndex()
  }

  /// Without an index file no other connection lives; SQLite then builds the index in memory, if it may believe that it is
  /// alone. The VFS without locks lets it believe so on a file that cannot be locked for writing.
  private func openWithPrivateIndex() throws -> Connection {
    let connection = try open("mode=ro&vfs=unix-none")
    try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    return connection
  }

  private func open(_ parameters: String) throws -> Connection {
    try Connection("file:\(escapedPath)?\(parameters)", mode: [.readOnly, .uri])
  }

  private var escapedPath: String {
    path.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? path
  }

  private func size(_ path: String) -> Int? {
    var status = stat()
    return stat(path, &status) == 0 ? Int(status.st_size) : nil
  }
}
