public import MoonbasePlatform

/// The files and environment variables granted to scripts. Everything else is hidden from them.
///
/// ```swift
/// try state.openFiles(LuaFileAccess(readable: [assets], writable: [output], variables: ["HOME"]))
/// ```
///
/// Checks resolve links before they compare paths. Links that appear later are refused by the opening itself
/// (`LuaFile`). A value can be compared; equal grants share a library.
public struct LuaFileAccess: Sendable, Hashable {
  /// The files that may be read. A folder grants everything below it.
  public var readablePaths: [String]
  /// The files that may be read, written, removed and renamed. A folder grants everything below it.
  public var writablePaths: [String]
  /// The variables available to `os.getenv`.
  public var variables: Set<String>

  /// Whether the grant is for an extension. Options of the command do not extend such grants.
  package var isOfExtension = false

  /// Grants these files and variables only.
  public init(readable: [URL] = [], writable: [URL] = [], variables: Set<String> = []) {
    self.init(readablePaths: readable.map(\.path), writablePaths: writable.map(\.path), variables: variables)
  }

  /// Grants these files and variables only.
  public init(readablePaths: [String], writablePaths: [String], variables: Set<String> = []) {
    self.readablePaths = readablePaths
    self.writablePaths = writablePaths
    self.variables = variables
  }

  /// Whether a file may be read or written. Relative paths are relative to the working directory.
  public func allows(_ path: String, writing: Bool) -> Bool { self.path(path, writing: writing) != nil }

  /// The resolved path of a file that may be read or written; nil if not granted.
  ///
  /// The last component need not exist. If it is a link, the link's target must be granted.
  func path(_ path: String, writing: Bool) -> String? {
    guard Self.isPath(path), let resolved = Self.resolve(path) else { return nil }
    return grants(resolved, writing: writing) ? resolved : nil
  }

  /// The path of a folder's entry that may be removed or renamed. Links in the path are resolved, except the entry
  /// itself. Nil if not granted.
  func entry(_ path: String) -> String? {
    guard Self.isPath(path), let resolved = Self.resolveFolder(of: path) else { return nil }
    return grants(resolved, writing: true) ? resolved : nil
  }

  /// A writable folder may be read, too.
  private func grants(_ resolved: String, writing: Bool) -> Bool {
    let roots = writing ? writablePaths : readablePaths + writablePaths
    return roots.contains { Self.holds(Self.resolve($0), path: resolved) }
  }

  /// A path for opening a file that may be read or written, without links to follow; nil if not granted. A path without
  /// links is unchanged.
  public func place(_ path: String, writing: Bool) -> String? {
    guard let resolved = self.path(path, writing: writing) else { return nil }
    let isUnlinked = resolved == path || Self.real(".").map { "\($0)/\(path)" } == resolved
    return isUnlinked ? path : resolved
  }

  /// The missing folder, if the file would be granted if its folder existed; nil otherwise.
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

  /// Whether the system accepts the text as a path. Texts that are too long are not processed further.
  private static func isPath(_ path: String) -> Bool {
    !path.isEmpty && path.utf8.count < PATH_MAX && !path.utf8.contains(0)
  }

  /// Whether a path is the root or below it. Both have no links.
  private static func holds(_ root: String?, path: String) -> Bool {
    guard let root else { return false }
    return path == root || root == "/" || path.hasPrefix(root + "/")
  }

  /// The path without links; nil for a dangling link.
  private static func resolve(_ path: String) -> String? {
    if let whole = real(path) { return whole }
    // Creating a file follows a dangling link, whose target was not checked.
    var status = stat()
    guard lstat(path, &status) != 0 else { return nil }
    return resolveFolder(of: path)
  }

  /// The path with links resolved except in its last component, which need not exist.
  private static func resolveFolder(of path: String) -> String? {
    // A trailing slash resolves a link.
    guard !path.hasSuffix("/") else { return real(path) }
    // As in the system's lookup, the component before a ".." may be a link.
    let name = path.lastPartOfPath
    guard name != "..", name != ".", let folder = real(path.folderOfPath) else { return nil }
    return folder == "/" ? "/" + name : folder + "/" + name
  }

  /// The system's `realpath`.
  private static func real(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }
}

/// Refuses files that the program itself uses, even if they are granted to scripts. An example are the files of a
/// database: its locks are released when any part of the process closes a descriptor of such a file.
///
/// ```swift
/// struct DatabaseGuard: LuaFileGuard {
///   func refuses(path: String, writing: Bool) -> Bool { path.hasSuffix(".sqlite") }
///   func refuses(descriptor: Int32) -> Bool { false }
/// }
/// try state.openFiles(access, guardian: DatabaseGuard())
/// ```
public protocol LuaFileGuard: Sendable {
  /// Whether a file must not be read or written. Its path has no links; the file need not exist.
  func refuses(path: String, writing: Bool) -> Bool
  /// Whether the file of a descriptor, which a script opened earlier, must not be written or closed.
  func refuses(descriptor: Int32) -> Bool
}
