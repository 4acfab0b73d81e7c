import MoonbaseGraph
import MoonbaseModel
import Testing

/// Errors that are raised and errors returned as `nil, err`: the error's code tells whether the program, a hook or the
/// data is at fault.
@Suite struct WhoseFaultTests {
  @Test func aMistakeOfAHookFailsTheSaveAndIsNoMistakeOfTheProgramThatSaves() throws {
    let lines = try ThingBench.bench("will_save = function(object) object.nonsense = 1 end").lines(
      """
      context:insert("P", { s = "a" })
      print(pcall(function()
        local ok, err = context:save()
        return ok, err.code, err.key, #err.traceback > 0
      end))
      """, leavingChanges: true)
    #expect(lines == ["true\tnil\t134047\tnonsense\ttrue"])
  }

  @Test(arguments: ["save()", "transaction(function() end)"])
  func whatNoSaveCouldDoRaisesInAHookAndFailsTheSaveThatRunsIt(_ call: String) throws {
    // The hook ignores the call's result.
    let lines = try ThingBench.bench("will_save = function(object) moonbase.context:\(call) end").lines(
      """
      context:insert("P", { s = "a" })
      local ok, err = context:save()
      print(ok, err.code, context:fetch("P"):count())
      """, leavingChanges: true)
    #expect(lines == ["nil\t132001\t1"])
  }

  @Test func aTransactionThatCannotBeginRaises() throws {
    let hook =
      "awake_from_insert = function(p) print(pcall(function() p:context():transaction(function() end) end)) end"
    let lines = try ThingBench.bench(hook).lines(
      """
      context:insert("P", { s = "a" })
      context:rollback()
      local ok, err = context:transaction(function() error("late") end)
      print(ok, err.code, err.message:match("late"))
      """, leavingChanges: true)
    try #require(lines.count == 2, "\(lines)")
    #expect(lines[0].hasPrefix("false\t") && lines[0].contains("while the context runs a hook"))
    #expect(lines[1] == "nil\t134043\tlate")
  }

  @Test func theSameMistakeHasTheSameCodeFromSwiftAndFromLua() throws {
    let bench = try ThingBench.bench("")
    let lines = try bench.lines(
      """
      local p = context:insert("P", {})
      local function code(f) return select(2, pcall(f)).code end
      print(code(function() p.i = "x" end), code(function() p.s = print end), code(function() p.x = 1 end),
        code(function() context:insert("X") end), code(function() context:fetch("X") end))
      """, leavingChanges: true)
    #expect(lines == ["134041\t134041\t134047\t134047\t134047"])
    #expect(GraphError.Code.invalidValue.rawValue == 134_041 && GraphError.Code.unknownName.rawValue == 134_047)
  }

  @Test func aValueThatIsAskedAboutIsJudgedAndNoMistake() throws {
    let lines = try ThingBench.bench("validate = { s = function(v) return v ~= 'b', 'is b' end }").lines(
      """
      local p = context:insert("P", {})
      local other = context:insert("P", {})
      context:delete(other)
      print(p:validate("s", "a"))
      print(select(2, p:validate("s", "b")).code, select(2, p:validate("q", other)).code)
      print(pcall(p.validate, p, "x", 1))
      """, leavingChanges: true)
    #expect(lines.count == 3 && lines[0] == "true" && lines[1] == "1550\t134041" && lines[2].hasPrefix("false\t"))
  }

  @Test func aTextThatIsNoDateIsNoMistake() throws {
    let lines = try ThingBench.bench("").lines("print(select(2, moonbase.date.parse('soon')).code)")
    #expect(lines == ["2048"])
  }
}
