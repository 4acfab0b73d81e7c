extension String {
  /// The text of UTF-8 bytes; nil for invalid UTF-8.
  ///
  /// The standard decoding would repair invalid UTF-8, and `String(validating:as:)` is slow generic code.
  package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    guard UnsafeRawBufferPointer(bytes).isUTF8 else { return nil }
    self.init(decoding: bytes, as: UTF8.self)
  }
}

extension UnsafeRawBufferPointer {
  /// Whether the bytes are valid UTF-8.
  package var isUTF8: Bool {
    var place = 0
    while true {
      while count &- place >= 8, loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
        place &+= 8
      }
      guard place < count else { return true }
      guard let length = characterLength(at: place) else { return false }
      place &+= length
    }
  }

  /// The length of the character at an index; nil if it is invalid. The ranges are those of table 3-7 of the Unicode
  /// standard: no overlong forms, no surrogates, nothing beyond U+10FFFF.
  @inline(__always)
  private func characterLength(at place: Int) -> Int? {
    switch self[place] {
    case 0x00...0x7F: 1
    case 0xC2...0xDF: continues(at: place, count: 2, second: 0x80...0xBF)
    case 0xE0: continues(at: place, count: 3, second: 0xA0...0xBF)
    case 0xED: continues(at: place, count: 3, second: 0x80...0x9F)
    case 0xE1...0xEF: continues(at: place, count: 3, second: 0x80...0xBF)
    case 0xF0: continues(at: place, count: 4, second: 0x90...0xBF)
    case 0xF1...0xF3: continues(at: place, count: 4, second: 0x80...0xBF)
    case 0xF4: continues(at: place, count: 4, second: 0x80...0x8F)
    default: nil
    }
  }

  /// Returns `count` if that many bytes are available and continue the character.
  @inline(__always)
  private func continues(at place: Int, count: Int, second: ClosedRange<UInt8>) -> Int? {
    guard place &+ count <= self.count, second.contains(self[place &+ 1]) else { return nil }
    var next = place &+ 2
    while next < place &+ count {
      guard self[next] & 0xC0 == 0x80 else { return nil }
      next &+= 1
    }
    return count
  }
}
