import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// An operation that fails by an extension's limit changes nothing.
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

  /// The work of hooks, rules and getters depends on `i` of the object: some exceed the limit during a save.
  private static let worker = """
    local function work(p) for _ = 1, p and p.i or 0 do end end
    return { name = "worker", \(ThingBench.transformer) entities = { P = {
      will_save = function(p) work(p) if p.i then p.s = "saved " .. p.i end end,
      validate = { i = function(i, p) for _ = 1, i do end return true end },
      derived = {
        full = { stored = true, inputs = { "i" }, type = "string",
                 get = function(i) for _ = 1, i or 0 do end return "full " .. (i or 0) end },
        late = { inputs = { "i" }, type = "integer64", pure = true, get = function(i) for _ = 1, i or 0 do end return i end },
      },
    } } }
    """

  private static let random = """
    local seeded = require "seeded"
    local random = seeded.random
    seeded.begin(...)
    local now, saved, failures, objects = {}, {}, 0, {}
    local function check(what)
      for p, i in pairs(now) do
        if p.i ~= i then error(what .. ": " .. tostring(p.i) .. ", not " .. tostring(i)) end
      end
      local count, sum = 0, 0
      for _, i in pairs(saved) do count, sum = count + 1, sum + i end
      for _, row in ipairs(context:fetch("P"):dictionaries { "i", "s", "full" }) do
        count, sum = count - 1, sum - row.i
        if row.s ~= "saved " .. row.i or row.full ~= "full " .. row.i then error(what .. ": " .. row.s .. row.full) end
      end
      if count ~= 0 or sum ~= 0 then error(what .. ": the store has others") end
    end
    local function value() return random(6) == 1 and 60000 + random(60000) or random(9000) end
    for step = 1, 40 do
      local at = random(5)
      if at == 1 then
        local i = value()
        local p = context:insert("P", { i = i })
        objects[#objects + 1] = p
        now[p] = i
      elseif at <= 3 and #objects > 0 then
        local p, i = seeded.any(objects), value()
        p.i, now[p] = i, i
      elseif at == 4 and #objects > 0 then
        local p = seeded.any(objects)
        local ok, late = pcall(function() return p.late end)
        if ok and late ~= now[p] then error("late is " .. tostring(late)) end
      else
        local ok, err = context:save()
        if ok then
          saved = {}
          for p, i in pairs(now) do saved[p] = i end
        else
          failures = failures + 1
          if not tostring(err):find("exceeded its limit", 1, true) then error(tostring(err)) end
          -- Some go on with less, others give up.
          if random(2) == 1 then
            for p, i in pairs(now) do if i > 9000 then p.i, now[p] = 5, 5 end end
          else
            context:rollback()
            now, objects = {}, {}
            for p, i in pairs(saved) do now[p], objects[#objects + 1] = i, p end
          end
        end
      end
      check("step " .. step)
    end
    context:rollback()
    return failures
    """

  @Test(arguments: StoreKind.allCases) func whatWorksForTooLongChangesNothing(_ kind: StoreKind) throws {
    let limits = ExtensionLimits(instructions: 50_000)
    var failures = 0
    for seed in 1...Repetition.limitSeeds.count {
      let bench = try LimitBench(kind, ["worker": (Self.worker, limits)])
      let script = Self.random.replacing("seeded.begin(...)", with: "seeded.begin(\(seed * 7919))")
      let results = try bench.run(script)
      failures += results[0].flatMap { Int($0) } ?? 0
    }
    #expect(failures > 0)
  }

  /// Observers that a hook registers belong to the extension.
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
