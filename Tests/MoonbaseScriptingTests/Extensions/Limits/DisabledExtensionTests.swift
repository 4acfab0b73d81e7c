import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// An extension that exceeded its limits is disabled if the host wishes; operations that need the extension then fail.
@Suite struct DisabledExtensionTests {
  private static let file = """
    return {
      name = "hostile", transformers = { T = { transform = function(v) return v end, reverse = function(b) return b end } },
      entities = { P = {
        validate = { i = function(v) if v == 99 then while true do end end return true end },
        derived = {
          twice = { type = 'integer64', inputs = { 'i' }, pure = true, get = function(i) return i and i * 2 end },
          text = { get = function(p) return p.s end, set = function(v, p) p.s = v end },
        },
        methods = { hello = function(p) return "hello" end },
      } },
    }
    """
  private static let limits = ExtensionLimits(instructions: 50_000, onExceeding: .disable)

  private static let script = """
    local p = context:insert("P", { i = 1 })
    assert(context:save())
    p.i = 99
    local first = failing(function() return context:save() end)
    p.i = 2
    local again, code = failing(function() return context:save() end)
    local other = failing(function() return p.text end)
    local set = failing(function() p.text = "x" return "set" end)
    local method = failing(function() return p:hello() end)
    local search = failing(function() return context:fetch("P"):where("twice = 4"):count() end)
    local assign = failing(function() p.tr = "x" return context:save() end)
    local why = moonbase.extensions[1].disabled_because
    return first, again, code, other, set, method, search, assign, "extension hostile is disabled because " .. why
    """

  @Test(arguments: StoreKind.allCases) func eachDoorTellsWhy(_ kind: StoreKind) throws {
    let bench = try LimitBench(kind, ["hostile": (Self.file, Self.limits)])
    var results = try bench.run(Self.script)
    #expect(results.removeFirst()?.contains("in P.validate.i, and is disabled now") == true, "\(results)")
    #expect(results.remove(at: 1) == "135005")
    let reason =
      "extension hostile is disabled because extension hostile exceeded its limit of 50000 instructions in P.validate.i"
    for result in results { #expect(result?.contains(reason) == true, "\(String(describing: result))") }
    #expect(bench.reports.map(\.isDisabled) == [true])
    #expect(bench.extensions.loaded.first?.disabledBecause?.contains("in P.validate.i at hostile.lua:4") == true)
  }

  @Test(arguments: StoreKind.allCases) func itGoesOnOnceItIsEnabled(_ kind: StoreKind) throws {
    let bench = try LimitBench(kind, ["hostile": (Self.file, Self.limits)])
    _ = try bench.run(Self.script)
    #expect(!bench.extensions.enable("other") && bench.extensions.enable("hostile"))
    #expect(bench.extensions.loaded.first?.disabledBecause == nil)
    #expect(
      try bench.run("return context:insert('P', { i = 1 }):hello(), context:save() and 'saved'") == ["hello", "saved"])
  }

  @Test(arguments: StoreKind.allCases) func itGoesOnOnceItIsLoadedAnew(_ kind: StoreKind) throws {
    let bench = try LimitBench(kind, ["hostile": (Self.file, Self.limits)])
    _ = try bench.run(Self.script)
    try bench.extensions.reload()
    #expect(try bench.run("return context:insert('P'):hello()") == ["hello"])
  }

  @Test(arguments: StoreKind.allCases) func thoseThatAreReportedGoOn(_ kind: StoreKind) throws {
    let limits = ExtensionLimits(instructions: 50_000)
    let bench = try LimitBench(kind, ["hostile": (Self.file, limits)])
    let results = try bench.run(
      """
      local p = context:insert("P", { i = 99 })
      local first = failing(function() return context:save() end)
      p.i = 1
      return first, p:hello(), context:save() and "saved"
      """)
    #expect(results.dropFirst() == ["hello", "saved"], "\(results)")
    #expect(bench.reports.map(\.isDisabled) == [false])
  }
}
