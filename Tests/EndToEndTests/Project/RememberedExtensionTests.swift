import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A store records the extensions of its saves, and writing commands refuse to run without them.
@Suite struct RememberedExtensionTests {
  private static let refusal = "saves of the store ran with extension rules"

  @Test(arguments: [
    ["run", "-e", "print(1)"], ["run", "-e", "local c = moonbase.open { store = 's.sqlite' }"],
    ["each", "Person", "--do", "object.age = 2"], ["import", "Person", "people.csv"], ["batch", "run", "job.lua"],
  ]) func whatWritesWithoutOneStops(_ arguments: [String]) throws {
    let bench = try Workbench.withProject()
    try bench.insertPeople("Ann")
    try bench.write("name,age\nCid,-1\n", to: "people.csv")
    try bench.write(
      "return { request = function(context) return context:fetch('Person') end, chunk = function(objects) end }",
      to: "job.lua")
    let before = try bench.bytes(of: "s.sqlite")
    let store = arguments.last?.contains("moonbase.open") == true ? [] : ["--store", "s.sqlite"]
    let words = Array(arguments.prefix(1)) + ["--no-project"] + store + Array(arguments.dropFirst())
    let isBatch = arguments[0] == "batch"
    let all = isBatch ? ["batch", "run", "job.lua", "--no-project", "--store", "s.sqlite"] : words
    let stopped = try bench.moonbase(all)
    #expect(stopped.status == 1 && stopped.complaints.contains(Self.refusal), "\(stopped)")
    #expect(stopped.complaints.contains("--without-extension rules"), "\(stopped)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
    let place = isBatch ? 2 : 1
    let allowed = try bench.moonbase(all[..<place] + ["--without-extension", "rules"] + all[place...])
    #expect(allowed.status == 0, "\(allowed)")
    #expect(!allowed.complaints.contains(Self.refusal))
  }

  @Test func whatReadsSaysSoOnceAndChangesNothing() throws {
    let bench = try Workbench.withProject()
    try bench.insertPeople("Ann")
    let before = try bench.bytes(of: "s.sqlite")
    for arguments in [
      ["fetch", "Person"], ["export", "Person"],
      ["run", "--read-only", "-e", "print(moonbase.context:fetch('Person'):count())"],
    ] {
      let place = arguments[0] == "run" ? 1 : 2
      let outcome = try bench.moonbase(
        arguments[..<place] + ["--no-project", "--store", "s.sqlite"] + arguments[place...])
      #expect(outcome.status == 0 && outcome.complaints.components(separatedBy: Self.refusal).count == 2, "\(outcome)")
    }
    #expect(try bench.bytes(of: "s.sqlite") == before)
  }

  /// The record is written with the save that changes the set of extensions, and by no other.
  @Test func itIsNotedWithTheSaveThatChangesTheSet() throws {
    let bench = try Workbench.withProject()
    #expect(try bench.moonbase("run", "-e", "print(moonbase.context:fetch('Person'):count())").status == 0)
    func noted() throws -> String {
      let outcome = try bench.moonbase("info", "--json")
      let line = outcome.output.split(separator: "\n").first { $0.contains("\"rules\"") }
      return line.map(String.init) ?? ""
    }
    #expect(try noted() == "")
    let failed = try bench.moonbase(
      "run", "-e", "moonbase.context:insert('Person', { age = -1 }) print(moonbase.context:save())")
    #expect(failed.output.contains("is negative"), "\(failed)")
    #expect(try noted() == "")
    try bench.insertPeople("Ann")
    #expect(try noted().contains("\"rules\" : \"1.2\""))
    try bench.write(Workbench.projectRules.replacingOccurrences(of: "1.2", with: "1.3"), to: "rules.lua")
    let each = try bench.moonbase("each", "Person", "--do", "object.age = 7", "--quiet")
    #expect(each.status == 0, "\(each)")
    #expect(try noted().contains("1.3"))
  }
}
