import MoonbaseLua
import MoonbaseScripting
import Testing

@Suite struct RunnerTests {
  @Test func exitStatusTellsHowAScriptEnded() throws {
    let bench = try ScriptBench()
    #expect(try bench.run("return").status == 0)
    #expect(try bench.run("error('no')").status == 1)
    #expect(try bench.run("this is no Lua").status == 1)
    #expect(try bench.run("os.exit(7)").status == 7)
    #expect(try bench.run("while true do end", limits: LuaLimits(instructions: 100_000)).status == 3)
  }

  @Test func argumentsAreInArgAndInTheDots() throws {
    let bench = try ScriptBench()
    try bench.run("print(arg[0], arg[1], #arg, ...)", arguments: ["a", "b"])
    #expect(bench.output == "script.lua\ta\t2\ta\tb\n")
  }

  @Test func unsavedChangesAreTold() throws {
    let outcome = try ScriptBench().run("moonbase.context:insert('Person')")
    #expect(outcome.status == 0 && outcome.message?.contains("not saved") == true)
  }

  @Test func failedSaveThatNobodyLookedAtEndsWithOne() throws {
    let bench = try ScriptBench()
    let save = "local c = moonbase.context c:insert('Person', { age = 13 }) local ok, err = c:save() "
    #expect(try bench.run(save).status == 1)
    #expect(try bench.run(save + "print(err) c:rollback()").status == 0)
  }

  @Test func errorsNameScriptAndLine() throws {
    let outcome = try ScriptBench().run("\nlocal p = moonbase.context:insert('Person')\np.nonsense = 1")
    #expect(outcome.message?.contains("script.lua:3") == true, "\(outcome)")
  }
}
