extension String {
  /// The number of bytes of a piece; longer texts are mapped in pieces.
  private static let pieceLength = 1 << 14

  /// The result of `map` on the text, piece by piece for a long text, because Foundation's mappings take quadratic
  /// time.
  ///
  /// Only for mappings that consider no more than a character with its marks. Between pieces checks whether the run
  /// must end; the result is irrelevant then.
  package func mapped(_ map: (String) -> String) -> String {
    if utf8.count > 4 * Self.pieceLength { return mapped(inPiecesOf: Self.pieceLength, map) }
    HostWork.note(utf8.count >> 3)
    return map(self)
  }

  /// Maps the text in pieces of about `length` bytes.
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
  /// An index after about `length` bytes at which no mark follows. A text of marks only may be cut anywhere.
  fileprivate func cut(after length: Int) -> Index {
    guard let near = utf8.index(startIndex, offsetBy: length, limitedBy: endIndex) else { return endIndex }
    var place = near
    // The first byte of a character differs from continuation bytes.
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
  /// Whether the scalar, or its decomposition, does not combine with a preceding scalar.
  fileprivate var beginsText: Bool {
    if value < 0x80 { return value != 10 }
    guard let first = String(Character(self)).decomposedStringWithCompatibilityMapping.unicodeScalars.first else {
      return false
    }
    switch first.properties.generalCategory {
    case .nonspacingMark, .spacingMark, .enclosingMark: return false
    // The later parts of Hangul syllables.
    default: return !(0x1160...0x11FF).contains(first.value)
    }
  }
}
