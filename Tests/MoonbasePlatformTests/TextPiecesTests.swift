import MoonbasePlatform
import Testing

/// Foundation's results for a text equal those for its pieces.
@Suite struct TextPiecesTests {
  // Characters that combine with the previous ones, directly or after decomposition: marks, parts of syllables,
  // halfwidth forms.
  private static let alphabet: [Unicode.Scalar] = Array(
    "aZ éÉ\u{301}\u{308}\u{316}\u{345}ßΣςİﬁ\r\n각\u{1100}\u{1161}\u{11A8}漢\u{FF76}\u{FF9E}\u{FF9F}\u{FFA1}\u{FFC2}\u{3131}\u{314F}\u{9C7}\u{9BE}\u{E33}\u{958}"
      .unicodeScalars)

  static let forms: [String: @Sendable (String) -> String] = [
    "NFC": { $0.precomposedStringWithCanonicalMapping }, "NFD": { $0.decomposedStringWithCanonicalMapping },
    "NFKC": { $0.precomposedStringWithCompatibilityMapping }, "NFKD": { $0.decomposedStringWithCompatibilityMapping },
  ]

  @Test(arguments: forms.keys.sorted()) func aTextNormalizedInPiecesIsTheTextNormalizedAtOnce(_ name: String) throws {
    let form = try #require(Self.forms[name])
    var seed: UInt64 = 7
    func random(below bound: Int) -> Int {
      seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(seed >> 33) % bound
    }
    for _ in 0..<500 {
      var text = ""
      for _ in 0..<random(below: 40) { text.unicodeScalars.append(Self.alphabet[random(below: Self.alphabet.count)]) }
      for length in [1, 2, 5, 16] {
        #expect(
          Array(text.mapped(inPiecesOf: length, form).unicodeScalars) == Array(form(text).unicodeScalars),
          "\(text.debugDescription)")
      }
    }
  }

  @Test func aLongTextIsMappedInPieces() {
    var lengths: [Int] = []
    let text = String(repeating: "ß", count: 100_000)
    let mapped = text.mapped { piece in
      lengths.append(piece.utf8.count)
      return piece
    }
    #expect(mapped == text)
    #expect(lengths.count > 10 && lengths.allSatisfy { $0 < 1 << 15 })
  }
}
