import MoonbasePlatform

/// Reads lines of limited length, suitable for display.
///
/// The commands read answers and lists of names with it. A line longer than `longest` is an error,
/// so that a stream without line ends cannot fill the memory.
package final class InputLines {
  /// The most bytes of a line.
  package static let longest = 64 << 10
  /// The window on the descriptor.
  private let bytes: InputBytes
  /// The number of the current line, from 1.
  private var line: Int64 = 0

  /// The lines of a descriptor, which is not closed.
  package init(_ descriptor: Int32, _ wait: InputWait) { bytes = InputBytes(descriptor, closes: false, wait) }

  /// The next line, without its end; nil after the last line. Invalid UTF-8 is replaced.
  ///
  /// Throws an error with code `.interrupted`, and `ImportError`.
  package func next() throws -> String? {
    line += 1
    do {
      guard let length = try lengthOfLine() else { return nil }
      let start = UnsafeRawBufferPointer(start: bytes.base + bytes.start, count: length)
      let text = String(decoding: start, as: UTF8.self)
      bytes.advance(by: min(bytes.count, length + 1))
      return text
    } catch let error as InputError {
      throw ImportInput.error(error, nil)
    }
  }

  /// The length of the next line in bytes; nil at the end.
  private func lengthOfLine() throws -> Int? {
    var from = 0
    while true {
      if let found = memchr(bytes.base + bytes.start + from, 10, bytes.count - from) {
        let length = found.assumingMemoryBound(to: UInt8.self) - (bytes.base + bytes.start)
        guard length <= Self.longest else { throw tooLong }
        return length
      }
      from = bytes.count
      guard from <= Self.longest else { throw tooLong }
      if try !bytes.more() { return from > 0 ? from : nil }
    }
  }

  /// The error of a line longer than `longest`.
  private var tooLong: InputError { .malformed("it has more than \(Self.longest >> 10) KiB", line: line) }
}
