/// The estimated width of a text in Helvetica, with some tolerance for wider fonts.
///
/// The estimate needs no font files, so pictures are the same on each machine.
enum TextWidth {
  /// Widths in thousandths of the font size, starting at the space.
  private static let plain: [Double] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
  ]
  /// The factor for wider fonts.
  private static let room = 1.1
  /// The further factor for bold texts.
  private static let boldRoom = 1.08

  /// The width of a text in a font size, in pixels.
  static func of(_ text: String, size: Double, bold: Bool = false) -> Double {
    let sum = text.unicodeScalars.reduce(0) { $0 + width(of: $1) }
    return sum / 1000 * size * room * (bold ? boldRoom : 1)
  }

  /// The width of a character in thousandths: 600 for other alphabets, 1000 for East Asian
  /// characters.
  private static func width(of scalar: Unicode.Scalar) -> Double {
    if scalar.isASCII { return scalar.value < 32 || scalar.value == 127 ? 0 : plain[Int(scalar.value) - 32] }
    switch scalar.properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control: return 0
    default: return scalar.value >= 0x1100 ? 1000 : 600
    }
  }

  /// The text, truncated with an ellipsis if it is too wide.
  ///
  /// At least the ellipsis remains.
  static func fitting(_ text: String, in width: Double, size: Double, bold: Bool = false) -> String {
    if of(text, size: size, bold: bold) <= width { return text }
    var kept = ""
    var sum = of("…", size: size, bold: bold)
    for character in text {
      sum += of(String(character), size: size, bold: bold)
      if sum > width { break }
      kept.append(character)
    }
    return kept + "…"
  }
}
