import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// An extension's function that exceeds the extension's limits fails only the operation that called it.
@Suite struct ExtensionLimitTests {
  /// A function that the host calls, and the script operation that causes the call.
  enum Door: String, CaseIterable {
    case getter, storedGetter, pureGetter, setter, rule, objectRule, normalizer, willSave, awakeFromInsert, transform
    case reverse, method, awakeFromFetch, didSave, prepareForDeletion, willTurnIntoFault, snapshot, pathRule, sorting
    case early, valueClass

    /// A table of an extension whose function has the given body.
    func file(_ body: String) -> String {
      let function = "function(v, o) \(body) return v end"
      let entity: String
      switch self {
      case .getter: entity = "derived = { bad = { type = 'integer64', get = \(function) } }"
      case .storedGetter:
        entity = "derived = { sum = { stored = true, type = 'double', inputs = { 'i' }, get = \(function) } }"
      case .pureGetter:
        entity = "derived = { bad = { type = 'integer64', inputs = { 'i' }, pure = true, get = \(function) } }"
      case .setter:
        entity =
          "derived = { bad = { type = 'integer64', get = function() return 1 end, set = function(v, o) \(body) end } }"
      case .rule: entity = "validate = { i = function(v, o) \(body) return true end }"
      case .objectRule: entity = "validate_for_insert = function(o) \(body) return true end"
      case .normalizer: entity = "normalize = { i = \(function) }"
      case .willSave: entity = "will_save = \(function)"
      case .awakeFromInsert: entity = "awake_from_insert = \(function)"
      case .awakeFromFetch: entity = "awake_from_fetch = function(o) \(body) end"
      case .method: entity = "methods = { bad = \(function) }"
      case .didSave: entity = "did_save = \(function)"
      case .prepareForDeletion: entity = "prepare_for_deletion = \(function)"
      case .willTurnIntoFault: entity = "will_turn_into_fault = \(function)"
      case .snapshot: entity = "awake_from_snapshot = \(function)"
      case .pathRule: entity = "validate = { ['q.i'] = function(v, o) \(body) return true end }"
      case .sorting, .early:
        let read = self == .early ? "read = 'pre_calculated', inputs = { 's' }, " : ""
        entity = "derived = { bad = { type = 'string', \(read) get = \(function) } }"
      case .transform, .reverse, .valueClass: entity = ""
      }
      let forward = self == .transform ? function : "function(v) return v end"
      let backward = self == .reverse ? function : "function(v) return v end"
      let valueClass = "classes = { C = { is = function(v) \(body) return true end } },"
      return """
        return {
          name = "hostile", \(self == .valueClass ? valueClass : "")
          transformers = { T = { \(self == .valueClass ? "class = 'C'," : "") transform = \(forward), reverse = \(backward) } },
          entities = { P = { \(entity) } },
        }
        """
    }

    /// The script operation, and the name of the function.
    var use: (script: String, function: String) {
      switch self {
      case .getter: ("return context:insert('P', { i = 1 }).bad", "P.derived.bad.get")
      case .storedGetter: ("context:insert('P', { i = 1 }) return context:save()", "P.derived.sum.get")
      case .pureGetter:
        ("context:insert('P', { i = 1 }) return context:fetch('P'):where('bad = 1'):count()", "P.derived.bad.get")
      case .setter: ("local p = context:insert('P') p.bad = 5 return 'set'", "P.derived.bad.set")
      case .rule: ("context:insert('P', { i = 1 }) return context:save()", "P.validate.i")
      case .objectRule: ("context:insert('P', { i = 1 }) return context:save()", "P.validate_for_insert")
      case .normalizer: ("context:insert('P', { i = 1 }) return context:save()", "P.normalize.i")
      case .willSave: ("context:insert('P', { i = 1 }) return context:save()", "P.will_save")
      case .awakeFromInsert: ("return context:insert('P')", "P.awake_from_insert")
      case .awakeFromFetch:
        (
          "context:insert('P') assert(context:save()) context:reset() return context:fetch('P'):first().s",
          "P.awake_from_fetch"
        )
      case .didSave: ("context:insert('P') return nil, select(2, context:save())", "P.did_save")
      case .prepareForDeletion:
        (
          "local p = context:insert('P') assert(context:save()) context:delete(p) return context:save()",
          "P.prepare_for_deletion"
        )
      case .willTurnIntoFault:
        (
          "local p = context:insert('P') assert(context:save()) context:refresh(p, false) return context:save()",
          "P.will_turn_into_fault"
        )
      case .snapshot:
        (
          "local p = context:insert('P') assert(context:save()) p.i = 4 context:rollback() return context:save()",
          "P.awake_from_snapshot"
        )
      case .pathRule:
        (
          "local q = context:insert('P', { i = 1 }) assert(context:save()) context:insert('P', { q = q }) return context:save()",
          "P.validate.q.i"
        )
      case .sorting:
        (
          "context:insert('P') context:insert('P') return context:fetch('P'):sort('bad'):all()", "P.derived.bad.get"
        )
      case .early:
        (
          "context:insert('P') assert(context:save()) context:reset() return context:fetch('P'):first().bad",
          "P.derived.bad.get"
        )
      case .valueClass: ("context:insert('P').tr = 'x' return 'set'", "classes.C.is")
      case .transform:
        ("local p = context:insert('P') p.tr = 'x' return context:save()", "transformers.T.transform")
      case .reverse:
        (
          "local p = context:insert('P', { tr = 'x' }) assert(context:save()) context:refresh(p, false) return p.tr",
          "transformers.T.reverse"
        )
      case .method: ("return context:insert('P'):bad()", "P.methods.bad")
      }
    }
  }

