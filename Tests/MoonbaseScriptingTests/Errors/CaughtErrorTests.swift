import MoonbaseLua
import MoonbaseScripting
import Testing

/// Errors that scripts catch, of the graph or of this layer, have the same form: `code`, `message`, `traceback`, and a
/// text with the place.
@Suite struct CaughtErrorTests {
  private func caught(_ code: String) throws -> [String] {
    try ScriptBench().lines(
      """
      local function body()
        \(code)
      end
      local done, e = pcall(body)
      print(done, type(e), math.type(e.code), type(e.message), (e.traceback:gsub("\\n", " / ")))
      print(e.message)
      print(e)
      """, leavingChanges: true)
  }

  @Test(arguments: [
    ("context:insert(5)", "bad argument #1 to 'insert'"), ("return moonbase.date.now() < 3", "attempt to compare date"),
    ("context:fech('P')", "a context has no 'fech'"), ("context:insert('Person').agee = 1", "no property agee"),
    ("context:insert('Person').age = 'x'", "takes an Integer 16"),
    ("context:fetch('Person'):where('agee = 1'):all()", "agee"),
    ("return moonbase.decimal(1) + {}", "attempt to calculate decimal"), ("moonbase.opne()", "moonbase has no 'opne'"),
  ]) func errorsHaveCodeMessageAndTraceback(_ code: String, _ message: String) throws {
    let lines = try caught(code)
    try #require(lines.count >= 3)
    #expect(lines[0].hasPrefix("false\tuserdata\tinteger\tstring\t"), "\(lines)")
    #expect(lines[0].contains(":3: in "), "\(lines)")
    #expect(lines[1].contains(message) && !lines[1].contains(":3: "), "\(lines)")
    #expect(lines[2].contains(message), "\(lines)")
  }

  @Test func aWrongArgumentSaysItsLine() throws {
    #expect(try caught("context:insert(5)").last?.contains(":3: bad argument #1 to 'insert'") == true)
  }

  @Test func anErrorThatIsReturnedSaysWhereItWas() throws {
    let lines = try ScriptBench().lines(
      """
      context:insert("Person", { age = 999 })
      local function try()
        return context:save()
      end
      local done, e = try()
      print(done, type(e), math.type(e.code), (e.traceback:gsub("\\n", " / ")))
      context:rollback()
      """)
    #expect(
      lines.first?.hasPrefix("nil\tuserdata\tinteger\t") == true && lines.first?.contains(":4: in ") == true, "\(lines)"
    )
  }

  /// The report at the end of a script names the line of a failed save whose result was ignored.
  @Test func aFailedSaveThatNobodyLookedAtSaysItsLine() throws {
    let outcome = try ScriptBench().run(
      """
      local context = moonbase.context
      context:insert("Person", { age = 999 })

      context:save()
      """)
    #expect(outcome.status == 1)
    #expect(outcome.message?.contains(":4: a save failed and nothing was saved: ") == true, "\(outcome)")
  }

  /// A limit's error names the current place in the script, even within an extension.
  @Test func aLimitThatAnExtensionPassedNamesItsLine() throws {
    let get = "function()\n  while true do end\nend"
    let bench = try ScriptBench(
      extensions: [
        ScriptBench.colors,
        "return { entities = { Person = { derived = { slow = { type = \"string\", get = \(get) } } } } }",
      ])
    let outcome = try bench.run(
      "local p = moonbase.context:insert('Person')\nprint(pcall(function() return p.slow end))",
      limits: LuaLimits(instructions: 100_000))
    #expect(outcome.status == 3)
    #expect(outcome.message?.hasPrefix("extension2.lua:2: the script used up its instructions") == true, "\(outcome)")
  }
}
