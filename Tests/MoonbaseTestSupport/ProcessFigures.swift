public import MoonbasePlatform

#if os(Linux)
  /// Figures of the system about this process.
  public enum ProcessFigures {
    /// The resident memory of the process in bytes.
    public static var residentBytes: Int {
      let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
      let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
      return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The number of open files whose paths begin with the path of a store: the file itself, its log and the log's
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
