import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// A store's file before SQLite touches it.
struct StoreFile: Sendable {
  let url: URL

  enum State {
    /// There is none, or an empty one.
    case absent
    /// It begins as SQLite databases do.
    case database
  }

  var path: String { url.path }

  /// Looks at the file's beginning. Throws for folders, unreadable files and files of another kind.
  func state() throws -> State {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return .absent }
    if isFolder.boolValue {
      throw GraphError(.cannotOpenFile, "\(path) is a folder, not a store: name a file")
    }
    let head: Data
    do {
      let handle = try FileHandle(forReadingFrom: url)
      defer { try? handle.close() }
      head = try handle.read(upToCount: 16) ?? Data()
    } catch {
      throw GraphError(
        .cannotOpenFile, "\(path) cannot be read: \(error.localizedDescription)", underlying: error)
    }
    if head.isEmpty { return .absent }
    guard head.starts(with: Data("SQLite format 3\u{0}".utf8)) else {
      throw GraphError(.invalidStore, "\(path) is not a SQLite database: name a Core Data store, or a new file")
    }
    return .database
  }

  /// Fails where a new file could not be made.
  func checkFolder() throws {
    let folder = url.deletingLastPathComponent().path
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw GraphError(.cannotOpenFile, "\(path) cannot be made: there is no folder \(folder)")
    }
  }

  /// Whether the file may be written.
  var isWritable: Bool { access(path, W_OK) == 0 }

  // MARK: Opening

  /// A connection that changes nothing on the disk, the write-ahead log and its index included.
  func openForReading() throws -> Connection {
    let log = size(path + "-wal")
    let index = size(path + "-shm")
    do {
      if let log, let index, log > 0 || index > 0 { return try open("mode=ro&readonly_shm=1") }
      if let log, log > 0 { return try openWithPrivateIndex() }
      return try open("immutable=1")
    } catch let error as SQLiteError {
      throw StoreFailure(url: url).graphError(error)
    }
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
