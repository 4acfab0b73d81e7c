import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore

/// A file or a folder that is written next to its final path, and is moved there in one step when it is complete. If
/// this object is released before that, the file or folder is removed.
///
/// Files that a crashed process has left next to the path are removed by the next `StagedOutput` for the same path. A
/// process that is still working holds a lock.
///
/// `OutputDestination` uses it for files. Exports of whole stores and models with several files use
/// it for folders. `moveIntoPlace` is called once, when all contents are written.
final class StagedOutput {
  /// The kind of output.
  enum Kind {
    /// A single file, or a folder with files.
    case file, folder
  }

  /// The suffix of temporary names.
  private static let suffix = ".export"

  /// The temporary path of the file or folder.
  let path: String
  /// The descriptor for writing the file, or the descriptor of the folder, which holds its lock.
  let descriptor: Int32
  /// The path as the user named it.
  private let name: String
  /// The final path without links.
  private let place: String
  /// Whether a file or a folder is written.
  private let kind: Kind
  /// Whether something existing is replaced.
  private let replaces: Bool
  /// Whether `moveIntoPlace` has succeeded.
  private var isInPlace = false

  /// Creates the temporary file or folder. Throws if something exists at the path and is not to be replaced, or if
  /// nothing can be created there.
  ///
  /// - Parameters:
  ///   - name: The path as the user named it.
  ///   - kind: A file or a folder.
  ///   - replacing: Whether something existing may be replaced.
  /// - Throws: `.cannotOpenFile` with the reason.
  init(of name: String, _ kind: Kind, replacing: Bool) throws {
    (self.name, self.kind) = (name, kind)
    // A link is kept, and its target is replaced.
    place = FileIdentity.truePath(name) ?? Self.placeToBe(name.withoutSlashAtEnd)
    guard !SQLiteStore.isFileOfOpenStore(atPath: place, writing: true) else {
      throw GraphError(
        .cannotOpenFile,
        message: "\(name) is a place of the store that is read, which keeps files there: name another one")
    }
    var status = stat()
    let isThere = lstat(place, &status) == 0
    replaces = replacing && isThere
    guard kind == .folder || replacing || !isThere else {
      throw GraphError(
        .cannotOpenFile, message: "\(name) is there already: name another file, or replace it with --force")
    }
    Self.removeLeft(beside: place, kind)
    path = "\(place)-\(UUID.random().uuidString)\(Self.suffix)"
    descriptor = try Self.make(path, kind, named: name)
    _ = flock(descriptor, LOCK_EX | LOCK_NB)
    if kind == .file, replaces { fchmod(descriptor, status.st_mode & 0o777) }
  }

  /// The path in the folder that the name refers to, without links.
  private static func placeToBe(_ name: String) -> String {
    FileIdentity.truePath(name.folderOfPath).map { "\($0)/\(name.lastPartOfPath)" } ?? name
  }

  /// Removes an incomplete file or folder, and releases the lock.
  deinit {
    if !isInPlace { Self.remove(path, kind) }
    close(descriptor)
  }

  /// Moves the file or folder to its final path in one step: at any time, a process that reads the path finds the old
  /// contents or the new contents.
  ///
  /// - Throws: `.cannotOpenFile` with the reason. The former contents remain then.
  func moveIntoPlace() throws {
    if kind == .file { try check(fsync(descriptor)) }
    if replaces || kind == .folder {
      try kind == .folder && replaces ? exchange() : check(rename(path, place))
    } else if link(path, place) == 0 {
      // Unlike `rename`, `link` does not replace a file that another process has created meanwhile.
      unlink(path)
    } else {
      guard errno != EEXIST else { throw Self.error(name, "somebody else has made it meanwhile") }
      try check(rename(path, place))
    }
    isInPlace = true
    let folder = open(place.folderOfPath, O_RDONLY | O_CLOEXEC)
    fsync(folder)
    close(folder)
  }

  /// Replaces an empty folder directly. Another folder is first moved away, and then removed.
  ///
  /// Between the two steps, the path does not exist for a moment.
  private func exchange() throws {
    if rename(path, place) == 0 { return }
    let former = "\(place)-\(UUID.random().uuidString)\(Self.suffix)"
    try check(rename(place, former))
    if rename(path, place) != 0 {
      let reason = errno
      rename(former, place)
      throw Self.error(name, String(cString: strerror(reason)))
    }
    Self.remove(former, .folder)
  }

  /// Throws the error of the last system call if a status is not 0.
  private func check(_ status: Int32) throws {
    guard status != 0 else { return }
    throw Self.error(name, String(cString: strerror(errno)))
  }

  /// The error for the path with a reason.
  private static func error(_ name: String, _ reason: String) -> GraphError {
    GraphError(.cannotOpenFile, message: "\(name) cannot be written: \(reason)")
  }

  /// Creates the file or folder, and returns its descriptor.
  ///
  /// - Parameters:
  ///   - path: The temporary path.
  ///   - kind: A file or a folder.
  ///   - name: The path for messages.
  private static func make(_ path: String, _ kind: Kind, named name: String) throws -> Int32 {
    if kind == .folder, mkdir(path, 0o777) != 0 { throw error(name, String(cString: strerror(errno))) }
    let descriptor =
      kind == .folder ? open(path, O_RDONLY | O_CLOEXEC) : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
    guard descriptor >= 0 else { throw error(name, String(cString: strerror(errno))) }
    return descriptor
  }

  /// Removes a file, or a folder with its contents.
  private static func remove(_ path: String, _ kind: Kind) {
    if kind == .file { unlink(path) } else { try? FileManager.default.removeItem(atPath: path) }
  }

  /// Removes files of crashed processes. If the lock of a file is free, no process is writing the file.
  ///
  /// - Parameters:
  ///   - place: The final path.
  ///   - kind: A file or a folder.
  private static func removeLeft(beside place: String, _ kind: Kind) {
    let folder = place.folderOfPath
    let prefix = place.lastPartOfPath + "-"
    let length = prefix.utf8.count + UUID().uuidString.utf8.count + suffix.utf8.count
    for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    where name.hasPrefix(prefix) && name.hasSuffix(suffix) && name.utf8.count == length {
      let left = open("\(folder)/\(name)", O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
      guard left >= 0 else { continue }
      if flock(left, LOCK_EX | LOCK_NB) == 0 { remove("\(folder)/\(name)", kind) }
      close(left)
    }
  }
}

extension String {
  /// The path without slashes at its end. The root stays as it is.
  fileprivate var withoutSlashAtEnd: String {
    var path = self
    while path.utf8.count > 1, path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
    return path
  }
}
