import MoonbasePlatform

/// A source of an input's bytes.
protocol ByteSource: AnyObject {
  /// Reads at most `count` bytes; returns 0 at the end.
  func read(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int
}

/// A file or a pipe.
final class FileSource: ByteSource {
  private let descriptor: Int32
  private let closes: Bool
  /// Waits for data; nil for a file.
  private let wait: InputWait?

  /// `closes` says whether the descriptor is closed at the end.
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