  private static let limits = ExtensionLimits(instructions: 200_000, memory: 4 << 20)

  private static func bench(_ kind: StoreKind, _ door: Door, _ body: String, _ limits: ExtensionLimits) throws
    -> LimitBench
  {
    try LimitBench(kind, ["hostile": (door.file(body), limits)])
  }

  /// Makes the function exceed its limits during a script, which continues afterwards.
  private static func check(_ bench: LimitBench, _ door: Door, limit: String, prepares: Bool = true) throws {
    let results = try bench.run(
      """
      local message, code = failing(function() \(door.use.script) end)
      context:rollback()
      local sum = 0
      for i = 1, 100000 do sum = sum + i end
      return message, code, sum
      """)
    let message = results[0] ?? ""
    let expected = "extension hostile exceeded its limit of \(limit) in \(door.use.function)"
    #expect(message.contains(expected), "\(door): \(results)")
    #expect(message.contains("hostile.lua:"), "\(message)")
    #expect(results[1] == "135004" && results[2] == "5000050000", "\(door): \(results)")
    #expect(bench.reports.first?.name == "hostile" && bench.reports.first?.function == door.use.function)
  }

  @Test(arguments: StoreKind.allCases, Door.allCases) func endlessLoopsFailTheOperation(_ kind: StoreKind, _ door: Door)
    throws
  {
    let bench = try Self.bench(kind, door, "if not ENDS then while true do end end", Self.limits)
    try Self.check(bench, door, limit: "200000 instructions")
  }

  /// Attempts of scripts to escape their limits.
  private static let ways = [
    "while true do pcall(function() while true do end end) end",
    "while true do local c = coroutine.create(function() while true do end end) coroutine.resume(c) end",
    "coroutine.wrap(function() while true do pcall(function() while true do end end) end end)()",
    "local x <close> = setmetatable({}, { __close = function() while true do end end }) while true do end",
    "while true do xpcall(function() error('x') end, function() while true do end end) end",
    "while true do pcall(string.rep, 'x', 100000) end",
    "while true do pcall(string.find, ('a'):rep(5000), ('.-'):rep(20) .. 'b') end",
    "local t = setmetatable({}, { __index = function(t, k) while true do end end }) while true do pcall(function() return t.x end) end",
  ]

  @Test(arguments: ways, [Door.getter, .rule, .pureGetter, .willSave, .transform])
  func nothingSwallowsTheLimit(_ way: String, _ door: Door) throws {
    try Self.check(try Self.bench(.memory, door, way, Self.limits), door, limit: "200000 instructions")
  }

  @Test(
    arguments: [
      "local t = {} for i = 1, 1e9 do t[i] = { i } end", "local s = ('x'):rep(1 << 30)",
      "while true do pcall(function() local t = {} for i = 1, 1e9 do t[i] = { i } end end) end",
      "local t = {} while true do t[#t + 1] = ('x'):rep(1 << 20) .. #t end",
    ], [Door.getter, .rule, .pureGetter, .method])
  func memoryIsLimited(_ way: String, _ door: Door) throws {
    let limits = ExtensionLimits(memory: 4 << 20)
    try Self.check(try Self.bench(.memory, door, way, limits), door, limit: "4194304 bytes of memory")
  }

