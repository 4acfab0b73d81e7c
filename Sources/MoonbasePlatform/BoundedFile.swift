/// Reads whole files up to a limit. Oversized files, devices and pipes are detected before reading.
package enum BoundedFile {
  /// The reason why a file was not read.
  package enum Failure: Error {
    /// The file is larger than the limit.
    case tooLarge(limit: Int)
    /// The path is a folder.
    case folder
    /// The path is a pipe, a device or a socket, which may never end.
    case special
    /// The system's error number.
    case system(Int32)

    /// The reason in words, without the file's name.
    package var reason: String {
      switch self {
      case .tooLarge(let limit): "it is larger than \(limit) bytes"
      case .folder: "it is a folder"
      case .special: "it is a pipe or a device; a file is expected"
      case .system(let number): String(cString: strerror(number))
      }
    }
  }

  /// The bytes of a file. A path below `/dev/fd`, which names a descriptor opened by the caller of the program, may be
  /// a pipe.
  package static func read(_ path: String, limit: Int) throws(Failure) -> [UInt8] {
    let isOpened = isOpened(path) && !UnlinkedPath.isRequired
    // A pipe without a writer would block `open`.
    let file = opened(path, isOpened ? 0 : O_NONBLOCK)
    guard file >= 0 else { throw .system(errno) }
    defer { close(file) }
    return try read(file, limit: limit, takesPipes: isOpened)
  }

  /// Whether a path names a descriptor that the caller of the program opened.
  package static func isOpened(_ path: String) -> Bool {
    ["/dev/stdin", "/dev/stdout", "/dev/stderr"].contains(path) || path.hasPrefix("/dev/fd/")
      || path.hasPrefix("/proc/self/fd/")
  }

  /// The first bytes of a file, at most `count`.
  package static func beginning(of path: String, count: Int) throws(Failure) -> [UInt8] {
    let file = opened(path, O_NONBLOCK)
    guard file >= 0 else { throw .system(errno) }
    defer { close(file) }
    return Array(try piece(of: file)?.prefix(count) ?? [])
  }

  private static func opened(_ path: String, _ flags: Int32) -> Int32 {
    let flags = O_RDONLY | O_CLOEXEC | flags
    return UnlinkedPath.isRequired ? UnlinkedPath.open(path, flags) : open(path, flags)
  }

  /// The bytes of a descriptor up to its end.
  package static func read(_ file: Int32, limit: Int, takesPipes: Bool = true) throws(Failure) -> [UInt8] {
    var status = stat()
    guard fstat(file, &status) == 0 else { throw .system(errno) }
    switch status.st_mode & S_IFMT {
    case S_IFREG: if status.st_size > limit { throw .tooLarge(limit: limit) }
    case S_IFDIR: throw .folder
    default: if !takesPipes { throw .special }
    }
    var bytes: [UInt8] = []
    while let piece = try piece(of: file) {
      bytes += piece
      // Checked again after reading, because a file may grow, and a pipe has no size.
      if bytes.count > limit { throw .tooLarge(limit: limit) }
    }
    return bytes
  }

  private static func piece(of file: Int32) throws(Failure) -> [UInt8]? {
    while true {
      var count = 0
      let piece = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, initialized in
        count = MoonbasePlatform.read(file, buffer.baseAddress, buffer.count)
        initialized = max(count, 0)
      }
      if count < 0 && errno == EINTR { continue }
      guard count >= 0 else { throw .system(errno) }
      return count == 0 ? nil : piece
    }
  }
}
