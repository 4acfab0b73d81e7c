import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform

/// The destination of rows, which is standard output or a file.
///
/// A file appears under its name when it is complete. Until then, an existing file is unchanged. Pipes and devices are
/// written directly.
///
/// The order of calls is: `write` any number of times, then `finish` once. Without `finish`, the
/// new file is removed and the old file remains.
final class OutputDestination {
  /// The path as the user named it, or nil for standard output.
  private let name: String?
  /// The temporary file beside the final path, or nil for a direct destination.
  private let successor: StagedOutput?
  /// Nil for standard output, which uses the buffers of C.
  private let descriptor: Int32?

  /// The standard output of the command.
  static var standardOutput: OutputDestination { OutputDestination() }

  /// Creates the destination for standard output.
  private init() { (name, successor, descriptor) = (nil, nil, nil) }

  /// Opens a file. Throws if it exists and is not to be replaced.
  ///
  /// - Parameters:
  ///   - path: The path of the file.
  ///   - replacing: Whether an existing file may be replaced.
  /// - Throws: `.cannotOpenFile` for a folder, an existing file, or a missing permission.
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
    let made = try StagedOutput(of: path, .file, replacing: replacing)
    (successor, descriptor) = (made, made.descriptor)
  }

  /// Creates a file in a folder that is not at its final path yet. `name` is the final path of the file.
  ///
  /// - Parameters:
  ///   - path: The current path.
  ///   - name: The final path, for messages.
  /// - Throws: `.cannotOpenFile` if the file cannot be created.
  init(newFile path: String, named name: String) throws {
    let made = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
    guard made >= 0 else { throw Self.error(name, errno) }
    (self.name, successor, descriptor) = (name, nil, made)
  }

  /// Closes the file, unless the successor owns the descriptor.
  deinit {
    if successor == nil, let descriptor { close(descriptor) }
  }

  /// Writes all bytes.
  ///
  /// - Throws: `.cannotOpenFile` with the reason, for example a full disk.
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
  ///
  /// The file is synchronized with the disk and then moved to its path.
  func finish() throws {
    if let successor { return try successor.moveIntoPlace() }
    // Pipes and devices cannot be synchronized with a disk.
    if let descriptor, let name, fsync(descriptor) != 0, errno != EINVAL, errno != EROFS {
      throw Self.error(name, errno)
    }
  }

  /// Throws if SIGINT has arrived. For standard output, the signal itself ends the process.
  ///
  /// - Throws: `.interrupted`. Afterwards, the destination must be released without `finish`.
  func checkInterruption() throws {
    guard let name, Interruption.hasCome else { return }
    throw GraphError(.interrupted, message: "interrupted: \(name) was not written")
  }

  /// The error for a system error number.
  private static func error(_ name: String, _ code: Int32) -> GraphError {
    GraphError(.cannotOpenFile, message: "\(name) cannot be written: \(String(cString: strerror(code)))")
  }
}
