import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Random edits with derived attributes of a Lua extension: on demand, pre-calculated, stored and pure, over
/// attributes, to-one and to-many relationships, aggregates and other derived attributes. Each value equals the result
/// of its function.
@Suite struct RandomDerivedScriptTests {
  private static let model = """
    return { entities = {
      Person = {
        attributes = { name = "string", age = "integer16", saved = "string", own = "string" },
        relationships = {
          team = { to = "Team", inverse = "members" }, friends = { to_many = "Person", inverse = "friends" } } },
      Team = {
        attributes = { title = "string", saved = "string" },
        relationships = { members = { to_many = "Person", inverse = "team" } } },
    } }
    """

  @Test(arguments: StoreKind.allCases) func everyValueIsWhatIsComputedFromScratch(_ kind: StoreKind) throws {
    let folder = ScriptModuleTests.folder
    let text = try String(contentsOf: folder.appendingPathComponent("derived.lua"), encoding: .utf8)
    let bench = try ScriptBench(
      kind, model: Self.model, extensions: [], files: [folder.appendingPathComponent("derived_extension.lua")])
    let count = Repetition.derivedSequences.seeds
    let outcome = try bench.run(text, arguments: ["\(TestLength.firstSeed ?? 1)", "\(count)"])
    #expect(outcome.status == 0 && bench.output == "done\n", "\(outcome) \(bench.output)")
  }
}
