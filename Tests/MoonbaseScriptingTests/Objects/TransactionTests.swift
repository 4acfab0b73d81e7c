import MoonbaseScripting
import MoonbaseTestSupport
import Testing

@Suite struct TransactionTests {
  @Test(arguments: StoreKind.allCases) func bodyMayNotSaveByAnyWay(_ kind: StoreKind) throws {
    for save in [
      "context:save()", "for p in context:fetch('P'):save_every(1):each() do p.i = 9 end",
      "assert(context:transaction(function() assert(context:save()) end))",
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

  /// The error's text has the line once, whatever the body raises; phrase, code and key are unchanged.
  @Test func anErrorOfTheBodySaysItsLine() throws {
    let lines = try ThingBench.bench("").lines(
      """
      local p = context:insert("P")
      for _, body in ipairs {
        function() p.ii = 1 end,
        function() p.i = "x" end,
        function() context:fetch("X") end,
        function() error("told") end,
        function() local x return x.y end,
        function() assert(context:transaction(function() p.ii = 1 end)) end,
        function() error({ 1 }) end,
      } do
        local ok, err = context:transaction(body)
        local isTable = type(err) == "table"
        print(tostring(err):match("^script.lua:%d+: [^:]*") or isTable, not isTable and err.message, not isTable and err.key)
      end
      """, leavingChanges: true)
    #expect(
      lines == [
        "script.lua:4: P has no property ii; did you mean i?\tP has no property ii; did you mean i?\tii",
        "script.lua:5: P.i\ttakes an Integer 64, not string 'x'; make a number of the text\ti",
        "script.lua:6: the model has no entity X\tthe model has no entity X\tnil",
        "script.lua:7: told\tscript.lua:7: told\tnil",
        "script.lua:8: attempt to index a nil value (local 'x')\tscript.lua:8: attempt to index a nil value (local 'x')\tnil",
        "script.lua:9: P has no property ii; did you mean i?\tP has no property ii; did you mean i?\tii",
        "true\tfalse\tfalse",
      ])
  }

  @Test(arguments: StoreKind.allCases) func aTransactionWithinAnotherIsASavepoint(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(kind, "").lines(
      """
      local p
      print(context:transaction(function()
        p = context:insert("P", { s = "a", i = 1 })
        local ok, err = context:transaction(function()
          p.i = 2
          context:insert("P", { s = "gone" })
          print(context:transaction(function() p.s = "b" return "inner" end))
          print(select(2, pcall(context.rollback, context)).message)
          error("half")
        end)
        print(ok, tostring(err):match("half"), p.i, p.s, #context.inserted)
        context:transaction(function() p.i = 3 end)
        return p.i
      end))
      print(context.has_changes, context:fetch("P"):pending(false):count(), context:fetch("P"):where("i = 3"):count())
      """)
    try #require(lines.count == 5, "\(lines)")
    #expect(lines[0] == "true\tinner" && lines[1].contains("a rollback was asked for"))
    #expect(Array(lines[2...]) == ["nil\thalf\t1\ta\t1", "true\t3", "false\t1\t1"])
  }

  @Test(arguments: StoreKind.allCases) func changesFromBeforeATransactionOutliveItsFailure(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(kind, "").lines(
      """
      local p = context:insert("P", { s = "a", i = 1 })
      assert(context:save())
      p.i = 2
      local new = context:insert("P", { s = "n", i = 7 })
      for _, stop in ipairs { "context:rollback()", "context:reset()", "context:refresh(p, false)", "error('stop')" } do
        local ok, err = context:transaction(function()
          p.i = 3 p.s = "b" new.i = 8
          context:insert("P", { s = "c" })
          assert(load("local context, p = ... " .. stop))(context, p)
        end)
        print(ok, tostring(err):match("stop") or tostring(err):match("asked for"), p.i, p.s, new.i, #context.inserted, #context.updated)
      end
      print(context:fetch("P"):pending(false):where("i = 2"):count())
      print(context:transaction(function() new.s = "m" end), context.has_changes, context:fetch("P"):where("i = 2"):count())
      """)
    let kept = "nil\tasked for\t2\ta\t7\t1\t1"
    #expect(lines == [kept, kept, kept, "nil\tstop\t2\ta\t7\t1\t1", "0", "true\tfalse\t1"])
  }

  /// An object that this context saved and then read again has the destinations of the store.
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
        let place = failing.isEmpty ? "" : "script.lua:1: "
        #expect(outcome.message?.contains("a transaction failed and was rolled back: \(place)P") == true, "\(outcome)")
      }
      for use in ["print(err)", "local c = err.code", "assert(tostring(err) ~= '')"] {
        let outcome = try bench.run("local ok, err = \(call) \(use)")
        #expect(outcome.status == 0 && outcome.message == nil, "\(use): \(outcome)")
      }
      #expect(try bench.run("assert(\(call))").status == 1)
    }
    // A raised table has no usable text.
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
