import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct RunnerTests {
  /// A person of 151 years breaks a rule.
  @Test(arguments: [
    ("", true), ("print(err)", false), ("print(err) context:insert('Person')", true),
    ("print(err) context:rollback()", false),
    ("print(err) p.age = 1 assert(context:save()) p.age = 2", true),
  ]) func whatIsNotSavedIsToldUnlessAFailedSaveTold(_ rest: String, _ isTold: Bool) throws {
    let bench = try ScriptBench()
    let outcome = try bench.run(
      "local context = moonbase.context local p = context:insert('Person', { age = 1 }) p.age = 151 "
        + "local ok, err = context:save() \(rest)")
    #expect((outcome.message != nil) == isTold, "\(outcome)")
  }

  /// The cause of a graph error determines the exit status.
  @Test func anErrorBehindWhichALimitStandsHasTheLimitsStatus() {
    func status(_ kind: LuaError.Kind) -> Int32 {
      let limit = LuaError(kind, message: "the script ran out")
      let inner = GraphError(.extensionFailure, message: "P: will_save failed", underlying: limit)
      return ScriptRunner.status(of: GraphError(.storeFailure, message: "the store failed", underlying: inner))
    }
    #expect(status(.limit(.deadline)) == 3)
    #expect(status(.limit(.memory)) == 3)
    #expect(status(.limit(.instructions)) == 3)
    #expect(status(.interrupted) == 130)
    #expect(status(.runtime) == 1)
    let busy = GraphError(.storeBusy, message: "it is busy", underlying: LuaError(.runtime, message: "x"))
    #expect(ScriptRunner.status(of: busy) == 75)
  }

  /// A list in a model's table is charged element by element, not at its end.
  @Test func aLongListOfAModelEndsTheRunBeforeItsLastElementIsReached() throws {
    let outcome = try ScriptBench().run(
      """
      local list = {}
      for i = 1, 200000 do list[i] = "x" end
      list[#list + 1] = print
      moonbase.open { model = { entities = { A = { constraints = list } } } }
      """, limits: LuaLimits(instructions: 2_000_000),
      opener: { _ in throw ScriptError(.invalidRequest, message: "nothing is opened here") })
    #expect(outcome.status == 3, "\(outcome)")
  }

  /// Evaluating a predicate is charged per row, in memory and in the store.
  @Test(arguments: StoreKind.allCases) func whatAPredicateComputesIsCharged(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(kind, "")
    let code = """
      local context = moonbase.context
      for i = 1, 200 do context:insert("P", { i = i }) end
      assert(context:save())
      for i = 1, 20 do context:insert("P", { i = i }) end
      print(context:fetch("P"):where("TERNARY(i > -1, 1, 2) + " .. ("%@+"):rep(400) .. "1 > 0"):count())
      """
    let (cheap, dear) = (code.replacing("%@", with: "1"), code.replacing("%@", with: "q.q.i"))
    #expect(try bench.run(cheap + " context:rollback()", limits: LuaLimits(instructions: 4_000_000)).status == 0)
    #expect(try bench.run(dear + " context:rollback()", limits: LuaLimits(instructions: 1_000_000)).status == 3)
  }

  /// Each part of a predicate is charged once, however long its chains are.
  @Test func whatAStoreIsAskedIsChargedByItsLength() throws {
    let bench = try ThingBench.bench(.sqlite, "")
    func code(_ count: Int) -> String {
      "local r = moonbase.context:fetch('P') for i = 1, \(count) do r = r:where(('i+'):rep(450) .. 'i > 0') end r:count()"
    }
    #expect(try bench.run(code(10), limits: LuaLimits(instructions: 3_000_000)).status == 0)
    #expect(try bench.run(code(200), limits: LuaLimits(instructions: 3_000_000)).status == 3)
  }

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
