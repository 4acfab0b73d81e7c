import MoonbasePlatform

/// A source of an input's bytes.
///
/// Sources form a chain: `FileSource` reads a descriptor, `GzipSource` unpacks, `EncodedSource`
/// converts the text encoding, and `InputBytes` at the end keeps a window. Each import owns one
/// chain and uses it on its own thread.
protocol ByteSource: AnyObject {
  /// Reads at most `count` bytes; returns 0 at the end.
  ///
  /// The target has room for `count` bytes. Fewer bytes than asked for do not mean the end. Throws
  /// `InputError.unreadable`, and `.interrupted` if the run must end while it waits.
  func read(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int
}

/// A file or a pipe.
///
/// Reads with the system call `read`, which is repeated after a signal. A descriptor of a pipe or a
/// terminal gets an `InputWait`, so that an interruption ends the wait.
final class FileSource: ByteSource {
  /// The file descriptor, positioned at the beginning of the data.
  private let descriptor: Int32
  /// Whether this source owns the descriptor and closes it in `deinit`.
  private let closes: Bool
  /// Waits for data; nil for a file.
  private let wait: InputWait?

  /// `closes` says whether the descriptor is closed at the end.
  ///
  /// A source of an open descriptor.
  init(_ descriptor: Int32, closes: Bool, _ wait: InputWait?) {
    (self.descriptor, self.closes, self.wait) = (descriptor, closes, wait)
  }

  deinit { if closes { close(descriptor) } }

  func read(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int {
    while true {
      try wait?.wait(for: descriptor)
      let read = MoonbasePlatform.read(descriptor, target, count)
      if read < 0, errno == EINTR { continue }
      guard read >= 0 else { throw InputError.unreadable(String(cString: strerror(errno))) }
      return read
    }
  }
}
