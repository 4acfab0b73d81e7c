import MoonbasePlatform
import MoonbaseTestSupport
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

  @Test func allMistakesAreTold() throws {
    try bench.write(
      "return { entities = {\n A = { attributes = { x = 'strng',\n y = 'dat' } },\n B = { parnt = 'Q' } } }",
      to: "three.lua")
    let refused = try bench.moonbase("model", "check", "three.lua")
    #expect(refused.status == 1 && refused.output == "")
    let lines = refused.complaints.split(separator: "\n").map { String($0.prefix(22)) }
    #expect(lines == ["moonbase: three.lua:2:", "moonbase: three.lua:3:", "moonbase: three.lua:4:"])
    let report = try bench.moonbase("model", "check", "three.lua", "--json")
    #expect(report.status == 1 && report.complaints == "")
    let object = try JSONSerialization.jsonObject(with: Data(report.output.utf8)) as? [String: Any]
    #expect((object?["errors"] as? [[String: Any]])?.map { $0["line"] as? Int } == [2, 3, 4])
    #expect(object?["sound"] as? Bool == false)
  }

  @Test func aModelThatCannotBeReadIsNoDifference() throws {
    try bench.write(Models.people(), to: "people.xml")
    let refused = try bench.moonbase("model", "diff", "people.xml", "nowhere.xml")
    #expect(refused.status == 2 && refused.output == "")
    #expect(refused.complaints.contains("nowhere.xml"))
  }

  @Test func anEmptyFolderIsCalledEmpty() throws {
    try FileManager.default.createDirectory(at: bench.file("a.momd"), withIntermediateDirectories: true)
    #expect(try bench.moonbase("model", "show", "a.momd").complaints.contains("the folder is empty"))
  }

  @Test(arguments: [(["modl"], "did you mean model?"), (["model", "chek"], "did you mean check?")])
  func aMisspeltCommandIsNamed(_ arguments: [String], _ hint: String) throws {
    let refused = try bench.moonbase(arguments)
    #expect(refused.status == 2)
    #expect(refused.complaints.hasPrefix("moonbase: there is no command '"))
    #expect(refused.complaints.contains(hint))
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

  @Test(arguments: [["model", "shwo", "a"], ["model", "diff"], ["--no-such-option"], ["nonsense"]])
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
    #expect(help.complaints == "")
    let version = try bench.moonbase("--version")
    #expect(version.status == 0 && version.complaints == "")
    #expect(version.output.contains(/^\d+\.\d+\.\d+\n$/))
  }
}
