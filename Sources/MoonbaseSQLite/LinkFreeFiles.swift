internal import MoonbaseCSQLite
internal import MoonbasePlatform

/// The databases opened with `withoutLinks`: SQLite's system calls for their files follow no link in any part of the
/// path.
///
/// `SQLITE_OPEN_NOFOLLOW` checks for links before opening a file. Links placed in the path between the check and the
/// call are not followed either, because the system calls themselves are replaced, for these files only.
///
/// Scripts may name files below granted folders; a link in such a folder must not lead outside.
enum LinkFreeFiles {
  /// Marks a path as one of these as long as the object lives.
  final class Hold {
    /// The path as passed to SQLite.
    private let path: String

    /// Counts the path, and installs the calls at the first use in the process.
    init(_ path: String) {
      self.path = path
      _ = isInstalled
      counts.withLock { $0[path, default: 0] += 1 }
    }

    deinit {
      counts.withLock { counts in
        let rest = (counts[path] ?? 1) - 1
        counts[path] = rest > 0 ? rest : nil
      }
    }
  }

  /// The number of connections by path.
  private static let counts = Lock<[String: Int]>([:])

  /// Whether a path belongs to such a database, or to a file that SQLite keeps beside it.
  private static func holds(_ path: String) -> Bool {
    let suffix = ["-journal", "-wal", "-shm"].first { path.hasSuffix($0) } ?? ""
    return counts.withLock { $0[path] != nil || $0[String(path.dropLast(suffix.count))] != nil }
  }

  // MARK: SQLite's calls

  // SQLite stores its system calls as untyped function pointers; `os_unix.c` documents the type of each.
  /// The type of the system call `open`, as SQLite calls it.
  private typealias Open = @convention(c) (UnsafePointer<CChar>?, Int32, Int32) -> Int32
  /// The type of the system call `unlink`.
  private typealias Unlink = @convention(c) (UnsafePointer<CChar>?) -> Int32

  private static let formerOpen: Open? = former("open").map { unsafeBitCast($0, to: Open.self) }  // its type
  private static let formerUnlink: Unlink? = former("unlink").map { unsafeBitCast($0, to: Unlink.self) }  // its type

  /// SQLite's present implementation of a system call.
  private static func former(_ name: String) -> sqlite3_syscall_ptr? {
    guard let system = sqlite3_vfs_find("unix") else { return nil }
    return system.pointee.xGetSystemCall?(system, name)
  }

  /// Replaces the system calls, once in the process. For paths that are not held, the former calls are used.
  private static let isInstalled: Bool = {
    guard formerOpen != nil, formerUnlink != nil, let system = sqlite3_vfs_find("unix"),
      let replace = system.pointee.xSetSystemCall
    else { return false }
    let open: Open = { path, flags, mode in
      guard let path else { return -1 }
      let name = String(cString: path)
      guard LinkFreeFiles.holds(name) else { return LinkFreeFiles.formerOpen?(path, flags, mode) ?? -1 }
      return UnlinkedPath.open(name, flags, mode_t(truncatingIfNeeded: mode))
    }
    let unlink: Unlink = { path in
      guard let path else { return -1 }
      let name = String(cString: path)
      guard LinkFreeFiles.holds(name) else { return LinkFreeFiles.formerUnlink?(path) ?? -1 }
      return UnlinkedPath.remove(name)
    }
    let opening = unsafeBitCast(open, to: sqlite3_syscall_ptr.self)  // SQLite calls it by the type of `Open`
    let unlinking = unsafeBitCast(unlink, to: sqlite3_syscall_ptr.self)  // SQLite calls it by the type of `Unlink`
    return replace(system, "open", opening) == SQLITE_OK && replace(system, "unlink", unlinking) == SQLITE_OK
  }()
}
