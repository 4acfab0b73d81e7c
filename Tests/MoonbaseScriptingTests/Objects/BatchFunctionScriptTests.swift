import MoonbaseLua
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Batch updates with functions of scripts.
@Suite struct BatchFunctionScriptTests {
  private static let rows = """
    assert(context:batch_insert("P", { { s = "a", i = 1, d = 0.5, bin = "\\0\\255" }, { s = "b", i = 2 }, { s = "é" } }))

    """

  private func lines(_ kind: StoreKind, _ script: String, extending: String = "") throws -> [String] {
    try ThingBench.bench(kind, extending).lines(Self.rows + script)
  }

  @Test(arguments: StoreKind.allCases) func aFunctionGetsTheValueAndGivesTheNewOne(_ kind: StoreKind) throws {
    let lines = try lines(
      kind,
      """
      local a = context:fetch("P"):where("s = 'a'"):first()
      print(a.i, context:fetch("P"):batch_update {
        s = function(s) return s .. s end,
        i = function(i) return i and i * 10 end,
        d = { inputs = { "d", "i" }, get = function(d, i) return (d or 1) + (i or 0) end },
        bin = function(bytes) return bytes and bytes:reverse() end,
        day = { inputs = { "i" }, get = function(i) return i and moonbase.date.reference(i) end },
      })
      print(a.i, a.s, a.d, a.bin == "\\255\\0", a.day == moonbase.date.reference(1))
      for p in context:fetch("P"):sort("s"):each() do print(p.s, p.i, p.d) end
      print(context:fetch("P"):where("i > 10"):batch_update { s = function() return nil end })
      print(context:fetch("P"):where("s = NULL"):count())
      """)
    #expect(
      lines == ["1\t3", "10\taa\t1.5\ttrue\ttrue", "aa\t10\t1.5", "bb\t20\t3.0", "éé\tnil\t1.0", "1", "1"])
  }

  @Test(arguments: StoreKind.allCases) func aTransformedAttributeIsWhatScriptsSeeOfIt(_ kind: StoreKind) throws {
    let lines = try lines(
      kind,
      """
      print(context:fetch("P"):batch_update { tr = { inputs = { "s" }, get = function(s) return s:upper() end } })
      print(context:fetch("P"):batch_update { tr = function(value) return value .. "!" end })
      print(context:fetch("P"):where("i = 2"):first().tr)
      """)
    #expect(lines == ["3", "3", "B!"])
  }

  @Test(
    arguments: StoreKind.allCases,
    [
      ("s = function(s) if s == 'b' then error('no b') end return s end", "script.lua:3: no b", "P.s"),
      ("s = function(s) return s.x.y end", "script.lua:3: ", "P.s"), ("i = function() return 'x' end", "takes", "P.i"),
      ("i = function() return 1.5 end", "takes", "P.i"), ("i = function() end", "returned nothing", "P.i"),
      ("s = function() return '\\255' end", "is not UTF-8", "P.s"), ("s = function() return {} end", "takes", "P.s"),
      ("s = function() return print end", "cannot be stored", "P.s"),
      ("s = function() coroutine.yield(1) end", "yield", "P.s"),
      ("s = function(s) context:save() return s end", "before or after", "P.s"),
      ("s = function(s) return context:fetch('P'):first().s end", "before or after", "P.s"),
      ("s = function(s) context:fetch('P'):batch_delete() end", "before or after", "P.s"),
      ("s = function(s) context:save_ahead() end", "before or after", "P.s"),
      ("s = function(s) pcall(function() context:save() end) return s end", "before or after", "P.s"),
      ("s = { inputs = { 5 }, get = print }", "inputs of s lists names", "s"),
      ("s = { inputs = { 'x' }, get = print }", "no property x", ""),
    ])
  func whatFailsNamesAttributeRowAndLineAndWritesNothing(
    _ kind: StoreKind, _ mistake: (set: String, message: String, name: String)
  ) throws {
    let lines = try lines(
      kind,
      """
      local function try() return context:fetch("P"):batch_update { \(mistake.set) } end
      local ok, one, two = pcall(coroutine.wrap(function() return try() end))
      local err = ok and two or one
      print((tostring(err):gsub("%s+", " ")))
      local texts = {}
      for p in context:fetch("P"):sort("s"):each() do texts[#texts + 1] = p.s .. (p.i or "") end
      print(table.concat(texts, " "))
      print(context:fetch("P"):batch_update { s = function(s) return s .. "." end })
      """)
    #expect(lines[0].contains(mistake.message) && lines[0].contains(mistake.name), "\(lines)")
    #expect(lines.dropFirst() == ["a1 b2 é", "3"])
  }

  @Test(arguments: StoreKind.allCases) func limitsEndItAndTheStoreIsAsBefore(_ kind: StoreKind) throws {
    let bench = try ThingBench.bench(kind, "")
    _ = try bench.lines(Self.rows)
    let script = """
      moonbase.context:fetch("P"):batch_update { s = function(s) if s == "b" then while true do end end return "x" end }
      """
    let outcome = try bench.run(script, limits: LuaLimits(instructions: 100_000))
    #expect(outcome.status == 3, "\(outcome)")
    #expect(try bench.lines("for p in context:fetch('P'):sort('s'):each() do print(p.s) end") == ["a", "b", "é"])
  }

  /// The request waits for a background save before it begins, not while it runs.
  @Test(arguments: StoreKind.allCases) func aSaveThatIsOnItsWayIsWaitedFor(_ kind: StoreKind) throws {
    let lines = try lines(
      kind,
      """
      for i = 1, 3000 do context:insert("P", { s = "n", i = i }) end
      context:save_ahead()
      print(context:fetch("P"):batch_update { i = function(i) return (i or 0) + 1 end })
      print(context:fetch("P"):where("s = 'n'"):sort("i"):first().i)
      """)
    #expect(lines == ["3003", "2"])
  }
}
