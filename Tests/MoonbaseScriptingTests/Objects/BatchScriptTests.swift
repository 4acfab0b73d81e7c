import MoonbaseTestSupport
import Testing

/// Batch requests in scripts.
@Suite struct BatchScriptTests {
  @Test(arguments: StoreKind.allCases) func updatesInsertsAndDeletesPassTheContext(_ kind: StoreKind) throws {
    let lines = try ThingBench.bench(
      kind, "validate = { i = function() return false, 'is refused' end }, will_save = function() error('no') end"
    ).lines(
      """
      print(context:batch_insert("P", { { s = "a", i = 1 }, { s = "b", i = 2 }, { s = "c" } }))
      local n = 0
      print(context:batch_insert("P", function() n = n + 1 if n < 3 then return { s = "f", i = 10 * n } end end))
      local a = context:fetch("P"):where("s = 'a'"):first()
      print(a.i, context:fetch("P"):where("i > 0"):batch_update { i = "i * 2", d = 0.5, s = "uppercase(s)" })
      print(a.i, a.d, a.s, context.has_changes)
      print(context:fetch("P"):where("i = NULL"):batch_update { s = moonbase.null })
      print(context:fetch("P"):where("s BEGINSWITH 'F'"):sort("-i"):limit(1):batch_delete())
      print(context:fetch("P"):count(), context:fetch("P"):where("i = 20"):count())
      print(context:fetch("P"):batch_delete(), pcall(function() return a.i end))
      """)
    #expect(lines.prefix(7) == ["3", "2", "1\t4", "2\t0.5\tA\tfalse", "1", "1", "4\t1"])
    #expect(lines.last?.hasPrefix("4\tfalse\t") == true)
  }

  @Test(arguments: [
    ("context:batch_insert('P', { { x = 1 } })", "no property x"),
    ("context:batch_insert('P', { { q = context:insert('P') } })", "is a relationship"),
    ("context:batch_insert('P', { 5 })", "a row of P is a table of values"),
    ("context:batch_insert('P', 5)", "function"), ("context:batch_insert('Q', {})", "no entity Q"),
    ("context:fetch('P'):batch_update { x = 1 }", "no property x"),
    ("context:fetch('P'):batch_update { i = 'x + 1' }", "no property x"),
    ("context:fetch('P'):batch_update { qs = {} }", "is a relationship"),
    ("context:fetch('P'):batch_update {}", "says nothing"),
    ("context:fetch('P'):limit(1):batch_update { i = 1 }", "leave limit and offset out"),
    ("context:fetch('P'):group_by('s'):batch_delete()", "makes groups"),
  ])
  func mistakesRaise(_ call: String, _ message: String) throws {
    let lines = try ThingBench.bench("").lines(
      "local ok, err = pcall(function() \(call) end) print(ok, err) context:rollback()")
    let wanted = message == "says nothing" ? "sets nothing: say what" : message
    #expect(lines.first?.hasPrefix("false\t") == true && lines.first?.contains(wanted) == true, "\(lines)")
  }

  @Test(arguments: StoreKind.allCases) func whatTheDataCausesIsReturned(_ kind: StoreKind) throws {
    let model = """
      return { entities = { P = { attributes = { s = "string", n = { "integer16" } }, constraints = { { "s" } } } } }
      """
    let lines = try ScriptBench(kind, model: model, extensions: []).lines(
      """
      assert(context:batch_insert("P", { { s = "a", n = 1 } }))
      local ok, err = context:batch_insert("P", { { s = "b" }, { s = "a", n = 2 } })
      print(ok, err.code, context:fetch("P"):count())
      print(select("#", context:fetch("P"):batch_update { n = "n + 1" }))
      """)
    #expect(lines == ["nil\t133021\t1", "1"])
  }
}
