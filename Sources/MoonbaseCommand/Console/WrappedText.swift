/// Wraps text at spaces to lines of a given width. A word that is longer gets its own line.
///
/// The width is measured in terminal columns, not characters.
enum WrappedText {
  /// The lines with indentation. The lines after the first are indented by `hanging`.
  ///
  /// For example, items of a list have a hanging indentation of two.
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
