import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Composite elements, and missing ones, in migration scripts, rules and imports of folders.
@Suite struct CompositeMigrationCommandTests {
  private static let model = """
    return { version = "1", entities = {
      Base = { abstract = true, attributes = { name = "string" } },
      P = { parent = "Base", attributes = { old = "string", a = { "composite", elements = { street = "string", city = "string" } } } },
    } }
    """

  private let bench: Workbench

  init() throws {
    bench = try Workbench()
    try bench.write(Self.model, to: "1.lua")
    try bench.write("return { P = function(old, new) end }", to: "nothing.lua")
    try bench.write(
      #"{"name":"n","old":"o","a":{"street":"S","city":"x"}}"# + "\n" + #"{"name":"m","a":{"city":"12"}}"# + "\n",
      to: "p.ndjson")
    let made = try bench.moonbase("import", "P", "p.ndjson", "--store", "s.sqlite", "--model", "1.lua")
    try #require(made.status == 0, "\(made)")
  }

  private func model(_ changes: (String, String)..., to name: String) throws {
    var text = Self.model.replacingOccurrences(of: #"version = "1""#, with: #"version = "2""#)
    for (old, new) in changes { text = text.replacingOccurrences(of: old, with: new) }
    try bench.write(text, to: name)
  }

  /// All objects as JSON, without spaces.
  private func rows() throws -> String {
    let outcome = try bench.moonbase("fetch", "P", "--store", "s.sqlite", "--format", "ndjson")
    return outcome.output.replacingOccurrences(of: " ", with: "")
  }

  @Test func aMigrationScriptCarriesElementsOverByNameAndRenamingIdentifier() throws {
    try model(
      (#"street = "string""#, #"line = { "string", renamed_from = "street" }"#),
      (#"old = "string""#, #"new = { "string", renamed_from = "old" }"#), to: "2.lua")
    let plan = try bench.moonbase("migrate", "s.sqlite", "--to", "2.lua", "--mapping", "nothing.lua", "--plan")
    #expect((plan.output + plan.complaints).contains("~ a.line (was street)"), "\(plan)")
    let done = try bench.moonbase("migrate", "s.sqlite", "--to", "2.lua", "--mapping", "nothing.lua")
    #expect(done.status == 0, "\(done)")
    let found = try rows()
    #expect(found.contains(#""line":"S""#) && found.contains(#""new":"o""#), "\(found)")
  }

  @Test func anElementThatItsNewTypeCannotKeepIsNotLostInSilence() throws {
    try model((#"city = "string""#, #"city = "integer16""#), to: "2.lua")
    let refused = try bench.moonbase("migrate", "s.sqlite", "--to", "2.lua", "--mapping", "nothing.lua")
    #expect(refused.status == 1, "\(refused)")
    try bench.write(
      "return { P = function(old, new) if old.a.city == 'x' then new.a = { street = old.a.street, city = 5 } end end }",
      to: "five.lua")
    let done = try bench.moonbase("migrate", "s.sqlite", "--to", "2.lua", "--mapping", "five.lua")
    #expect(done.status == 0, "\(done)")
    let found = try rows()
    #expect(found.contains(#""city":5"#) && found.contains(#""city":12"#), "\(found)")
  }

  @Test func anElementThatGoesStandsInThePlan() throws {
    try model((#"street = "string", "#, ""), to: "2.lua")
    let plan = try bench.moonbase("migrate", "s.sqlite", "--to", "2.lua", "--mapping", "nothing.lua", "--plan")
    #expect((plan.output + plan.complaints).contains("- a.street"), "\(plan)")
  }

  @Test func rulesOfElementsAreAskedByASave() throws {
    try bench.write(
      """
      return { entities = { P = { attributes = { a = { "composite", elements = {
        city = { "string", optional = false, max_length = 5 }, n = { "integer16", max = 10 } } } } } } }
      """, to: "r.lua")
    try bench.write(
      #"{"a":{"n":5}}"# + "\n" + #"{"a":{"city":"Oslo","n":50}}"# + "\n" + #"{"a":{"city":"Oslo","n":5}}"# + "\n"
        + #"{"a":null}"# + "\n",
      to: "r.ndjson")
    let outcome = try bench.moonbase("import", "P", "r.ndjson", "--store", "r.sqlite", "--model", "r.lua")
    #expect(outcome.status == 4 && outcome.complaints.contains("2 rejected"), "\(outcome)")
    let rejects = String(decoding: try bench.bytes(of: "r.rejects.ndjson"), as: UTF8.self)
    #expect(rejects.contains("city is required") && rejects.contains("at most 10"), "\(rejects)")
  }

  @Test func aFolderWithMoreThanTheModelHasIsRefused() throws {
    let exported = try bench.moonbase("export", "--all", "folder", "--store", "s.sqlite")
    try #require(exported.status == 0, "\(exported)")
    try model((#"old = "string", "#, ""), to: "less.lua")
    let outcome = try bench.moonbase("import", "--all", "folder", "--store", "l.sqlite", "--model", "less.lua")
    #expect(outcome.status == 1 && outcome.complaints.contains("P keeps no property of this name"), "\(outcome)")
  }

  @Test func rowsThatAForcedImportTookAreRejectedNoMore() throws {
    try bench.write("name,a\nQ,5\n", to: "q.csv")
    let first = try bench.moonbase("import", "P", "q.csv", "--store", "s.sqlite")
    #expect(first.status == 4, "\(first)")
    try bench.write("name\nQ\n", to: "q.csv")
    let second = try bench.moonbase("import", "P", "q.csv", "--store", "s.sqlite", "--force")
    #expect(second.status == 0, "\(second)")
    #expect(!FileManager.default.fileExists(atPath: bench.file("q.rejects.csv").path))
  }
}
