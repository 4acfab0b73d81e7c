/// The identity of a file, the same for all its links.
package struct FileIdentity: Hashable, Sendable {
  private let device: UInt64
  private let number: UInt64

  /// The identity in a file's status.
  package init(_ status: stat) {
    device = UInt64(status.st_dev)
    number = UInt64(status.st_ino)
  }

  /// The file at a path, with links followed; nil if it does not exist.
  package init?(_ path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The file behind a descriptor.
  package init?(descriptor: Int32) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    self.init(status)
  }

  /// The path with all links resolved; nil if it does not exist.
  package static func truePath(_ path: String) -> String? {
    guard let pointer = realpath(path, nil) else { return nil }
    defer { free(pointer) }
    return String(cString: pointer)
  }

  /// The kind of a file; nil for a regular file.
  package static func kind(_ mode: mode_t) -> String? {
    switch mode & S_IFMT {
    case S_IFREG: nil
    case S_IFDIR: "folder"
    case S_IFLNK: "link"
    case S_IFIFO: "pipe"
    case S_IFSOCK: "socket"
    default: "device"
    }
  }

  /// The kind of the file at a path; nil for a regular file and for a missing file.
  package static func kind(_ path: String) -> String? {
    var status = stat()
    return stat(path, &status) == 0 ? kind(status.st_mode) : nil
  }

  /// Numbers of which at least one changes when a file is written or replaced.
  package static func footprint(_ path: String) -> [Int] {
    var status = stat()
    guard stat(path, &status) == 0 else { return [-1] }
    let time = modification(status)
    return [Int(truncatingIfNeeded: status.st_ino), Int(status.st_size), time.tv_sec, time.tv_nsec]
  }

  /// Whether a file was written within the last 20 milliseconds, which the clock of its file system may not resolve.
  package static func isFresh(_ path: String) -> Bool {
    var status = stat()
    var now = timespec()
    guard stat(path, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return false }
    let time = modification(status)
    // Any date may have been set, and two dates may be further apart than an integer counts nanoseconds.
    let (seconds, isFar) = now.tv_sec.subtractingReportingOverflow(time.tv_sec)
    guard !isFar, abs(seconds) < 2 else { return seconds < 0 }
    return seconds * 1_000_000_000 + now.tv_nsec - time.tv_nsec < 20_000_000
  }

  /// The modification time of a file.
  package static func modification(_ status: stat) -> timespec {
    #if canImport(Darwin)
      status.st_mtimespec
    #else
      status.st_mtim
    #endif
  }
}
