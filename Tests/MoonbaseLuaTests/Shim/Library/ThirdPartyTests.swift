import MoonbaseLua
import MoonbasePlatform
import Testing

/// Lua modules that Debian ships, loaded from their installed files.
@Suite(.enabled(if: FileManager.default.fileExists(atPath: "/usr/share/lua/5.4"), "Debian's Lua modules are elsewhere"))
struct ThirdPartyTests {
  /// The folder of 5.4 has links into the others, and a link that leads out of a root is not followed.
  static let roots = ["5.4", "5.3", "5.1"].map { URL(fileURLWithPath: "/usr/share/lua/\($0)") }

  /// A module, the presets in which it works, and a script that uses it and raises an error on failure.
  struct Use: Sendable, CustomTestStringConvertible {
    let module: String
    let presets: [LuaPreset]
    let script: String
    var testDescription: String { module }

    init(_ module: String, _ presets: [LuaPreset], _ script: String) {
      self.module = module
      self.presets = presets
      self.script = script
    }

    /// The file must exist, or else a missing package would count as working.
    var isInstalled: Bool {
      let path = module.replacing(".", with: "/")
      return ThirdPartyTests.roots.contains { root in
        ["\(path).lua", "\(path)/init.lua"].contains {
          FileManager.default.fileExists(atPath: root.appendingPathComponent($0).path)
        }
      }
    }
  }

  static let everywhere: [LuaPreset] = [.pure, .standard, .compat, .trusted]
  /// Presets for modules that need `package`, `os` or `debug` while they load.
  static let stubbed: [LuaPreset] = [.compat, .trusted]

