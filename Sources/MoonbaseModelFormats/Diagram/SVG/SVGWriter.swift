import MoonbasePlatform

/// Writes SVG elements, one per line.
///
/// A value collects text. The extensions draw boxes and lines; all texts pass `markup(_:)`.
struct SVGWriter {
  /// The text so far.
  private(set) var text = ""

  /// Adds a line of markup.
  mutating func line(_ markup: String) { text += markup + "\n" }

  /// Adds a text with its style classes. Empty texts are omitted.
  mutating func label(_ label: String, x: Double, y: Double, _ classes: String...) {
    guard !label.isEmpty else { return }
    let names = classes.filter { !$0.isEmpty }.joined(separator: " ")
    let style = names.isEmpty ? "" : " class=\"\(names)\""
    line("<text x=\"\(Self.number(x))\" y=\"\(Self.number(y))\"\(style)>\(Self.markup(label))</text>")
  }

  /// Adds a path with a style class.
  mutating func path(_ path: String, _ style: String) { line("<path class=\"\(style)\" d=\"\(path)\"/>") }

  /// A number with at most one decimal.
  ///
  /// For example, 12.04 becomes `12`, and 12.06 becomes `12.1`.
  static func number(_ number: Double) -> String {
    let rounded = (number * 10).rounded() / 10
    return rounded == rounded.rounded() ? "\(Int(rounded))" : "\(rounded)"
  }

  /// A text as element content, without characters that XML forbids.
  ///
  /// Control characters and characters that change the direction of writing are replaced.
  static func markup(_ text: String) -> String {
    let allowed = text.unicodeScalars.map { scalar -> Character in
      switch scalar.value {
      case 0..<32, 127..<160, 0xfffe, 0xffff, 0x202a...0x202e, 0x2066...0x2069: "\u{fffd}"
      default: Character(scalar)
      }
    }
    return String(allowed).markupText
  }
}
