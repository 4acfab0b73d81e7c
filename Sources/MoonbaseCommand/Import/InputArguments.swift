import ArgumentParser
import MoonbaseBatch

/// The value of the option `--separator`.
///
/// The value is a single ASCII character, `tab` or `\t`.
struct FieldSeparator: ExpressibleByArgument, Equatable {
  /// The text as given, for messages and for the digest of the settings.
  let text: String
  /// The separator as a byte.
  let byte: UInt8

  /// Returns nil if the argument cannot separate fields.
  init?(argument: String) {
    text = argument
    if ["tab", "\\t"].contains(argument) {
      byte = 9
      return
    }
    // A quotation mark, a line end or a multibyte character cannot be a separator.
    guard argument.utf8.count == 1, let byte = argument.utf8.first, byte == 9 || byte >= 32, byte != 127,
      byte != UInt8(ascii: "\"")
    else { return nil }
    self.byte = byte
  }
}

/// The value of the option `--encoding`.
///
/// Names are compared without regard to case. The list is in `TextEncoding`.
struct InputEncoding: ExpressibleByArgument, Equatable {
  /// The name as given.
  let name: String
  /// The decoder of the encoding, or nil for UTF-8.
  let encoding: TextEncoding?

  /// Returns nil for an unknown encoding.
  init?(argument: String) {
    name = argument
    encoding = TextEncoding(argument)
    if encoding == nil, !TextEncoding.isUTF8(argument) { return nil }
  }
}