  @Test(arguments: [Door.getter, .pureGetter, .rule, .method])
  func timeIsLimited(_ door: Door) throws {
    let way = "while true do pcall(function() while true do end end) end"
    let bench = try Self.bench(.memory, door, way, ExtensionLimits(time: .seconds(0.02)))
    try Self.check(bench, door, limit: "0.02 seconds")
  }

  @Test(arguments: StoreKind.allCases) func workOfTheHostCounts(_ kind: StoreKind) throws {
    let way = "while true do pcall(function() v:context():fetch('P'):where('i > 3'):all() end) end"
    let bench = try Self.bench(kind, .getter, way, Self.limits)
    try Self.check(bench, .getter, limit: "200000 instructions")
  }

  @Test(arguments: StoreKind.allCases) func limitsHoldForEachCallAndLeaveTheRunItsOwn(_ kind: StoreKind) throws {
    let file =
      "return { name = 'x', \(ThingBench.transformer) entities = { P = { methods = { spin = function(p, n) for i = 1, n do end end } } } }"
    let bench = try LimitBench(kind, ["x": (file, ExtensionLimits(instructions: 100_000))])
    let results = try bench.run(
      """
      local p = context:insert("P")
      for i = 1, 20 do p:spin(50000) end
      return (failing(function() p:spin(1000000) end))
      """, limits: LuaLimits(instructions: 5_000_000, deadline: .seconds(20)))
    #expect(results[0]?.contains("exceeded its limit of 100000 instructions") == true, "\(results)")
    #expect(throws: LuaError.self) {
      try bench.run(
        "local p = context:insert('P') for i = 1, 200 do pcall(p.spin, p, 50000) end",
        limits: LuaLimits(instructions: 1_000_000, deadline: .seconds(20)))
    }
  }

  /// A call into another extension counts for that extension; a plain function of a class counts for its caller.
  @Test(arguments: StoreKind.allCases) func eachExtensionPaysForItsOwnCalls(_ kind: StoreKind) throws {
    let inner = """
      local C = {} C.__index = C
      function C.spin(n) for i = 1, n do end return n end
      return { name = "inner", classes = { C = C }, entities = { P = { methods = {
        loop = function(p, n) for i = 1, n do end return n end,
        back = function(p, n) return p:again(n) end,
      } } } }
      """
    let outer = """
      return { name = "outer", \(ThingBench.transformer) requires = { extensions = { "inner" } }, entities = { P = { methods = {
        call = function(p, n) return p:loop(n) end,
        many = function(p, n) for i = 1, n do pcall(p.loop, p, 50000) end return n end,
        class = function(p, n) return moonbase.classes.C.spin(n) end,
        again = function(p, n) if n > 0 then for i = 1, 20000 do end return p:back(n - 1) end return 0 end,
      } } } }
      """
    let small = ExtensionLimits(instructions: 100_000)
    let bench = try LimitBench(kind, ["inner": (inner, small), "outer": (outer, small)])
    let results = try bench.run(
      """
      local p = context:insert("P")
      return failing(function() return p:call(1000000) end), failing(function() return p:many(10) end),
        failing(function() return p:class(1000000) end), failing(function() return p:again(20) end)
      """)
    #expect(results[0]?.contains("extension inner exceeded") == true, "\(results)")
    #expect(results[0]?.contains("P.methods.loop") == true, "\(results)")
    #expect(bench.reports.map(\.name) == ["inner", "outer", "outer"], "\(bench.reports)")
    #expect(bench.reports.map(\.function) == ["P.methods.loop", "P.methods.class", "P.methods.again"])
  }

  @Test(
    arguments: [
      ExtensionLimits(instructions: 0), ExtensionLimits(instructions: .min), ExtensionLimits(memory: 0),
      ExtensionLimits(time: .zero), ExtensionLimits(time: .seconds(-1)),
    ])
  func aLimitIsPositive(_ limits: ExtensionLimits) throws {
    let error = #expect(throws: ScriptError.self) { _ = try LimitBench(.memory, ["x": ("return {}", limits)]) }
    #expect(error?.code == .invalidRequest, "\(String(describing: error))")
    #expect(error?.message.contains("a limit of extension x is no positive number") == true)
  }

  @Test(arguments: StoreKind.allCases) func aFileThatDoesNotEndIsNotLoaded(_ kind: StoreKind) throws {
    let error = #expect(throws: ScriptError.self) {
      _ = try LimitBench(kind, ["x": ("while true do end", ExtensionLimits(instructions: 50_000))])
    }
    #expect(error?.code == .extensionLimit && error?.location?.line == 1, "\(String(describing: error))")
    #expect(error?.message.contains("extension x exceeded its limit of 50000 instructions in its file") == true)
  }
}
