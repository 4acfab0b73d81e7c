import MoonbaseModel
import Testing

import enum MoonbaseModel.Predicate

/// Two texts are equal if their code points are.
@Suite struct TextFormTests {
  private static let texts = [
    "", "e", "\u{e9}", "e\u{301}", "\u{212b}", "\u{c5}", "A\u{30a}", "K", "\u{212a}",
    "fifteen bytes..", "sixteen bytes...", "a long text with \u{e9}", "a long text with e\u{301}",
  ]

  /// Another string with the same bytes, which may be stored differently.
  private static func copy(_ text: String) -> String {
    var copy = "x" + text + String(repeating: " ", count: 20)
    copy.removeFirst()
    copy.removeLast(20)
    return copy
  }

  @Test func textsAreEqualAndHashAlikeWhereTheirBytesAre() {
    for (place, one) in Self.texts.enumerated() {
      for (other, two) in Self.texts.map(Self.copy).enumerated() {
        #expect((Value.string(one) == .string(two)) == (place == other), "\(place) \(other)")
        #expect((Value.map([one: 1]) == .map([two: 1])) == (place == other), "\(place) \(other)")
      }
    }
    #expect(Set(Self.texts.map(Value.string)).count == Self.texts.count)
    #expect(Set((Self.texts + Self.texts.map(Self.copy)).map(Value.string)).count == Self.texts.count)
    #expect(Set((Self.texts + Self.texts.map(Self.copy)).map { Value.map([$0: 1]) }).count == Self.texts.count)
  }

  @Test func formsOfATextAreToldApartByPredicates() throws {
    let subject: [String: Value] = [
      "name": "\u{e9}", "map": ["\u{e9}": 1], "list": ["\u{e9}", "e\u{301}", "e\u{301}"],
    ]
    let other = Value.string("e\u{301}")
    #expect(try !Predicate(format: "name LIKE %@", other).evaluate(with: subject))
    #expect(try Predicate(format: "name LIKE '\u{e9}' AND name LIKE '?'").evaluate(with: subject))
    #expect(try Predicate(format: "name MATCHES '\u{e9}'").evaluate(with: subject))
    #expect(try !Predicate(format: "name MATCHES %@", other).evaluate(with: subject))
    #expect(try Predicate(format: "mode:(list) == %@", other).evaluate(with: subject))
    #expect(try Predicate(format: "map[%@] == NULL AND map['\u{e9}'] == 1", other).evaluate(with: subject))
    let many = Value.list((0..<20).map { .string("\($0)") } + [other])
    #expect(try !Predicate(format: "name IN %@", many).evaluate(with: subject))
    #expect(try Predicate(format: "%@ IN %@", other, many).evaluate(with: subject))
  }
}
