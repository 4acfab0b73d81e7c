import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase init --from` a store that records its extensions.
@Suite struct RememberedStoreTests {
  private func bench() throws -> Workbench {
    let bench = try Workbench()
    try FileManager.default.createDirectory(at: bench.file("ext/lib"), withIntermediateDirectories: true)
    try bench.write(Workbench.projectModel, to: "m.lua")
    try bench.write("return { negative = 'is negative' }", to: "ext/lib/words.lua")
    try bench.write(
      """
      local words = require("lib.words")
      return { name = "rules", entities = { Person = { validate = { age = function(age) return age >= 0, words.negative end } } } }
      """, to: "ext/rules.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "--extension", "ext/rules.lua", "-e",
      "moonbase.context:insert('Person', { name = 'Ann' }) assert(moonbase.context:save())")
    try #require(made.status == 0, "\(made)")
    return bench
  }

  private func moonbase(_ bench: Workbench, _ command: String) throws -> Workbench.Outcome {
    try bench.program("sh", "-c", "cd P && \"$0\" \(command)", Workbench.command.path)
  }

  @Test func theExtensionsHaveToBeGivenOrGivenUp() throws {
    let bench = try bench()
    let refused = try bench.moonbase("init", "P", "--from", "s.sqlite")
    #expect(refused.status == 1 && refused.complaints.contains("ran with extension rules"), "\(refused)")
    #expect(refused.complaints.contains("--extension PATH") && refused.complaints.contains("--without-extension rules"))
    #expect(try !bench.names().contains("P"))
    let wrong = try bench.moonbase("init", "P", "--from", "s.sqlite", "--without-extension", "rule")
    #expect(wrong.status == 2 && wrong.complaints.contains("did you mean rules?"), "\(wrong)")
    let alone = try bench.moonbase("init", "P", "--extension", "ext/rules.lua")
    #expect(alone.status == 2 && alone.complaints.contains("are for a store"), "\(alone)")
  }

  @Test func givenExtensionsComeAlongWithTheirModules() throws {
    let bench = try bench()
    let made = try bench.moonbase("init", "P", "--from", "s.sqlite", "--extension", "ext/rules.lua")
    #expect(made.status == 0, "\(made)")
    for command in ["test", "check", "run script.lua", "doctor"] {
      let outcome = try moonbase(bench, command)
      #expect(outcome.status == 0, "\(command): \(outcome)")
    }
    let broken = try moonbase(bench, "each Person --do 'object.age = 0 - 1'")
    #expect(broken.status == 4 && broken.complaints.contains("is negative"), "\(broken)")
  }

  @Test func theCopyForgetsExtensionsThatAreGivenUp() throws {
    let bench = try bench()
    let before = try bench.bytes(of: "s.sqlite")
    let made = try bench.moonbase("init", "P", "--from", "s.sqlite", "--without-extension", "rules")
    #expect(made.status == 0, "\(made)")
    let outcome = try moonbase(bench, "each Person --do 'object.age = 0 - 1'")
    #expect(outcome.status == 0, "\(outcome)")
    #expect(try bench.bytes(of: "s.sqlite") == before)
  }
}
