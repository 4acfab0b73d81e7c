import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

/// Long texts, which are compared in pieces, give the same results as short ones.
@Suite struct LongTextTests {
  private static let alphabet: [Unicode.Scalar] = Array(
    "aZ éÉ\u{301}\u{308}\u{345}ßΣςσİıﬁ\r\n각\u{1100}\u{1161}\u{11A8}👩\u{200D}\u{FE0F}漢ｶ\u{9BE}".unicodeScalars)

  @Test(
    arguments: [
      [.caseInsensitive], [.diacriticInsensitive], [.caseInsensitive, .diacriticInsensitive], [.localeSensitive],
    ] as [Predicate.Comparison.Options])
  func aTextFoldedInPiecesIsTheTextFoldedAtOnce(_ options: Predicate.Comparison.Options) {
    var random = SplitMix(7)
    for _ in 0..<300 {
      var text = ""
      for _ in 0..<random.next(60) { text.unicodeScalars.append(Self.alphabet[random.next(Self.alphabet.count)]) }
      let whole = options.fold(text)
      for length in [1, 2, 5, 16] {
        #expect(
          Array(text.mapped(inPiecesOf: length, options.fold).unicodeScalars) == Array(whole.unicodeScalars),
          "\(text.debugDescription)")
      }
    }
  }

  /// Parts that are equal for all rows are folded when the predicate is compiled.
  @Test func aFoldedConstantMeansTheSameOnEitherSide() throws {
    let texts: [Value] = ["É", "e", "Straße", "STRASSE"]
    for options in ["c", "d", "cd"] {
      for comparator in ["==", "!=", "<", "<=", ">", ">="] {
        for (left, right) in texts.flatMap({ left in texts.map { (left, $0) } }) {
          let subject = ["a": left, "b": right]
          let expected = try Predicate(format: "a \(comparator)[\(options)] b").evaluate(with: subject)
          for (text, constant) in [("a \(comparator)[\(options)] %@", right), ("%@ \(comparator)[\(options)] b", left)]
          {
            #expect(
              try Predicate(format: text, constant).evaluate(with: subject) == expected, "\(text) \(left) \(right)")
          }
        }
      }
      for length in [1, 7, 20] {
        let list = (0..<length).map { Value.string("x\($0)É") } + [.null]
        let predicate = try Predicate(format: "a IN[\(options)] %@", .list(list))
        #expect(try predicate.evaluate(with: ["a": "x0É"]))
        #expect(try predicate.evaluate(with: ["a": "X0É"]) == options.contains("c"))
        #expect(try predicate.evaluate(with: ["a": "x0E"]) == options.contains("d"))
        #expect(try !predicate.evaluate(with: ["a": "y"]))
        #expect(try predicate.evaluate(with: ["a": .null]))
      }
    }
  }

  @Test func nothingButMarksIsFoldedToo() {
    let marks = String(repeating: "\u{301}", count: 50_000)
    let options: Predicate.Comparison.Options = [.diacriticInsensitive]
    #expect(("a" + marks).mapped(inPiecesOf: 1000, options.fold).unicodeScalars.count <= 101)
  }

  @Test(arguments: [
    ("*é?x", true), ("é*x", true), ("*éx", true), ("*x?", false), ("?*", true), ("é", false), ("*É*", false),
  ])
  func aPatternOfLikeGoesThroughALongText(pattern: String, isFound: Bool) throws {
    let text = String(repeating: "é", count: 50_000) + "x"
    let short = String(repeating: "é", count: 50) + "x"
    let predicate = try Predicate(format: "text LIKE %@", .string(pattern))
    #expect(try predicate.evaluate(with: ["text": .string(text)]) == isFound)
    #expect(try predicate.evaluate(with: ["text": .string(short)]) == isFound)
  }

  @Test(arguments: [63, 64, 65, 5000])
  func aTextIsFoundWhereverItIs(_ length: Int) throws {
    let part = String(repeating: "a", count: length) + "b"
    let predicate = try Predicate(format: "text CONTAINS %@", .string(part))
    let filling = String(repeating: "a", count: 20_000)
    #expect(try predicate.evaluate(with: ["text": .string(filling + "b")]))
    #expect(try predicate.evaluate(with: ["text": .string(part + filling)]))
    #expect(try !predicate.evaluate(with: ["text": .string(filling)]))
  }

  @Test(arguments: ["LIKE", "MATCHES"])
  func aPatternMayBeLongAndNotTooLong(_ name: String) throws {
    let variable = try Predicate(format: "text \(name) pattern")
    let long = String(repeating: "x", count: TextLimits.greatestPattern)
    #expect(try variable.evaluate(with: ["text": .string(long), "pattern": .string(long)]))
    let error = #expect(throws: ModelError.self) {
      try variable.evaluate(with: ["text": .string(long), "pattern": .string(long + "x")])
    }
    #expect(error?.message.hasPrefix("there is a pattern of 65537 bytes, and at most 65536 are allowed: xxx") == true)
  }
}