  static let uses: [Use] = [
    Use(
      "dkjson", everywhere,
      """
      local json = require "dkjson"
      local text = json.encode({ 1, 2.5, "x\\n", { a = true } }, { indent = true })
      local back = assert(json.decode(text))
      assert(back[2] == 2.5 and back[3] == "x\\n" and back[4].a == true)
      assert(select(3, json.decode("[1,")))
      assert(json.decode("null", 1, json.null) == json.null)
      """),
    Use(
      "inspect", everywhere,
      """
      local inspect = require "inspect"
      assert(inspect({ 1, 2, a = { b = "c" } }) == '{ 1, 2,\\n  a = {\\n    b = "c"\\n  }\\n}')
      local t = {}
      t.self = t
      assert(inspect(t):find("table 1", 1, true))
      """),
    Use(
      "argparse", [.standard, .compat, .trusted],
      """
      local parser = require "argparse"("program", "What it does.")
      parser:argument "input"
      parser:option("-l --level", "How much.", 1):convert(tonumber)
      parser:flag "-v --verbose"
      local result = parser:parse { "file", "--level=3", "-v" }
      assert(result.input == "file" and result.level == 3 and result.verbose)
      local ok, message = parser:pparse { "--nothing" }
      assert(not ok and message:find("unknown option"))
      assert(parser:get_help():find("Usage: program"))
      """),
    Use(
      "MessagePack", everywhere,
      """
      local mp = require "MessagePack"
      local t = mp.unpack(mp.pack { 1, -1, 1 << 40, 1.5, "text", { key = { 1, 2, 3 } }, true, ("x"):rep(70000) })
      assert(t[3] == 1 << 40 and t[4] == 1.5 and t[6].key[3] == 3 and #t[8] == 70000)
      assert(not pcall(mp.unpack, "\\xc1"))
      """),
    Use(
      "moses", stubbed,
      """
      local M = require "moses"
      local doubled = M.map({ 1, 2, 3 }, function(v) return v * 2 end)
      assert(doubled[3] == 6 and M.sum(doubled) == 12)
      assert(M.isEqual(M.reverse { 1, 2, 3 }, { 3, 2, 1 }))
      assert(M.chain({ 4, 1, 3 }):sort():first(1):value()[1] == 1)
      """),
    Use(
      "luaunit", [.compat, .trusted],
      """
      local lu = require "luaunit"
      local Cases = {}
      function Cases.testPasses() lu.assertEquals({ 1, { 2 } }, { 1, { 2 } }) end
      function Cases.testFails() lu.assertEquals(1, 2) end
      function Cases.testErrors() error("x") end
      local runner = lu.LuaUnit.new()
      runner:setOutputType("nil")
      runner:runSuiteByInstances({ { "Cases", Cases } })
      assert(runner.result.runCount == 3 and runner.result.failureCount == 1 and runner.result.errorCount == 1)
      """),
    Use(
      "luaunit", [.compat, .trusted],
      // The module looks for tests among the globals, as its users write them.
      """
      local lu = require "luaunit"
      TestGlobals = {}
      function TestGlobals:testPasses() lu.assertEquals(1, 1) end
      function TestGlobals:testFails() lu.assertEquals(1, 2) end
      assert(lu.LuaUnit.run("-o", "nil") == 1)
      """),
    Use(
      "pl.class", everywhere,
      """
      local class = require "pl.class"
      local Animal = class()
      function Animal:_init(name) self.name = name end
      local Cat = class(Animal)
      function Cat:speak() return self.name .. " says meow" end
      assert(Cat("Tom"):speak() == "Tom says meow" and Cat:class_of(Cat "Tom") and Animal:class_of(Cat "Tom"))
      """),
    Use(
      "pl.List", stubbed,
      """
      local List = require "pl.List"
      local tablex, stringx, pretty = require "pl.tablex", require "pl.stringx", require "pl.pretty"
      assert(tostring(List { 3, 1, 2 }:sorted():map("_ * 2" and function(v) return v * 2 end)) == "{2,4,6}")
      assert(tablex.deepcompare(tablex.filter({ 1, 2, 3 }, function(v) return v > 1 end), { 2, 3 }))
      assert(stringx.strip "  x " == "x" and tostring(stringx.split("a,b", ",")) == "{a,b}")
      assert(pretty.write({ 1, a = 2 }, "") == "{1,a=2}")
      local Map, Set, OrderedMap = require "pl.Map", require "pl.Set", require "pl.OrderedMap"
      assert(#Set { 1, 2, 1 } == 2 and Map { a = 1 }:get "a" == 1)
      local m = OrderedMap()
      m:set("z", 1) m:set("a", 2)
      assert(m:keys()[1] == "z")
      """),
    Use(
      "pl.lexer", stubbed,
      """
      local kinds = {}
      for kind, value in require "pl.lexer".lua("local x = 'a' + 1.5") do kinds[#kinds + 1] = kind end
      assert(table.concat(kinds, " ") == "keyword iden = string + number", table.concat(kinds, " "))
      local sip = require "pl.sip"
      local result = {}
      assert(sip.match("$v=$d", "answer=42", result) and result[1] == "answer" and result[2] == 42)
      assert(require "pl.template".substitute("# for i = 1, 2 do\\n<$(i)>\\n# end\\n", { _escape = "#" }) == "<1>\\n<2>\\n")
      local xml = require "pl.xml"
      assert(xml.parse("<a b='c'><d>e</d></a>"):child_with_name "d":get_text() == "e")
      """),
    Use(
      "say", everywhere,
      """
      local say = require "say"
      say:set_namespace "en"
      say:set("greeting", "hello %s")
      assert(say("greeting", { "you" }) == "hello you")
      """),
    Use(
      "mediator", everywhere,
      """
      local mediator, seen = require "mediator"(), {}
      mediator:subscribe({ "a", "b" }, function(...) seen[#seen + 1] = ... end)
      mediator:publish({ "a", "b" }, 7)
      assert(seen[1] == 7)
      """),
    Use(
      "luassert", [.trusted],
      """
      local assert = require "luassert"
      assert.are.same({ 1, { 2 } }, { 1, { 2 } })
      assert.has_error(function() assert.is_true(false) end)
      local spy = require "luassert.spy".new(function() end)
      spy(1)
      assert.spy(spy).was_called_with(1)
      """),
    Use(
      "busted.core", [.trusted],
      """
      local busted = require "busted.core"()
      require "busted"(busted)
      local counts = {}
      busted.subscribe({ "test", "end" }, function(_, _, status)
        counts[status] = (counts[status] or 0) + 1
        return nil, true
      end)
      busted.executors.describe("a suite", function()
        local ready
        busted.executors.before_each(function() ready = true end)
        busted.executors.it("passes", function() assert(ready) end)
        busted.executors.it("fails", function() assert(false) end)
      end)
      require "busted.execute"(busted)(1, {})
      assert(counts.success == 1 and counts.error == 1, require "inspect"(counts))
      """),
  ]

  @Test func allPackagesAreInstalled() {
    for use in Self.uses { #expect(use.isInstalled, "\(use.module): run scripts/setup") }
  }

  @Test(arguments: uses) func eachModuleWorksInItsPresets(_ use: Use) throws {
    for preset in use.presets {
      let state = try LuaState(
        preset: preset, limits: LuaLimits(instructions: 50_000_000, memory: 64 << 20, sourceSize: 1 << 20))
      state.output = .none
      if preset != .trusted { state.modules.roots = Self.roots }
      if preset != .pure { try state.openFiles(LuaFileAccess()) }
      do {
        // Some modules are installed for older versions only.
        let path = preset == .trusted ? "package.path = package.path .. ';/usr/share/lua/5.3/?.lua' " : ""
        _ = try state.load(path + use.script, name: "\(use.module) use")()
      } catch {
        Issue.record("\(use.module) in \(preset): \(error.report)")
      }
    }
  }
}
