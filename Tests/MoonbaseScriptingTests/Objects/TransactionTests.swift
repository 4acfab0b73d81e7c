import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct TransactionTests {
  @Test(arguments: StoreKind.allCases) func bodyMayNotSaveByAnyWay(_ kind: StoreKind) throws {
    for save in [
      "context:save()", "for p in context:fetch('P'):save_every(1):each() do p.i = 9 end",
      "context:transaction(function() end)",
    ] {
      let lines = try ThingBench.bench(kind, "").lines(
        """
        context:insert("P", { s = "a", i = 1 })
        context:insert("P", { s = "b", i = 1 })
        assert(context:save())
        local ok, err = context:transaction(function()
          context:insert("P", { s = "c" })
          \(save)
          error("late")
        end)
        print(ok, tostring(err):match("late"), context.has_changes, context:fetch("P"):where("i = 1"):count(),
          context:fetch("P"):count())
        print(context:transaction(function() context:insert("P") return 7 end))
        """, leavingChanges: true)
      #expect(lines == ["nil\tnil\tfalse\t2\t2", "true\t7"], "\(save)")
    }
  }

  /// An object that this context saved first and then read anew has the destinations that its store has.
  @Test(
    arguments: StoreKind.allCases,
    [
      "a.i = 5 context:refresh(a)", "a.fr = {} context:refresh(t) context:refresh(a)", "t.i = 4 context:refresh(t)",
      "context:delete(a) context:process_pending_changes() context:refresh(a)",
    ])
  func aFailedTransactionLeavesTheDestinationsOfWhatItRefreshed(_ kind: StoreKind, _ body: String) throws {
    let lines = try ThingBench.bench(kind, "").lines(
      """
      local a, k, t = context:insert("P", { i = 1 }), context:insert("P", { i = 2 }), context:insert("P", { i = 3 })
      k.q = a a.fr = { t } assert(context:save())
      local ok, err = context:transaction(function() \(body) error("doom") end)
      print(ok, tostring(err):match("doom"))
      print(#a.qs, #a.fr, #t.fr, k.q.i)
      a.fr = {}
      assert(context:save())
      context:reset()
      print(#context:find("P", { i = 1 }).fr == 0, #context:find("P", { i = 1 }).qs)
      """)
    #expect(lines == ["nil\tdoom", "1\t1\t1\t1", "true\t1"])
  }

  @Test(arguments: StoreKind.allCases) func aFailureThatNobodyLookedAtFailsTheProgram(_ kind: StoreKind) throws {
    let bench = try ScriptBench(
      kind, model: "return { entities = { P = { attributes = { s = { 'string', optional = false } } } } }",
      extensions: [])
    let body = "moonbase.context:transaction(function() moonbase.context:insert('P') %@ end)"
    for failing in ["", "moonbase.context:insert('P', { nosuch = 1 })"] {
      let call = body.replacing("%@", with: failing)
      for script in [call, "local ok, err = \(call)"] {
        let outcome = try bench.run(script)
        #expect(outcome.status == 1)
        #expect(outcome.message?.contains("a transaction failed and was rolled back: P") == true, "\(outcome)")
      }
      for use in ["print(err)", "local c = err.code", "assert(tostring(err) ~= '')"] {
        let outcome = try bench.run("local ok, err = \(call) \(use)")
        #expect(outcome.status == 0 && outcome.message == nil, "\(use): \(outcome)")
      }
      #expect(try bench.run("assert(\(call))").status == 1)
    }
    // What became of a table that the body raised nobody can know.
    #expect(try bench.run(body.replacing("%@", with: "error({})")).status == 0)
  }

  @Test(arguments: [("error('x')", "script.lua:2: x"), ("error('x', 0)", "x"), ("nosuch()", "script.lua:2: attempt")])
  func aTextThatTheBodyRaisedAndNobodyLookedAtFailsTheProgram(_ failing: String, _ message: String) throws {
    let call = "moonbase.context:transaction(function() moonbase.context:insert('P')\n\(failing) end)"
    let bench = try ThingBench.bench("")
    for script in [call, "local ok, err = \(call)"] {
      let outcome = try bench.run(script)
      #expect(outcome.status == 1)
      #expect(outcome.message?.contains("a transaction failed and was rolled back: \(message)") == true, "\(outcome)")
      #expect(outcome.message?.contains("script.lua:2: in ") == true, "\(outcome)")
    }
    for use in [
      "print(err)", "local s = 'no: ' .. err", "local m = err.message", "assert(tostring(err):find('^\(message)'))",
    ] {
      let outcome = try bench.run("local ok, err = \(call) \(use)")
      #expect(outcome.status == 0 && outcome.message == nil, "\(use): \(outcome)")
    }
    let raised = try bench.run("assert(\(call))")
    #expect(raised.status == 1 && raised.message?.contains(message) == true, "\(raised)")
  }
}
