internal import MoonbaseMeter

/// Opens by a path whose links were resolved when it was checked. A link that was put into the path since then is not
/// followed: the opened file is the one that was checked.
package enum UnlinkedPath {
  /// Whether the files that are opened here are named by a script, which may open only what it was granted.
  @TaskLocal package static var isRequired = false

  /// Opens a file as `open` does; fails with `ELOOP` where a part of the path is a link.
  package static func open(_ path: String, _ flags: Int32, _ mode: mode_t = 0o666) -> Int32 {
    moonbase_open_without_links(path, flags | O_CLOEXEC, Int32(mode))
  }

  /// Calls `body` with the folder that a path names something in, and with the name; nil where the folder cannot be
  /// opened, with `errno`.
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

  /// Removes a file, or an empty folder; the result is that of `remove`.
  package static func remove(_ path: String) -> Int32 {
    withFolder(of: path) { folder, name in
      if unlinkat(folder, name, 0) == 0 { return 0 }
      // Systems tell differently that it is a folder.
      let failure = errno
      guard failure == EISDIR || failure == EPERM else { return -1 }
      if unlinkat(folder, name, AT_REMOVEDIR) == 0 { return 0 }
      if errno == ENOTDIR { errno = failure }
      return -1
    } ?? -1
  }

  /// Renames as `rename` does.
  package static func rename(_ old: String, to new: String) -> Int32 {
    withFolder(of: old) { from, name in
      withFolder(of: new) { to, newName in renameat(from, name, to, newName) } ?? -1
    } ?? -1
  }
}
