import MoonbaseModel
import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite

/// A store's file before SQLite touches it.
///
/// Nothing here opens the file except through SQLite: closing a descriptor of a file drops all locks that the process holds
/// on it, those of a store that is open already included.
struct StoreFile: Sendable {
  /// The path as it was given, made absolute, for messages. A `..` in it is for the file system to follow, because what stands
  /// before it may be a link.
  let path: String
  /// The file that the path leads to, links resolved as SQLite resolves them: log, journal and support folder lie beside it.
  let truePath: String
  /// How long a connection waits for other processes that lock the file.
  let busyTimeout: Duration
  /// The path as it was given.
  private let given: String
  /// Whether a script named it, whose grants were looked at: no link leads elsewhere since then.
  private let isUnlinked = UnlinkedPath.isRequired
  /// Whether the path ends with a slash, as that of a folder.
  private let namesFolder: Bool
  /// Whether the path had a zero byte, which a URL writes as %00 and forgets; a per cent sign it writes as %25.
  private let hasZeroByte: Bool

  var url: URL { URL(fileURLWithPath: path) }

  /// What lies beside a store's file while it is in use.
  static let companions = ["-wal", "-shm", "-journal"]

  enum State {
    case absent
    /// It is there and has no bytes.
    case empty
    /// It has contents.
    case present
  }

  init(url: URL, busyTimeout: Duration? = nil) {
    self.busyTimeout = busyTimeout ?? SQLiteStoreOptions().busyTimeout
    given = url.relativePath
    namesFolder = url.hasDirectoryPath
    hasZeroByte = url.relativeString.contains("%00")
    path = url.pathAsGiven
    truePath = Self.resolve(path)
  }

  /// A file that is not there yet may be named by a link that leads to where it will be, and its folder may be a link.
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

  // MARK: What is there

  /// Throws where there is no store: no file, or an empty one.
  func requirePresent() throws {
    switch try state() {
    case .absent: throw StoreOpener.missing(self)
    case .empty: throw StoreOpener.bare(self)
    case .present: break
    }
  }

  /// How a connection is opened to it.
  func mode(_ mode: Connection.Mode) -> Connection.Mode { isUnlinked ? mode.union(.withoutLinks) : mode }

  /// Looks at what kind of file it is. Throws for folders, pipes and all else that is no file, and for unreadable files.
  func state() throws -> State {
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

  /// What means something else to SQLite's own tools is hardly meant as the name of a file.
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

  /// A slash at the end stands behind folders: a file beside it, whose name has none, is another one.
  private func checkIsNoFolder() throws {
    guard namesFolder else { return }
    throw GraphError(
      .cannotOpenFile,
      message: "\(path)/ names a folder, by the slash at its end: a store is a file, so name it without")
  }

  /// SQLite would follow a link to where it leads, and wait at a pipe for ever.
  private func checkCompanion(_ suffix: String) throws {
    var status = stat()
    guard lstat(truePath + suffix, &status) == 0 else { return }
    // SQLite writes to it, even where the store is only read, and so to the file under its other name.
    guard let kind = FileIdentity.kind(status.st_mode) ?? (status.st_nlink > 1 ? "second name of another file" : nil)
    else { return }
    throw GraphError(
      .cannotOpenFile,
      message: "\(path)\(suffix) is a \(kind), where SQLite keeps a file of its own for the store: remove it")
  }

  /// Fails where a new file could not be made, or not be used: what lies beside it needs a name too.
  func checkPlace(for purpose: StaticString = "made") throws {
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

  /// Whether another store would have a file where this one has its own, log, journal and support folder included.
  func meets(_ other: StoreFile) -> Bool {
    let files = ([""] + Self.companions).map { truePath + $0 }
    let others = ([""] + Self.companions).map { other.truePath + $0 }
    if !Set(files).isDisjoint(with: others) { return true }
    if let identity = other.identity, files.contains(where: { FileIdentity($0) == identity }) { return true }
    return other.truePath.hasPrefix(SupportFolder(store: truePath).topPath + "/")
      || truePath.hasPrefix(SupportFolder(store: other.truePath).topPath + "/")
  }

  /// Whether the file may be written.
  var isWritable: Bool { access(truePath, W_OK) == 0 }

  /// Which file it is now; nil for none.
  var identity: FileIdentity? { FileIdentity(truePath) }

  /// Whether a log or a journal lies beside it that belongs to a process that writes, or that died writing.
  var isInUse: Bool { size("-wal") != nil && size("-shm") != nil || hasJournal }

  /// Whether there is a journal that may have to be rolled back. One that begins with a zero is done with: SQLite leaves such
  /// a file where it keeps its journals, and looks at this byte too.
  var hasJournal: Bool {
    let descriptor = open(truePath + "-journal", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return (size("-journal") ?? 0) > 0 }
    defer { close(descriptor) }
    var first: UInt8 = 0
    return read(descriptor, &first, 1) == 1 && first != 0
  }

  func size(_ suffix: String) -> Int? {
    var status = stat()
    return stat(truePath + suffix, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Changes when the file is written.
  var footprint: [Int] { ([""] + Self.companions).flatMap { FileIdentity.footprint(truePath + $0) } }
}
