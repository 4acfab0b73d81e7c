import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Values set through every accessor of scripts, compared with plain tables: the Lua counterpart of the graph's
/// reference runs.
@Suite struct RandomDoorTests {
  private static let hooks = """
    validate = { i = function(value) return value >= 0, "is negative" end },
    will_save = function(object)
      if object.s ~= "fail in the hook" then return end
      object.day = moonbase.date.unix(77) object.i = 77 object.bin = "by a hook" object.d = 7.5 object.tr = "by a hook"
      error("the hook fails")
    end,
    """

  @Test(arguments: StoreKind.allCases) func whatScriptsSetIsWhatTheyRead(_ kind: StoreKind) throws {
    let script = ScriptModuleTests.folder.appendingPathComponent("doors.lua")
    let text = try String(contentsOf: script, encoding: .utf8)
    let bench = try ThingBench.bench(kind, Self.hooks)
    let outcome = try bench.run(text, arguments: ["\(TestLength.firstSeed ?? 1)", "\(Repetition.luaSequences.seeds)"])
    #expect(outcome.status == 0 && bench.output == "done\n", "\(outcome) \(bench.output)")
  }
}
