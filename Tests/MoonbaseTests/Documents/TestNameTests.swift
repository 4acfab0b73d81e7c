import MoonbasePlatform
import Testing

/// The folders and names of tests.
@Suite struct TestNameTests {
  private static func files() throws -> [String] {
    try Checkout.paths(below: "Tests").filter { $0.hasSuffix(".swift") }
  }

  /// Test folders without a room in the sources: test support, programs that run hostile code, the C shim, examples and
  /// documents, the naive model of the whole graph, and disk faults.
  private static let beside: Set = [
    "Support", "Hostile", "Shim", "Examples", "Stores", "Documents", "Reference", "Faults",
  ]

  /// The small targets above a target, and the target of stores below the graph, are tested with it: as a folder
  /// `FetchedResults` for `MoonbaseFetchedResults`, or by their rooms.
  private static let above = ["MoonbaseSQLiteStore": "MoonbaseSQLiteTools"]

  @Test func foldersAreNamedAsTheRoomsOfTheSource() throws {
    for path in try Self.files() {
      let parts = path.split(separator: "/").map(String.init)
      guard parts.count > 3, parts[1].hasSuffix("Tests"), !Self.beside.contains(parts[2]) else { continue }
      let target = parts[1] == "EndToEndTests" ? "MoonbaseCommand" : String(parts[1].dropLast("Tests".count))
      let rooms = [target, Self.above[target]].compactMap(\.self).map { "\($0)/\(parts[2])" }
      #expect((rooms + ["Moonbase\(parts[2])"]).contains { Checkout.exists("Sources/\($0)") }, "\(path)")
    }
  }

  /// A test is named by its behaviour, as a function is named; a title would be a second name.
  @Test func aTestIsNamedByASentenceInCamelCase() throws {
    var count = 0
    for path in try Self.files() where path.hasSuffix("Tests.swift") {
      let text = try Checkout.text(path)
      #expect(!text.contains(#/@(Test|Suite)\(\s*"/#), "\(path): a title beside the name")
      let name = path.split(separator: "/").last?.dropLast(".swift".count) ?? ""
      #expect(text.contains("struct \(name)") || text.contains("class \(name)"), "\(path): no suite of its name")
      for test in text.matches(of: #/  @Test\b[^\n]*?(\n  )?func (\w+)\(/#) {
        #expect(test.2.filter(\.isUppercase).count > 1, "\(path): \(test.2)")
        count += 1
      }
    }
    #expect(count > 500)
  }

  @Test func childProcessesAreStartedInOnePlace() throws {
    let word = "Process" + "()"
    let places = try (Self.files() + Checkout.paths(below: "Sources").filter { $0.hasSuffix(".swift") })
      .filter { try Checkout.text($0).contains("= \(word)") }
    // The server runs beside the tests, and ends with them.
    #expect(places.sorted() == ["ChildProcess", "PostgreSQLServer"].map { "Tests/MoonbaseTestSupport/\($0).swift" })
  }
}
