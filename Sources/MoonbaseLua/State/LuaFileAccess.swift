public import MoonbasePlatform

/// Grants scripts files and variables of the environment. What is not granted does not exist for them.
///
/// ```swift
/// try state.openFiles(LuaFileAccess(readable: [assets], writable: [output], variables: ["HOME"]))
/// ```
public struct LuaFileAccess: Sendable, Hashable {
  /// The files, and folders with all below them, that may be read.
  public var readablePaths: [String]
  /// The files, and folders with all below them, that may be written, removed and renamed; they may be read too.
  public var writablePaths: [String]
  /// The variables that `os.getenv` knows.
  public var variables: Set<String>

  /// Whether it is granted to one extension, which no option of the command widens.
  package var isOfExtension = false

  /// Grants what is given and nothing else.
  public init(readable: [URL] = [], writable: [URL] = [], variables: Set<String> = []) {
    self.init(readablePaths: readable.map(\.path), writablePaths: writable.map(\.path), variables: variables)
  }

  /// Grants what is given and nothing else.
  public init(readablePaths: [String], writablePaths: [String], variables: Set<String> = []) {
    self.readablePaths = readablePaths
    self.writablePaths = writablePaths
    self.variables = variables
  }

  /// Whether a file may be read, or written.
  public func allows(_ path: String, writing: Bool) -> Bool { self.path(path, writing: writing) != nil }

  /// The path, with links resolved, of a file that may be read, or written; nil where it is not granted.
  ///
  /// The last part need not exist. Where it is a link, the target of the link has to be granted.
  func path(_ path: String, writing: Bool) -> String? {
    guard Self.isPath(path), let resolved = Self.resolve(path) else { return nil }
    return grants(resolved, writing: writing) ? resolved : nil
  }

  /// The path of an entry of a folder that may be removed or renamed: links in the way to it are resolved, and the entry itself
  /// is not followed where it is one. Nil where it is not granted.
  func entry(_ path: String) -> String? {
    guard Self.isPath(path), let resolved = Self.resolveFolder(of: path) else { return nil }
    return grants(resolved, writing: true) ? resolved : nil
  }

  private func grants(_ resolved: String, writing: Bool) -> Bool {
    let roots = writing ? writablePaths : readablePaths + writablePaths
    return roots.contains { Self.holds(Self.resolve($0), path: resolved) }
  }

  /// The path by which a file that may be read, or written, is to be opened so that no link is followed any more; nil
  /// where it is not granted. A path without links stays as it is.
  public func place(_ path: String, writing: Bool) -> String? {
    guard let resolved = self.path(path, writing: writing) else { return nil }
    let isUnlinked = resolved == path || Self.real(".").map { "\($0)/\(path)" } == resolved
    return isUnlinked ? path : resolved
  }

  /// The folder that is missing, where a file would be granted if its folder existed; else nil.
  public func missingFolder(of path: String, writing: Bool) -> String? {
    guard Self.isPath(path), Self.resolve(path) == nil else { return nil }
    let missing = path.folderOfPath
    var folder = missing
    while Self.real(folder) == nil {
      guard folder != "/", folder != ".", folder.lastPartOfPath != ".." else { return nil }
      folder = folder.folderOfPath
    }
    return folder != missing && self.path(folder, writing: writing) != nil ? missing : nil
  }

  /// Whether the system would take it for a path. Nothing is made of a text that is longer than any.
  private static func isPath(_ path: String) -> Bool {
    !path.isEmpty && path.utf8.count < PATH_MAX && !path.utf8.contains(0)
  }

  private static func holds(_ root: String?, path: String) -> Bool {
    guard let root else { return false }
    return path == root || root == "/" || path.hasPrefix(root + "/")
  }

  private static func resolve(_ path: String) -> String? {
    if let whole = real(path) { return whole }
    // Creating a file follows a link that leads nowhere, and the target of such a link was not checked.
    var status = stat()
    guard lstat(path, &status) != 0 else { return nil }
    return resolveFolder(of: path)
  }

  /// The path with links resolved but for its last part, which need not exist.
  private static func resolveFolder(of path: String) -> String? {
    // A slash at the end stands for what a link leads to.
    guard !path.hasSuffix("/") else { return real(path) }
    // As in the system's own lookup, the part before a ".." may be a link.
    let name = path.lastPartOfPath
    guard name != "..", name != ".", let folder = real(path.folderOfPath) else { return nil }
    return folder == "/" ? "/" + name : folder + "/" + name
  }

  private static func real(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }
}

/// Refuses files that scripts must leave alone, whatever they are granted, because the program itself uses them. An example are the
/// files of a database: its locks go when any part of the process closes a descriptor of such a file.
///
/// ```swift
/// struct DatabaseGuard: LuaFileGuard {
///   func refuses(path: String, writing: Bool) -> Bool { path.hasSuffix(".sqlite") }
///   func refuses(descriptor: Int32) -> Bool { false }
/// }
/// try state.openFiles(access, guardian: DatabaseGuard())
/// ```
public protocol LuaFileGuard: Sendable {
  /// Whether a file must not be read, or written. Its path holds no links; the file need not exist.
  func refuses(path: String, writing: Bool) -> Bool
  /// Whether the file behind a descriptor, which a script opened earlier, must be neither written nor closed.
  func refuses(descriptor: Int32) -> Bool
}
