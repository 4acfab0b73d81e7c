import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The destination of rows, which is standard output or a file.
///
/// A file appears under its name when it is complete. Until then, an existing file is unchanged. Pipes and devices are
/// written directly.
final class OutputDestination {
  private let name: String?
  private let successor: Successor?
  /// Nil for standard output, which uses the buffers of C.
  private let descriptor: Int32?

  static var standardOutput: OutputDestination { OutputDestination() }

  private init() { (name, successor, descriptor) = (nil, nil, nil) }

  /// Opens a file. Throws if it exists and is not to be replaced.
  init(file path: String, replacing: Bool) throws {
    name = path
    var status = stat()
    if stat(path, &status) == 0, let kind = FileIdentity.kind(status.st_mode) {
      guard kind != "folder" else {
        throw GraphError(.cannotOpenFile, message: "\(path) is a folder: name a file")
      }
      let opened = open(path, O_WRONLY | O_CLOEXEC)
      guard opened >= 0 else { throw Self.error(path, errno) }
      (successor, descriptor) = (nil, opened)
      return
    }
    let made = try Successor(of: path, .file, replacing: replacing)
    (successor, descriptor) = (made, made.descriptor)
  }

  /// Creates a file in a folder that is not at its final path yet. `name` is the final path of the file.
  init(newFile path: String, named name: String) throws {
    let made = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard made >= 0 else { throw Self.error(name, errno) }
    (self.name, successor, descriptor) = (name, nil, made)
  }

  deinit {
    if successor == nil, let descriptor { close(descriptor) }
  }

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    guard let descriptor, let name else { return Terminal.write(bytes) }
    var rest = bytes
    while let start = rest.baseAddress, !rest.isEmpty {
      let count = MoonbasePlatform.write(descriptor, start, rest.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Self.error(name, errno) }
      rest = UnsafeRawBufferPointer(rebasing: rest[count...])
    }
  }

  /// Completes the file.
  func finish() throws {
    if let successor { return try successor.takePlace() }
    // Pipes and devices cannot be synchronized with a disk.
    if let descriptor, let name, fsync(descriptor) != 0, errno != EINVAL, errno != EROFS {
      throw Self.error(name, errno)
    }
  }

  /// Throws if SIGINT has arrived. For standard output, the signal itself ends the process.
  func checkInterruption() throws {
    guard let name, Interruption.hasCome else { return }
    throw GraphError(.interrupted, message: "interrupted: \(name) was not written")
  }

  private static func error(_ name: String, _ code: Int32) -> GraphError {
    GraphError(.cannotOpenFile, message: "\(name) cannot be written: \(String(cString: strerror(code)))")
  }
}
