import MoonbasePlatform

/// A copy of an input that can be read once, in a temporary file that ends with the process.
///
/// `moonbase import --infer` reads its input twice: once for the model, once for the rows. The
/// temporary file is unlinked at once, so nothing remains after a crash. The object owns the
/// descriptor.
package final class InputSpool {
  /// The descriptor of the copy, for reading and writing.
  let descriptor: Int32
  /// The identity of the content for later runs: its length and its 64-bit hash (FNV-1a).
  private var size: Int64 = 0
  /// The hash of the bytes so far.
  private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

  /// The text that the ledger records: the length and the hash.
  var fingerprint: String { "\(size) \(hash)" }

  /// Copies standard input or a pipe; nil for a file, which can be read again.
  ///
  /// Throws `ImportError` if the input cannot be read or the copy cannot be written.
  package convenience init?(of path: String?, _ wait: InputWait) throws {
    var status = stat()
    let isThere = path.map { stat($0, &status) == 0 } ?? (fstat(STDIN_FILENO, &status) == 0)
    // All other kinds of files are refused when they are opened.
    guard isThere, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) || path == nil else { return nil }
    try self.init(taking: path, wait)
  }

  /// Copies the input until its end.
  private init(taking path: String?, _ wait: InputWait) throws {
    let name = path ?? "standard input"
    let source = path.map { open($0, O_RDONLY | O_CLOEXEC) } ?? STDIN_FILENO
    guard source >= 0 else { throw ImportError(message: "\(name): \(String(cString: strerror(errno)))") }
    defer { if path != nil { close(source) } }
    let folder = FileManager.default.temporaryDirectory.path
    let place = "\(folder)/moonbase-\(UUID.random().uuidString)"
    descriptor = open(place, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw Self.failure(name, folder) }
    unlink(place)
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    while true {
      do { try wait.wait(for: source) } catch let error as InputError { throw ImportInput.error(error, path) }
      let count = read(source, buffer.baseAddress, buffer.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw ImportError(message: "\(name): \(String(cString: strerror(errno)))") }
      if count == 0 { return }
      for byte in buffer[..<count] { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
      size += Int64(count)
      var written = 0
      while written < count {
        let step = write(descriptor, buffer.baseAddress.map { $0 + written }, count - written)
        if step < 0, errno == EINTR { continue }
        guard step > 0 else { throw Self.failure(name, folder) }
        written += step
      }
    }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The error of the temporary folder.
  private static func failure(_ name: String, _ folder: String) -> ImportError {
    ImportError(
      message:
        "\(name) is read twice, and kept in \(folder) until then: \(String(cString: strerror(errno))); TMPDIR names another folder"
    )
  }
}
