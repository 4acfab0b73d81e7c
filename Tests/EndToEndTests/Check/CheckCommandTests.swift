import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// `moonbase check` lists all problems of extensions.
@Suite struct CheckCommandTests {
  @Test func soundExtensionsOfAProjectPass() throws {
    let bench = try Workbench.withProject()
    let outcome = try bench.moonbase("check")
    #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
    #expect(outcome.complaints == "moonbase: 1 file, nothing is wrong\n")
    #expect(try bench.names() == ["model.lua", "moonbase.project.lua", "rules.lua"])
    let json = try bench.moonbase("check", "--json")
    #expect(json.output.contains("\"sound\" : true"), "\(json)")
  }

  @Test func findingsOfAllFilesAreListedWithTheirLines() throws {
    let bench = try Workbench.withProject()
    try bench.write("return {\n  entities = { Persn = {} },\n  trnsformers = {},\n}", to: "a.lua")
    try bench.write("return { name = ", to: "b.lua")
    try bench.write(
      "return { entities = { Person = {\n validate = { agee = function() return true end } } } }", to: "c.lua")
    let outcome = try bench.moonbase("check", "a.lua", "b.lua", "c.lua", "rules.lua")
    #expect(outcome.status == 1, "\(outcome)")
    #expect(outcome.output.contains("a.lua:2:") && outcome.output.contains("did you mean Person?"), "\(outcome)")
    #expect(outcome.output.contains("a.lua:3:") && outcome.output.contains("did you mean transformers?"), "\(outcome)")
    #expect(outcome.output.contains("b.lua:1:") && outcome.output.contains("c.lua:2:"), "\(outcome)")
    #expect(outcome.complaints.contains("4 files, 4 findings"), "\(outcome)")
    let json = try bench.moonbase("check", "a.lua", "--json", "--no-project", "--model", "model.lua")
    #expect(
      json.status == 1 && json.output.contains("\"line\" : 2") && json.output.contains("\"sound\" : false"), "\(json)")
  }

  @Test func theModelMayBeThatOfAStoreAndFilesThoseOfAFolder() throws {
    let bench = try Workbench.withProject()
    try bench.insertPeople("Ann")
    try FileManager.default.createDirectory(at: bench.file("rules"), withIntermediateDirectories: true)
    try bench.write("return { entities = { Persn = {} } }", to: "rules/one.lua")
    try bench.write(Workbench.projectRules, to: "rules/two.lua")
    let outcome = try bench.moonbase("check", "rules", "--store", "s.sqlite", "--no-project")
    #expect(outcome.status == 1 && outcome.output.contains("rules/one.lua:1:"), "\(outcome)")
    #expect(outcome.complaints.contains("2 files, 1 finding"))
  }

  @Test func missingFilesAreFindingsBesideThoseOfTheOthers() throws {
    let bench = try Workbench.withProject(
      #"return { model = "model.lua", extensions = { "none.lua", "rules.lua", "gone.lua", "bad.lua" } }"#)
    try bench.write("return { entities = { Persn = {} } }", to: "bad.lua")
    let outcome = try bench.moonbase("check")
    #expect(outcome.status == 1 && outcome.complaints.contains("4 files, 3 findings"), "\(outcome)")
    for part in [
      "moonbase.project.lua:1:46: extensions: none.lua does not exist: correct the path",
      "extensions: gone.lua does not exist", "bad.lua:1:",
    ] { #expect(outcome.output.contains(part), "\(part): \(outcome)") }
    let named = try bench.moonbase("check", "none.lua", "bad.lua", "gone.lua", "--json")
    #expect(named.output.components(separatedBy: "there is no such file").count == 3, "\(named)")
    #expect(named.output.contains("did you mean Person?"))
  }

  @Test func whatIsMissingIsWrongUsageOrAFinding() throws {
    let bench = try Workbench()
    try bench.write("return { entities = {} }", to: "x.lua")
    try bench.write(Workbench.projectModel, to: "model.lua")
    let noModel = try bench.moonbase("check", "x.lua")
    #expect(noModel.status == 2 && noModel.complaints.contains("--model PATH"), "\(noModel)")
    let noFile = try bench.moonbase("check", "--model", "model.lua")
    #expect(noFile.status == 2 && noFile.complaints.contains("there is no extension to check"), "\(noFile)")
    let gone = try bench.moonbase("check", "gone.lua", "--model", "model.lua")
    #expect(gone.status == 1 && gone.output.contains("gone.lua: there is no such file"), "\(gone)")
  }
}
