import MoonbasePlatform

/// The two streams: data goes to standard output, everything else to standard error.
enum Terminal {
  static func print(_ text: String) {
    FileHandle.standardOutput.write(Data((text + "\n").utf8))
  }

  static func complain(_ text: String) {
    FileHandle.standardError.write(Data((text + "\n").utf8))
  }
}
