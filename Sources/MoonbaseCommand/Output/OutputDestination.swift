import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// Where rows go: standard output, or a file.
///
/// A file appears under its name when it is whole; what was there stays until then. Pipes and devices are written as they are.
final class OutputDestination {
  private let name: String?
  private let successor: Successor?
  /// Nil for standard output, which has C's own buffers.
  private let descriptor: Int32?

  static var standardOutput: OutputDestination { OutputDestination() }

  private init() { (name, successor, descriptor) = (nil, nil, nil) }

  /// A file. What is there already stays, unless it is to be replaced.
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

  /// A file of a folder that is not in its place yet; `name` is what it will be called there.
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

  /// All is written.
  func finish() throws {
    if let successor { return try successor.takePlace() }
    // Pipes and devices have nothing to bring to a disk.
    if let descriptor, let name, fsync(descriptor) != 0, errno != EINVAL, errno != EROFS {
      throw Self.error(name, errno)
    }
  }

  /// Ends the work where SIGINT has come; standard output is left to the signal itself.
  func checkInterruption() throws {
    guard let name, Interruption.hasCome else { return }
    throw GraphError(.interrupted, message: "interrupted: \(name) was not written")
  }

  private static func error(_ name: String, _ code: Int32) -> GraphError {
    GraphError(.cannotOpenFile, message: "\(name) cannot be written: \(String(cString: strerror(code)))")
  }
}
