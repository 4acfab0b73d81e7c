import MoonbaseModel
import MoonbaseGraph
package import MoonbasePlatform
package import MoonbaseSQLite

/// A store's file, examined before SQLite opens it.
///
/// Only SQLite opens the file: closing any other descriptor of the file drops all locks that the process holds on it,
/// including those of an open store.
///
/// A value that names a file and never holds a descriptor. All messages use `path`, all system calls `truePath`.
package struct StoreFile: Sendable {
  /// The given path made absolute, for messages. A `..` is left to the file system, because the part before it may be a
  /// link.
  package let path: String
  /// The path with links resolved as SQLite resolves them: log, journal and support folder lie beside it.
  package let truePath: String
  /// The time for which a connection waits for locks of other processes.
  package let busyTimeout: Duration
  /// The given path.
  private let given: String
  /// Whether links are refused, because a script named the path and its permission was checked for this path.
  private let isUnlinked = UnlinkedPath.isRequired
  /// Whether the path ends with a slash, like that of a folder.
  private let namesFolder: Bool
  /// Whether the path contains a zero byte, which URLs write as %00. (A percent sign is written as %25.)
  private let hasZeroByte: Bool

  /// The location as a URL.
  package var url: URL { URL(fileURLWithPath: path) }

  /// The suffixes of a store's companion files while it is in use.
  package static let companions = ["-wal", "-shm", "-journal"]

  /// The state of the path.
  package enum State {
    /// No file is at the path.
    case absent
    /// The file exists without content.
    case empty
    /// The file has content.
    case present
  }

  /// Resolves links now; the file may be replaced later. Without a timeout the default of `SQLiteStoreOptions` counts.
  package init(url: URL, busyTimeout: Duration? = nil) {
    self.busyTimeout = busyTimeout ?? SQLiteStoreOptions().busyTimeout
    given = url.relativePath
    namesFolder = url.hasDirectoryPath
    hasZeroByte = url.relativeString.contains("%00")
    path = url.pathAsGiven
    truePath = Self.resolve(path)
  }

  /// Resolves the path of a file that may not exist yet: it may be named by a link to its future place, and its folder
  /// may be a link.
  private static func resolve(_ path: String, links: Int = 40) -> String {
    if let whole = FileIdentity.truePath(path) { return whole }
    if links > 0, let target = try? FileManager.default.destinationOfSymbolicLink(atPath: path) {
      return resolve(target.hasPrefix("/") ? target : "\(path.folderOfPath)/\(target)", links: links - 1)
    }
    guard let folder = FileIdentity.truePath(path.folderOfPath), let slash = path.utf8.lastIndex(of: 0x2f) else {
      return path
    }
    return (folder == "/" ? "" : folder) + String(path[slash...])
  }

  // MARK: State

  /// Throws if there is no store: the file is missing or empty. Throws `.cannotOpenFile`, with advice for an empty
  /// file.
  package func requirePresent() throws {
    switch try state() {
    case .absent: throw missingError
    case .empty: throw bareError
    case .present: break
    }
  }

  /// The mode in which a connection opens the file. Adds the flag that refuses links, for paths named by scripts.
  package func mode(_ mode: Connection.Mode) -> Connection.Mode { isUnlinked ? mode.union(.withoutLinks) : mode }

  /// Examines the kind of file. Throws for folders, pipes and other special files, and for unreadable files.
  ///
  /// The code of all errors is `.cannotOpenFile`. Companion files are examined too, because SQLite would follow links
  /// there.
  package func state() throws -> State {
    try checkSpelling()
    if isUnlinked, truePath != path {
      throw GraphError(.cannotOpenFile, message: "\(path) leads to \(truePath) by now, and not where it led before")
    }
    if OpenStores.holdCompanion(truePath) {
      throw GraphError(.cannotOpenFile, message: "\(path) belongs to a store that is open: name the store")
    }
    for suffix in Self.companions { try checkCompanion(suffix) }
    var status = stat()
    guard stat(truePath, &status) == 0 else {
      if errno == ENOENT {
        try checkIsNoFolder()
        return .absent
      }
      throw GraphError(.cannotOpenFile, message: "\(path) cannot be read: \(String(cString: strerror(errno)))")
    }
    if let kind = FileIdentity.kind(status.st_mode) {
      throw GraphError(.cannotOpenFile, message: "\(path) is a \(kind), not a store: name a file")
    }
    try checkIsNoFolder()
    guard access(truePath, R_OK) == 0 else {
      throw GraphError(
        .cannotOpenFile, message: "\(path) cannot be read: \(String(cString: strerror(errno))); change its permissions")
    }
    return status.st_size == 0 ? .empty : .present
  }

  /// Throws for texts that have a different meaning in SQLite's own tools and are probably not meant as file names. For
  /// example `:memory:`, and URIs with the scheme `file:`.
  private func checkSpelling() throws {
    if given == ":memory:" {
      throw GraphError(
        .cannotOpenFile,
        message:
          ":memory: is no file: for a store in memory name none (in Swift .inMemory); ./:memory: is a file of that name"
      )
    }
    if given.hasPrefix("file:") {
      throw GraphError(
        .cannotOpenFile, message: "\(given) is a URI: name the file by its path, without file: and without parameters")
    }
    if hasZeroByte {
      let shown = "\(path) has a zero byte (written here as %00)"
      throw GraphError(.cannotOpenFile, message: "\(shown), which no path can have")
    }
  }

  /// Throws if the path ends with a slash: the name without the slash would be a different file.
  private func checkIsNoFolder() throws {
    guard namesFolder else { return }
    throw GraphError(
      .cannotOpenFile,
      message: "\(path)/ names a folder, by the slash at its end: a store is a file, so name it without")
  }

  /// Throws for a special companion file: SQLite would follow a link to its destination, and wait at a pipe for ever.
  private func checkCompanion(_ suffix: String) throws {
    var status = stat()
    guard lstat(truePath + suffix, &status) == 0 else { return }
    // SQLite writes companion files even when it only reads the store, and so would write the file's other name.
    guard let kind = FileIdentity.kind(status.st_mode) ?? (status.st_nlink > 1 ? "second name of another file" : nil)
    else { return }
    throw GraphError(
      .cannotOpenFile,
      message: "\(path)\(suffix) is a \(kind), where SQLite keeps a file of its own for the store: remove it")
  }

  /// Throws if a new file could not be created or used, which includes the names of companion files. `purpose` is the
  /// participle in the message, as "made" or "replaced".
  package func checkPlace(for purpose: StaticString = "made") throws {
    try checkFolder(purpose)
    let name = truePath.utf8.count - truePath.folderOfPath.utf8.count - (truePath.folderOfPath == "/" ? 0 : 1)
    let longest = ([SupportFolder.topName(ofStore: truePath).utf8.count] + Self.companions.map { name + $0.utf8.count })
    let excess = (longest.max() ?? name) - Int(NAME_MAX)
    guard excess > 0 else { return }
    throw GraphError(
      .cannotOpenFile,
      message:
        "\(path) cannot be \(purpose): the name is too long by \(excess) byte\(excess == 1 ? "" : "s"), since the store's "
        + "journal and folder beside it bear it too")
  }

  /// Throws if the folder of the file does not exist or is not writable.
  private func checkFolder(_ purpose: StaticString) throws {
    let folder = truePath.folderOfPath
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw GraphError(.cannotOpenFile, message: "\(path) cannot be \(purpose): there is no folder \(folder)")
    }
    guard access(folder, W_OK) == 0 else {
      throw GraphError(
        .cannotOpenFile,
        message:
          "\(path) cannot be \(purpose): the folder \(folder) may not be written, and a new file is needed in it: \(String(cString: strerror(errno)))"
      )
    }
  }

  /// Whether both stores would use the same file, including log, journal and support folder. Compared by paths and by
  /// identity of the files.
  package func meets(_ other: StoreFile) -> Bool {
    let files = ([""] + Self.companions).map { truePath + $0 }
    let others = ([""] + Self.companions).map { other.truePath + $0 }
    if !Set(files).isDisjoint(with: others) { return true }
    if let identity = other.identity, files.contains(where: { FileIdentity($0) == identity }) { return true }
    return other.truePath.hasPrefix(SupportFolder(store: truePath).topPath + "/")
      || truePath.hasPrefix(SupportFolder(store: other.truePath).topPath + "/")
  }

  /// Whether the file is writable.
  package var isWritable: Bool { access(truePath, W_OK) == 0 }

  /// The identity of the current file; nil if there is none.
  package var identity: FileIdentity? { FileIdentity(truePath) }

  /// Whether there is a log or journal of a process that is writing, or died while writing. The answer may be outdated
  /// at once; used for messages and for choosing a way of reading.
  var isInUse: Bool { size("-wal") != nil && size("-shm") != nil || hasJournal }

  /// Whether there is a journal that may have to be rolled back. A journal that begins with a zero byte is finished:
  /// SQLite keeps such files in persistent mode, and also checks this byte.
  package var hasJournal: Bool {
    let descriptor = open(truePath + "-journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return (size("-journal") ?? 0) > 0 }
    defer { close(descriptor) }
    var first: UInt8 = 0
    return read(descriptor, &first, 1) == 1 && first != 0
  }

  /// The size of the file, or of a companion file, in bytes; nil if there is none.
  package func size(_ suffix: String) -> Int? {
    var status = stat()
    return stat(truePath + suffix, &status) == 0 ? Int(status.st_size) : nil
  }

  /// A value that changes when the file is written. Sizes, times and inodes of the file and its companions.
  var footprint: [Int] { ([""] + Self.companions).flatMap { FileIdentity.footprint(truePath + $0) } }
}
