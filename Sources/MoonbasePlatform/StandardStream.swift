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

  /// Hands standard output's buffer to the system.
  package static func flush() { _ = fflush(stdout) }
}
