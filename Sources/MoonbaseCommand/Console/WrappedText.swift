/// Text in lines of a width, broken at blanks. A longer word has a line of its own.
enum WrappedText {
  /// The lines, indented. Lines behind the first are indented by `hanging`.
  static func lines(_ text: String, width: Int, indent: Int = 0, hanging: Int? = nil) -> String {
    var lines: [String] = []
    var line = String(repeating: " ", count: indent)
    var count = 0
    for word in text.split(separator: " ") {
      if count > 0, DisplayWidth.of(line) + 1 + DisplayWidth.of(String(word)) > width {
        lines.append(line)
        line = String(repeating: " ", count: hanging ?? indent)
        count = 0
      }
      line += (count == 0 ? "" : " ") + word
      count += 1
    }
    return (lines + [line]).joined(separator: "\n")
  }
}
