@preconcurrency import MoonbaseMeter

#if canImport(Darwin)
  @preconcurrency import Darwin
#else
  @preconcurrency import Glibc
#endif

/// The standard streams of the process, written through C's buffers, so that output of C libraries keeps its order.
package enum StandardStream {
  case output
  case error

  /// Writes bytes. Standard output is flushed before standard error is written. A closed stream is ignored. Waits for a
  /// stream without room until the run on this thread must end.
  package func write(_ bytes: UnsafeRawBufferPointer) {
    switch self {
    case .output: moonbase_stream_write(stdout, bytes.baseAddress, bytes.count)
    case .error:
      Self.flush()
      moonbase_stream_write(stderr, bytes.baseAddress, bytes.count)
    }
  }

  /// Writes text.
  package func write(_ text: String) {
    var text = text
    text.withUTF8 { write(UnsafeRawBufferPointer($0)) }
  }

  /// The time at which a stream passes written data on.
  package enum Buffering {
    case full, line, none
  }

  /// Changes the buffering of the stream for the whole process.
  package func setBuffering(_ mode: Buffering) {
    let number = mode == .full ? _IOFBF : mode == .line ? _IOLBF : _IONBF
    setvbuf(self == .output ? stdout : stderr, nil, Int32(number), 0)
  }

  /// Flushes standard output.
  package static func flush() { _ = moonbase_stream_flush(stdout) }

  /// Discards output without a receiver from now on, for a process whose run was ended.
  package static func giveUpWaiting() { moonbase_stream_give_up() }

  /// Waits for receivers again, for a process that begins another run.
  package static func waitAgain() { moonbase_stream_wait_again() }

  /// Whether output without a receiver is discarded, because a run had to end while waiting.
  package static var hasGivenUp: Bool { moonbase_stream_has_given_up() }

  /// Flushes standard output for the last time. Returns the reason why output was lost; nil if none was.
  package static func failure() -> String? {
    let isFlushed = moonbase_stream_flush(stdout) == 0
    guard !isFlushed || ferror(stdout) != 0 else { return nil }
    return isFlushed || errno == 0 ? "not all could be written" : String(cString: strerror(errno))
  }

  /// Opens placeholders for standard streams that are closed, so that no other file gets their descriptors and receives
  /// the output.
  package static func open() {
    for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] where fcntl(descriptor, F_GETFD) == -1 {
      // Opening uses the lowest free descriptor, which is this one. Reading or writing it fails as before.
      #if canImport(Darwin)
        _ = Darwin.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      #else
        _ = Glibc.open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY)
      #endif
    }
  }
}
