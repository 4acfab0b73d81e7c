internal import MoonbaseMeter

/// Opens files by paths whose links were resolved when they were checked. A link placed in the path since then is not
/// followed, so the opened file is the checked one.
package enum UnlinkedPath {
  /// Whether the files opened in this task are named by a script, which may open only granted files.
  @TaskLocal package static var isRequired = false

  /// Opens a file as `open` does. Fails with `ELOOP` if a part of the path is a link.
  package static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0o666) -> Int32 {
    moonbase_open_without_links(path, flags | O_CLOEXEC, Int32(mode))
  }

  /// Calls `body` with the folder of a path and the last component; nil with `errno` if the folder cannot be opened.
  package static func withFolder<Result>(of path: String, _ body: (_ folder: Int32, _ name: String) -> Result)
    -> Result?
  {
    let folder = open(path.folderOfPath, O_RDONLY | O_DIRECTORY)
    guard folder >= 0 else { return nil }
    let result = body(folder, path.lastPartOfPath)
    let failure = errno
    close(folder)
    errno = failure
    return result
  }

  /// Removes a file or an empty folder. Returns the result of `remove`.
  package static func remove(_ path: String) -> Int32 {
    withFolder(of: path) { folder, name in
      if unlinkat(folder, name, 0) == 0 { return 0 }
      // Systems report differently that it is a folder.
      let failure = errno
      guard failure == EISDIR || failure == EPERM else { return -1 }
      if unlinkat(folder, name, AT_REMOVEDIR) == 0 { return 0 }
      if errno == ENOTDIR { errno = failure }
      return -1
    } ?? -1
  }

  /// Renames a file as `rename` does.
  package static func rename(_ old: String, to new: String) -> Int32 {
    withFolder(of: old) { from, name in
      withFolder(of: new) { to, newName in renameat(from, name, to, newName) } ?? -1
    } ?? -1
  }
}
