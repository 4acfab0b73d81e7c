import MoonbasePlatform

/// The two streams: data goes to standard output, everything else to standard error.
enum Terminal {
  static func print(_ text: String) { StandardStream.output.write(text + "\n") }

  static func complain(_ text: String) { StandardStream.error.write(text + "\n") }
}
