#if canImport(Darwin)
  @preconcurrency import Darwin
#else
  @preconcurrency import Glibc
#endif

/// The standard streams of the process, through C's own buffers: what a C library prints keeps its place among our lines.
package enum StandardStream {
  case output
  case error

  /// Writes bytes. What was written to standard output before stands before what goes to standard error. A stream that takes
  /// nothing any more is no reason to stop.
  package func write(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .output: _ = fwrite(bytes.baseAddress, 1, bytes.count, stdout)
    case .error:
      Self.flush()
      _ = fwrite(bytes.baseAddress, 1, bytes.count, stderr)
    }
  }

  /// Writes text.
  package func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// When a stream hands on what is written to it.
  package enum Buffering {
    case full, line, none
  }

  /// Changes when the stream hands on what is written to it, for everybody who writes to it.
  package func setBuffering(_ mode: Buffering) {
    let number = mode == .full ? _IOFBF : mode == .line ? _IOLBF : _IONBF
    setvbuf(self == .output ? stdout : stderr, nil, Int32(number), 0)
  }

  /// Hands standard output's buffer to the system.
  package static func flush() { _ = fflush(stdout) }

  /// Flushes standard output for the last time; returns why something written to it did not arrive, or nil.
  package static func failure() -> String? {
    let isFlushed = fflush(stdout) == 0
    guard !isFlushed || ferror(stdout) != 0 else { return nil }
    return isFlushed || errno == 0 ? "not all could be written" : String(cString: strerror(errno))
  }

  /// Opens what stands in for standard streams that the process was started without, so that no file takes their place and
  /// gets what is printed.
  package static func open() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // Opening takes the lowest number that is free, which is this one. Reading and writing it fails as it did before.
      #if canImport(Darwin)
        _ = Darwin.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      #else
        _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      #endif
    }
  }
}
