import MoonbasePlatform

/// The two streams: data goes to standard output, everything else to standard error.
enum Terminal {
  static func print(_ text: String) { StandardStream.output.write(text + "\n") }

  /// Data that has its own line ends.
  static func write(_ text: String) { StandardStream.output.write(text) }

  static func complain(_ text: String) { StandardStream.error.write(text + "\n") }

  /// A report as JSON, its keys in order.
  static func json(_ report: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(report), as: UTF8.self)
  }
}
