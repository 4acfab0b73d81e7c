import MoonbasePlatform

/// Reads lines of standard input without editing, from a pipe, a file, or a simple terminal.
///
/// The lines after the current one stay in the stream, so that scripts can read them.
final class PlainLines: PromptLines {
  /// The maximum length of a line in bytes.
  private static let greatestLine = 256 << 20
  /// The number of bytes that are read at a time from a file.
  private static let block = 4096

  /// Whether standard input is a terminal, so that a prompt is printed.
  let isInteractive: Bool
  /// Whether the stream is a file. From a file, a block can be read and the rest returned.
  private let isSeekable = lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0

  /// Takes input that a script has read from the stream but not used. It is a line, or the rest of the input.
  private let takeLineAhead: () -> [UInt8]

  /// Creates the reader. No input is read yet.
  ///
  /// - Parameters:
  ///   - isInteractive: Whether prompts are printed.
  ///   - takeLineAhead: Returns the input that a script has read ahead, or an empty array.
  init(isInteractive: Bool, _ takeLineAhead: @escaping () -> [UInt8]) {
    (self.isInteractive, self.takeLineAhead) = (isInteractive, takeLineAhead)
  }

  /// Does nothing, because there is no history.
  func remember(_ input: [UInt8]) {}

  /// Reads the next line.
  ///
  /// - Parameter prompt: The text before the line, for a terminal.
  /// - Throws: `UnreadableInput`, and a `UsageError` for a line that is too long.
  func next(_ prompt: String) throws -> PromptLine {
    if isInteractive { StandardStream.output.write(prompt) }
    StandardStream.flush()
    var line = takeLineAhead()
    if line.last == UInt8(ascii: "\n") { return .line(Self.withoutEnd(line.dropLast())) }
    while true {
      let piece = try read(upTo: isSeekable ? Self.block : 1)
      guard let piece else {
        if isInteractive { StandardStream.output.write("\n") }
        return .interrupted
      }
      guard !piece.isEmpty else {
        if isInteractive { StandardStream.output.write("\n") }
        return line.isEmpty ? .end : .line(line)
      }
      if let end = piece.firstIndex(of: UInt8(ascii: "\n")) {
        if piece.count > end + 1 { lseek(STDIN_FILENO, off_t(end + 1 - piece.count), SEEK_CUR) }
        line += piece[..<end]
        return .line(Self.withoutEnd(line))
      }
      line += piece
      guard line.count <= Self.greatestLine else { throw UsageError("a line of standard input is longer than 256 MiB") }
    }
  }

  /// On some systems, lines end with two bytes.
  ///
  /// - Parameter line: The line without its last byte.
  private static func withoutEnd(_ line: [UInt8]) -> [UInt8] {
    line.last == UInt8(ascii: "\r") ? line.dropLast() : line
  }

  /// Reads bytes. Returns an empty array at the end, and nil after an interruption. Throws if the stream cannot be
  /// read.
  ///
  /// - Parameter count: The maximum number of bytes.
  private func read(upTo count: Int) throws -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    while true {
      if PromptSignals.consumeInterruption() { return nil }
      let done = MoonbasePlatform.read(STDIN_FILENO, &bytes, count)
      guard done < 0 else { return Array(bytes.prefix(done)) }
      try Self.waitAfter(errno)
    }
  }

  /// Waits if a non-blocking stream has no input yet.
  ///
  /// - Parameter code: The error number of the failed read.
  /// - Throws: `UnreadableInput` for all errors that do not pass.
  private static func waitAfter(_ code: Int32) throws {
    if code == EINTR { return }
    guard code == EAGAIN || code == EWOULDBLOCK else { throw UnreadableInput(code: code) }
    var request = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
    _ = poll(&request, 1, -1)
  }
}

/// Standard input cannot be read. This is not the same as its end.
struct UnreadableInput: Error, CustomStringConvertible {
  /// The error number of the system.
  let code: Int32
  /// The message with the reason of the system.
  var description: String { "standard input cannot be read: \(String(cString: strerror(code)))" }
}
