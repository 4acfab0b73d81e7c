import MoonbasePlatform

/// The two streams: data goes to standard output, everything else to standard error.
enum Terminal {
  static func print(_ text: String) { write(text + "\n") }

  /// Data that has its own line ends.
  static func write(_ text: String) {
    StandardStream.output.write(TerminalText.isOutput ? TerminalText.escaped(text) : text)
  }

  /// Writes bytes, with control characters written out where standard output is a terminal.
  static func write(_ bytes: UnsafeRawBufferPointer) {
    guard TerminalText.isOutput, let escaped = TerminalText.escaped(bytes) else {
      return StandardStream.output.write(bytes)
    }
    escaped.withUnsafeBytes { StandardStream.output.write($0) }
  }

  /// A message. Also where it goes to a file it may be shown by a terminal later.
  static func complain(_ text: String) { StandardStream.error.write(TerminalText.escaped(text) + "\n") }

  /// A report as JSON, its keys in order.
  static func json(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }
}
