import MoonbasePlatform

/// The standard streams of the command. Data is written to standard output, and everything else to standard error.
///
/// All output of commands passes these functions, which escape text for terminals.
enum Terminal {
  /// Writes a line of data.
  static func print(_ text: String) { write(text + "\n") }

  /// Writes data that contains its own line ends.
  static func write(_ text: String) {
    StandardStream.output.write(TerminalText.isOutput ? TerminalText.escaped(text) : text)
  }

  /// Writes bytes. If standard output is a terminal, control characters are escaped.
  static func write(_ bytes: UnsafeRawBufferPointer) {
    guard TerminalText.isOutput, let escaped = TerminalText.escaped(bytes) else {
      return StandardStream.output.write(bytes)
    }
    escaped.withUnsafeBytes { StandardStream.output.write($0) }
  }

  /// Writes a message without the passwords of addresses. Control characters are escaped even if standard error is a
  /// file, because the file may be shown in a terminal later.
  static func complain(_ text: String) {
    StandardStream.error.write(TerminalText.escaped(HiddenCredentials.hidden(text)) + "\n")
  }

  /// A report as JSON with sorted keys.
  ///
  /// The result has no line end after it.
  static func json(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }
}
