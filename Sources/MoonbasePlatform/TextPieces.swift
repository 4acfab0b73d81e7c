extension String {
  /// Longer texts are mapped in pieces of so many bytes.
  private static let pieceLength = 1 << 14

  /// What `map` makes of the text, piece by piece where it is long: Foundation's mappings take the square of the length.
  ///
  /// For mappings that look at no more than a character and its marks. Looks between pieces whether the run must end that this is
  /// done for: what is returned then does not matter.
  package func mapped(_ map: (String) -> String) -> String {
    if utf8.count > 4 * Self.pieceLength { return mapped(inPiecesOf: Self.pieceLength, map) }
    HostWork.note(utf8.count >> 3)
    return map(self)
  }

  /// The same in pieces of about so many bytes.
  package func mapped(inPiecesOf length: Int, _ map: (String) -> String) -> String {
    var result = ""
    var rest = self[...]
    while !rest.isEmpty, !HostWork.mustEnd(after: length >> 3) {
      let end = rest.cut(after: length)
      result += map(String(rest[..<end]))
      rest = rest[end...]
    }
    return result
  }
}

extension Substring {
  /// A place after about so many bytes where no mark follows, which would belong to what is before it. Of a text with nothing
  /// but marks any place is as good as another.
  fileprivate func cut(after length: Int) -> Index {
    guard let near = utf8.index(startIndex, offsetBy: length, limitedBy: endIndex) else { return endIndex }
    var place = near
    // The first byte of a character tells itself from those that follow it.
    func beginsScalar() -> Bool { utf8[place] & 0xC0 != 0x80 }
    for _ in 0..<1024 {
      guard place < endIndex else { return endIndex }
      if beginsScalar(), unicodeScalars[place].beginsText { return place }
      utf8.formIndex(after: &place)
    }
    while place < endIndex, !beginsScalar() { utf8.formIndex(after: &place) }
    return place
  }
}

extension Unicode.Scalar {
  /// Whether the scalar, or what it is made of, is composed with none before it.
  fileprivate var beginsText: Bool {
    if value < 0x80 { return value != 10 }
    guard let first = String(Character(self)).decomposedStringWithCompatibilityMapping.unicodeScalars.first else {
      return false
    }
    switch first.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return false
    // The later parts of syllables in Hangul.
    default: return !(0x1160...0x11FF).contains(first.value)
    }
  }
}
