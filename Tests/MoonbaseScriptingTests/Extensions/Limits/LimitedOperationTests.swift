import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// An operation that fails by the limit of an extension leaves everything as it was.
@Suite struct LimitedOperationTests {
  /// Loops while `s` of an object is "loop".
  private static let file = """
    local function spin(p) if p and p.s == "loop" then while true do end end end
    return {
      name = "hostile", transformers = { T = { transform = function(v) return v end, reverse = function(b) return b end } },
      entities = { P = {
        will_save = spin,
        derived = {
          late = { inputs = { "s" }, type = "string", get = function(s) if s == "loop" then while true do end end return s end },
          full = { stored = true, inputs = { "s" }, type = "string",
                   get = function(s) if s == "deep" then while true do end end return s end },
        },
      } },
    }
    """

  private func bench(_ kind: StoreKind) throws -> LimitBench {
    try LimitBench(kind, ["hostile": (Self.file, ExtensionLimits(instructions: 50_000))])
  }

  @Test(arguments: StoreKind.allCases) func aSaveChangesNothing(_ kind: StoreKind) throws {
    for text in ["loop", "deep"] {
      let results = try bench(kind).run(
        """
        local p = context:insert("P", { s = "a", i = 1 })
        assert(context:save())
        p.s, p.i = "\(text)", 2
        local q = context:insert("P", { i = 3 })
        local message = failing(function() return context:save() end)
        local pending = #context.updated .. "," .. #context.inserted .. "," .. p.i
        local stored = context:fetch("P"):where("i = 1"):pending(false):count()
        p.s = "b"
        assert(context:save())
        return message, pending, stored, context:fetch("P"):where("i >= 2"):count(), p.full
        """)
      #expect(results[0]?.contains("exceeded its limit") == true, "\(results)")
      #expect(results.dropFirst() == ["1,1,2", "1", "2", "b"], "\(results)")
    }
  }

  @Test(arguments: StoreKind.allCases) func aTransactionGoesBack(_ kind: StoreKind) throws {
    let results = try bench(kind).run(
      """
      local p = context:insert("P", { s = "a", i = 1 })
      assert(context:save())
      local ok, message = context:transaction(function()
        p.i = 2
        assert(context:transaction(function() p.i = 3 end))
        p.s = "loop"
      end)
      return tostring(ok), tostring(message), p.i, p.s, #context.updated, context:fetch("P"):count()
      """)
    #expect(results[0] == "nil" && results[1]?.contains("exceeded its limit") == true, "\(results)")
    #expect(results.dropFirst(2) == ["1", "a", "0", "1"], "\(results)")
  }

  @Test(arguments: StoreKind.allCases) func undoGoesOn(_ kind: StoreKind) throws {
    let results = try bench(kind).run(
      """
      context.undo_levels = 10
      local p = context:insert("P", { s = "a" })
      assert(context:save())
      p.s = "loop"
      local read = failing(function() return p.late end)
      p.s = "b"
      context:undo()
      local again = failing(function() return p.late end)
      context:undo()
      return read, again, p.s, p.late, context:redo() ~= false and p.s
      """)
    #expect(results[0]?.contains("P.derived.late.get") == true, "\(results)")
    #expect(results[1]?.contains("P.derived.late.get") == true, "\(results)")
    #expect(results.dropFirst(2) == ["a", "a", "loop"], "\(results)")
  }

  /// Watches that a hook sets up belong to the extension.
  @Test(arguments: StoreKind.allCases) func watchesOfAnExtensionAreLimited(_ kind: StoreKind) throws {
    let file = """
      return { name = "hostile", \(ThingBench.transformer) entities = { P = { awake_from_insert = function(p)
        p:context():on("will_save", function() while true do end end)
      end } } }
      """
    let bench = try LimitBench(kind, ["hostile": (file, ExtensionLimits(instructions: 50_000))])
    let results = try bench.run("context:insert('P') return failing(function() return context:save() end)")
    #expect(results[0]?.contains("extension hostile exceeded its limit of 50000 instructions in will_save") == true)
    #expect(results[1] == "135004", "\(results)")
  }
}
