import MoonbaseModel
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Predicate

@Suite struct RegularExpressionTests {
  /// Each character doubles the time: without a limit, some minutes for this text.
  private let hostile = String(repeating: "a", count: 40) + "!"

  @Test(arguments: ["(a+)+$", "(a|aa)+$", "(a*)*b", "([a-z]+)*=", "(.*a){20}$"])
  func aRegularExpressionThatTakesTooManyStepsIsAnError(_ pattern: String) throws {
    let predicate = try Predicate(format: "text MATCHES %@", .string(pattern))
    let error = #expect(throws: ModelError.self) { try predicate.evaluate(with: ["text": .string(hostile)]) }
    #expect(error?.code == .evaluation)
    #expect(error?.message.hasPrefix("“\(pattern)” needs too many steps for a text of 41 characters") == true)
    let variable = try Predicate(format: "text MATCHES pattern")
    #expect(throws: ModelError.self) {
      try variable.evaluate(with: ["text": .string(hostile), "pattern": .string(pattern)])
    }
  }

  /// The engine has 8 MB for backtracking; formerly a text that exceeded it did not match.
  @Test func aRegularExpressionThatRunsOutOfMemoryIsAnError() throws {
    let long = Value.string(String(repeating: "ab", count: 2_000_000))
    let predicate = try Predicate(format: "text MATCHES '(a|b)*'")
    let error = #expect(throws: ModelError.self) { try predicate.evaluate(with: ["text": long]) }
    #expect(error?.message.contains("too much memory for a text of 4000000 characters") == true)
    #expect(try Predicate(format: "text MATCHES '[ab]*'").evaluate(with: ["text": long]))
  }

  @Test func longTextsAreAnsweredWithinTheLimit() throws {
    let text = Value.string(String(repeating: "word ", count: 20_000))
    #expect(try Predicate(format: #"text MATCHES '(\w+ )++'"#).evaluate(with: ["text": text]))
    #expect(try !Predicate(format: #"text MATCHES '(\w+ )++x'"#).evaluate(with: ["text": text]))
  }

  @Test func aPatternOfAnAttributeFailsTheValueThatItCannotTell() throws {
    var attribute = AttributeDescription("a", type: .string)
    attribute.validation.regularExpression = "(a+)+$"
    let failure = try attribute.validate(.string(hostile)).first
    #expect(failure?.code == .stringPatternMatching)
    #expect(failure?.message.contains("cannot be told: “(a+)+$” needs too many steps") == true)
    #expect(try attribute.validate("aaaa").isEmpty)
  }
}
