import MoonbasePlatform

extension Predicate.Comparison.Options {
  /// Longer texts are folded in pieces of so many bytes.
  private static let pieceLength = 1 << 14

  /// The text without the differences that these options ignore. `[n]` promises normalized text and changes nothing.
  package func fold(_ text: String) -> String {
    guard isFolding else { return text }
    return text.utf8.count <= 4 * Self.pieceLength ? foldWhole(text) : foldInPieces(text, length: Self.pieceLength)
  }

  private func foldWhole(_ text: String) -> String {
    text.folded(
      caseInsensitive: contains(.caseInsensitive), diacriticInsensitive: contains(.diacriticInsensitive),
      locale: contains(.localeSensitive) ? .current : nil)
  }

  /// Looks between pieces whether the run must end that this is done for: what is returned then does not matter.
  package func foldInPieces(_ text: String, length: Int) -> String {
    var result = ""
    var rest = text[...]
    while !rest.isEmpty, !HostWork.mustEnd(after: length >> 3) {
      let end = Self.cut(rest, length: length)
      result += foldWhole(String(rest[..<end]))
      rest = rest[end...]
    }
    return result
  }

  /// A place after about so many bytes where no mark follows, which would belong to what is before it. Of a text with nothing
  /// but marks any place is as good as another.
  private static func cut(_ text: Substring, length: Int) -> String.Index {
    let bytes = text.utf8
    guard let near = bytes.index(text.startIndex, offsetBy: length, limitedBy: text.endIndex) else {
      return text.endIndex
    }
    var place = near
    // The first byte of a character tells itself from those that follow it.
    func beginsScalar() -> Bool { bytes[place] & 0xC0 != 0x80 }
    for _ in 0..<1024 {
      guard place < text.endIndex else { return text.endIndex }
      if beginsScalar(), text.unicodeScalars[place].beginsText { return place }
      bytes.formIndex(after: &place)
    }
    while place < text.endIndex, !beginsScalar() { bytes.formIndex(after: &place) }
    return place
  }
}

extension Unicode.Scalar {
  /// Whether the scalar is composed with none before it.
  fileprivate var beginsText: Bool {
    if value < 0x80 { return value != 10 }
    switch properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return false
    // The later parts of syllables in Hangul.
    default: return !(0x1160...0x11FF).contains(value)
    }
  }
}
