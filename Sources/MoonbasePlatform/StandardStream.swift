@preconcurrency import MoonbaseMeter

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
  /// nothing any more is no reason to stop; one that has no room is waited for until the run on this thread must end.
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
  package static func flush() { _ = moonbase_stream_flush(stdout) }

  /// Drops from now on what nobody takes, for a process whose run was ended.
  package static func giveUpWaiting() { moonbase_stream_give_up() }

  /// Waits for those who take the output again, for a process that begins another run.
  package static func waitAgain() { moonbase_stream_wait_again() }

  /// Whether what nobody takes is dropped: a run had to end while it waited for that.
  package static var hasGivenUp: Bool { moonbase_stream_has_given_up() }

  /// Flushes standard output for the last time; returns why something written to it did not arrive, or nil.
  package static func failure() -> String? {
    let isFlushed = moonbase_stream_flush(stdout) == 0
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
