import Testing

@testable import MoonbasePlatform

/// Normalization forms, and the order of marks.
@Suite struct TextNormalizationTests {
  private static let forms: [String.NormalizationForm] = [
    .composed, .decomposed, .compatiblyComposed, .compatiblyDecomposed,
  ]

  private func scalars(_ text: String) -> [UInt32] { text.unicodeScalars.map(\.value) }

  private func foundation(_ text: String, _ form: String.NormalizationForm) -> String {
    switch form {
    case .composed: text.precomposedStringWithCanonicalMapping
    case .decomposed: text.decomposedStringWithCanonicalMapping
    case .compatiblyComposed: text.precomposedStringWithCompatibilityMapping
    case .compatiblyDecomposed: text.decomposedStringWithCompatibilityMapping
    }
  }

  /// Marks of several classes. Characters that become marks only when decomposed are left out, since Foundation ignores
  /// them when it orders marks. Marks that decompose into others are left out too, since Foundation loses some in a
  /// long run.
  private static let parts: [UInt32] = [0x301, 0x316, 0x327, 0x345, 0x308, 0xF71, 0x3099, 0x5B0, 0x1D165]
  private static let letters: [UInt32] = [0x65, 0xE9, 0xFB01, 0x30AB, 0xAC01, 0x1E69, 0x3B1, 0xA8]

  @Test(arguments: forms) func longRunsOfMarksBecomeWhatFoundationMakesOfThem(
    _ form: String.NormalizationForm
  ) {
    let parts = Self.parts.compactMap { Unicode.Scalar($0) }
    let letters = Self.letters.compactMap { Unicode.Scalar($0) }
    for round in 0..<60 {
      var text = String.UnicodeScalarView()
      for _ in 0..<3 {
        text.append(letters[Int.random(in: letters.indices)])
        for _ in 0..<(round * 2) { text.append(parts[Int.random(in: parts.indices)]) }
      }
      let string = String(text)
      #expect(scalars(string.normalized(form)) == scalars(foundation(string, form)), "\(scalars(string))")
    }
  }

  /// Foundation processes ordered marks in one pass.
  @Test func theMarksOfALongRunAreInOrderBeforeFoundationSeesThem() {
    let count = 5000
    let ordered = "e" + String(repeating: "\u{316}", count: count) + String(repeating: "\u{301}", count: count)
    let mixed = "e" + String(repeating: "\u{301}\u{316}", count: count)
    #expect(scalars(mixed.withOrderedMarks(compatibly: false)) == scalars(ordered))
    #expect(scalars(mixed.normalized(.decomposed)) == scalars(ordered))
  }

  @Test(arguments: [String.NormalizationForm.decomposed, .compatiblyDecomposed])
  func noMarkOfALongRunIsLostThatBecomesOthers(_ form: String.NormalizationForm) {
    let mixed = "e" + String(repeating: "\u{344}\u{340}\u{316}", count: 200)
    let ordered =
      "e" + String(repeating: "\u{316}", count: 200) + String(repeating: "\u{308}\u{301}\u{300}", count: 200)
    #expect(scalars(mixed.normalized(form)) == scalars(ordered))
  }

  @Test func whatIsNoMarkBeforeItIsTakenApartIsPutInOrderToo() {
    let mixed = "e" + String(repeating: "\u{F73}\u{301}", count: 40)
    let ordered = ["\u{F71}", "\u{F72}", "\u{301}"].map { String(repeating: $0, count: 40) }.joined()
    #expect(scalars(mixed.normalized(.decomposed)) == scalars("e" + ordered))
  }

  @Test func allThatBecomesMarksAloneIsTakenForAMark() {
    for value in (0x80...0x1FFFF as ClosedRange<UInt32>) {
      guard let scalar = Unicode.Scalar(value),
        let first = String(Character(scalar)).decomposedStringWithCompatibilityMapping.unicodeScalars.first
      else { continue }
      #expect(first.properties.canonicalCombiningClass == .notReordered || scalar.mayBecomeMarks, "\(value)")
    }
  }
}
