import MoonbasePlatform
import Testing

/// Texts of UTF-8 bytes.
@Suite struct ValidUTF8Tests {
  private func text(_ bytes: [UInt8]) -> String? { bytes.withUnsafeBufferPointer { String(validUTF8: $0) } }

  @Test(arguments: 0..<40)
  func aTextComesBackAsItWasWhereverItsFirstByteBeyondASCIIIs(length: Int) {
    let plain = String(repeating: "a", count: length)
    for text in [plain, plain + "é", plain + "\u{0}" + plain, plain + "漢字" + plain, plain + "🌙"] {
      #expect(self.text(Array(text.utf8)) == text)
    }
  }

  @Test(arguments: 0..<40)
  func whatIsNotUTF8IsNoTextWhereverItIs(place: Int) {
    for wrong: [UInt8] in [[0xFF], [0x80], [0xC3], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80]] {
      let bytes = Array(repeating: UInt8(ascii: "a"), count: place) + wrong
      #expect(text(bytes) == nil)
      #expect(text(bytes + Array("tail and more of it".utf8)) == nil)
    }
  }
}
