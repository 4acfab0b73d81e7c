/// Skips the text around statements.
enum SQLText {
  /// The text from a byte position on, without leading white space, comments and semicolons; nil if nothing remains. At
  /// most 60 bytes are returned, for a message.
  static func rest(of sql: String, from start: Int) -> String? {
    var rest = sql.utf8.dropFirst(start)
    while let byte = rest.first {
      if " \t\n\r\u{0C};".utf8.contains(byte) {
        rest = rest.dropFirst()
      } else if rest.starts(with: "--".utf8) {
        rest = rest.drop { $0 != UInt8(ascii: "\n") }
      } else if rest.starts(with: "/*".utf8) {
        rest = afterComment(rest)
      } else {
        return String(decoding: rest.prefix(60), as: UTF8.self)
      }
    }
    return nil
  }

  /// A comment may end with the text, as in SQLite.
  private static func afterComment(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var rest = text.dropFirst(2)
    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
    return rest.dropFirst(2)
  }
}
