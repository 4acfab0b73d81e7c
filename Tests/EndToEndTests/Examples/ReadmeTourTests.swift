import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct ReadmeTourTests {
  @Test func theTourInLuaWorksWhenPasted() throws {
    let readme = try String(contentsOf: Workbench.checkout.appendingPathComponent("README.md"), encoding: .utf8)
    let tour = try #require(readme.firstMatch(of: #/```lua\n([\s\S]*?)```/#)).output.1
    let bench = try Workbench()
    try bench.write(String(tour), to: "tour.lua")
    let run = try bench.moonbase("run", "tour.lua")
    #expect(run.status == 0)
    let lines = run.output.split(separator: "\n")
    #expect(lines.first == "Captain Blue\t1")
    #expect(lines.last == "28")
    #expect(lines.dropFirst().first?.contains("Person.age") == true)
    #expect(try bench.names() == ["tour.lua", "tour.sqlite"])
  }
}
