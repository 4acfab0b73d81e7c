import ArgumentParser
import MoonbaseBatch

/// The value of the option `--separator`.
struct FieldSeparator: ExpressibleByArgument, Equatable {
  let text: String
  let byte: UInt8

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
struct InputEncoding: ExpressibleByArgument, Equatable {
  let name: String
  /// The decoder of the encoding, or nil for UTF-8.
  let encoding: TextEncoding?

  init?(argument: String) {
    name = argument
    encoding = TextEncoding(argument)
    if encoding == nil, !TextEncoding.isUTF8(argument) { return nil }
  }
}
