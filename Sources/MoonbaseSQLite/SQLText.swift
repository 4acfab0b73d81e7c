/// What lies around the statements of a text.
enum SQLText {
  /// The text from a place on, by bytes, without the blanks, comments and semicolons before it; nil where nothing else is left.
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

  /// SQLite lets the end of the text end a comment.
  private static func afterComment(_ text: Substring.UTF8View) -> Substring.UTF8View {
    var rest = text.dropFirst(2)
    while !rest.isEmpty, !rest.starts(with: "*/".utf8) { rest = rest.dropFirst() }
    return rest.dropFirst(2)
  }
}
