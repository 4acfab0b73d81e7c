import MoonbasePlatform
import Testing

/// Rules that keep `scripts/test` short: repetition counts are in one place (`Repetition`), with a short and a long
/// value.
@Suite struct TestLengthTests {
  private static func places(of pattern: some RegexComponent) throws -> [String] {
    try Checkout.paths(below: "Tests").filter { $0.hasSuffix(".swift") }
      .filter { try Checkout.text($0).contains(pattern) }
      .map { String($0.split(separator: "/").last ?? "") }
  }

  @Test func noTestReadsTheEnvironmentByItself() throws {
    let readers = try Self.places(of: #/processInfo\.environment/#)
    #expect(Set(readers) == ["TestLength.swift", "ChildProcess.swift"])
  }

  /// Ten or more seeds are a count of `Repetition`.
  @Test func seedsAreCountedInOnePlace() throws {
    #expect(try Self.places(of: #/for seed in [^\n{]*\b[0-9]{2}/#) == [])
    #expect(
      try Self.places(
        of: #/@Test\(arguments:[^)\n]*\.\.[.<][0-9]{2,}\)[^{]*seed: ?U?Int|_ seed: U?Int[^{]*\.\.[.<][0-9]{2,}\)/#)
        == [])
  }

  /// The thread sanitizer builds only the listed test targets.
  @Test func theThreadSanitizerHasEveryTargetWithConcurrencySuites() throws {
    let script = try Checkout.text("scripts/test")
    let named = try #require(script.firstMatch(of: #/\nthreaded='([^']+)'/#)).1.split(separator: " ").map(String.init)
    let files = try Checkout.paths(below: "Tests").filter { $0.hasSuffix(".swift") }
    let needed = try files.filter { try Checkout.text($0).contains(#/(struct|class) \w*Concurrency\w*/#) }
      .map { String($0.split(separator: "/")[1]) }
    #expect(Set(named) == Set(needed))
  }

  @Test func everyCountHasAShortAndALongValue() throws {
    let text = try Checkout.text("Tests/MoonbaseTestSupport/TestLength.swift")
    let counts = text.matches(of: #/Repetition\(short: ([0-9_]+), long: ([0-9_]+)/#).map { match in
      [match.1, match.2].map { Int($0.filter(\.isNumber)) ?? 0 }
    }
    #expect(counts.count > 20 && counts.allSatisfy { $0[0] > 0 && $0[0] < $0[1] })
  }
}
