public import MoonbasePlatform

#if os(Linux)
  /// Figures of this process by the system.
  public enum ProcessFigures {
    /// The bytes of memory that the process has.
    public static var residentBytes: Int {
      let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
      let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// How often files are open whose paths begin as the path of a store does: the file itself, its log and the log's
    /// index.
    public static func openFiles(of url: URL) -> Int {
      let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      let store = url.resolvingSymlinksInPath().path
      return names.count { name in
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(name)"))?.hasPrefix(store) == true
      }
    }
  }
#endif
