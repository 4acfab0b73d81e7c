import MoonbasePlatform
import Testing

@Suite struct ModelCommandRefusalTests {
  let bench: Workbench

  init() throws {
    bench = try Workbench()
  }

  @Test func aMissingModelIsNamed() throws {
    let refused = try bench.moonbase("model", "show", "nowhere.xml")
    #expect(refused.status == 1)
    #expect(refused.output == "")
    #expect(refused.complaints.contains("nowhere.xml"))
    #expect(try bench.names() == [])
  }

  @Test func aFileThatIsNoModelIsLeftAlone() throws {
    try bench.write("not a model", to: "text.txt")
    let refused = try bench.moonbase("model", "show", "text.txt")
    #expect(refused.status == 1)
    #expect(refused.complaints.contains("text.txt"))
    #expect(try bench.bytes(of: "text.txt") == Data("not a model".utf8))
  }

  @Test func aDanglingDestinationIsNamedWithItsEntity() throws {
    try bench.write(
      Models.people().replacingOccurrences(of: "destinationEntity=\"Person\"", with: "destinationEntity=\"Persn\""),
      to: "broken.xml")
    let refused = try bench.moonbase("model", "check", "broken.xml")
    #expect(refused.status == 1)
    #expect(refused.complaints.contains("broken.xml"))
    #expect(refused.complaints.contains("Persn"))
  }

  @Test(arguments: [["model", "shwo", "a"], ["model", "show"], ["--no-such-option"], ["nonsense"]])
  func wrongUsageExitsWithTwo(_ arguments: [String]) throws {
    let refused = try bench.moonbase(arguments)
    #expect(refused.status == 2)
    #expect(refused.output == "")
    #expect(refused.complaints.contains("Usage: moonbase"))
  }

  @Test func helpAndVersionGoToStandardOutput() throws {
    let help = try bench.moonbase("--help")
    #expect(help.status == 0)
    #expect(help.output.contains("Exit status"))
    #expect(try bench.moonbase("--version").status == 0)
  }
}
