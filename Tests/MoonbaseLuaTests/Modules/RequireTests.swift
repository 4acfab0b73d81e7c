import MoonbaseLua
import MoonbasePlatform
import Testing

/// What `require` gives, to whom, and what is said when it cannot.
@Suite struct RequireTests {
  let root: URL

  init() throws {
    root = FileManager.default.temporaryDirectory.appendingPathComponent("moonbase-require-\(UUID().uuidString)")
  }

  private func state(_ preset: LuaPreset, _ files: [String: String]) throws -> LuaState {
    for (name, text) in files {
      let file = root.appendingPathComponent(name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let state = try LuaState(preset: preset)
    state.modules.roots = [root]
    return state
  }

  @Test func modulesOfACompatScriptShareItsGlobals() throws {
    let state = try state(
      .compat,
      ["seen.lua": "return { global = function(name) return _G[name] end, set = function() fromModule = 7 end }"])
    let code = "mine = 5; local seen = require 'seen'; seen.set(); return seen.global 'mine', fromModule, seen"
    let first = try state.load(code, name: "first.lua")()
    #expect(first[0].integerValue == 5)
    #expect(first[1].integerValue == 7)
    // Another script has globals, and so modules, of its own.
    let second = try state.load("local seen = require 'seen'; return seen.global 'mine', fromModule, seen", name: "b")()
    #expect(!second[0].isPresent)
    #expect(!second[1].isPresent)
    let modules = (try #require(first[2].tableValue), try #require(second[2].tableValue))
    #expect(!modules.0.isSame(as: modules.1))
    // What is on board is the same for all.
    let json = "return require 'moonbase.json'"
    let one = try #require(try state.load(json, name: "c").first().tableValue)
    let other = try #require(try state.load(json, name: "d").first().tableValue)
    #expect(one.isSame(as: other))
  }

  @Test(arguments: [LuaPreset.pure, .standard]) func elsewhereModulesHaveGlobalsOfTheirOwn(preset: LuaPreset) throws {
    let state = try state(preset, ["seen.lua": "return { global = function(name) return _G[name] end }"])
    let seen = try state.load("mine = 5; return require 'seen'.global 'mine'", name: "t").first()
    #expect(!seen.isPresent)
  }

  @Test func aReloadReachesTheModulesOfEachCompatScript() throws {
    let state = try state(.compat, ["v.lua": "return { value = 1, name = name }"])
    let code = "name = ...; local v = require 'v'; return function() return v.value, v.name end"
    let names = ["a", "b"]
    let readers = try names.map { name in
      try #require(try state.load(code, name: name).first(.text(name)).functionValue)
    }
    try "return { value = 2, name = name }".write(
      to: root.appendingPathComponent("v.lua"), atomically: true, encoding: .utf8)
    try state.reload("v")
    for (reader, name) in zip(readers, names) {
      let results = try reader()
      #expect(results[0].integerValue == 2)
      #expect(results[1].textValue == name)
    }
  }

  @Test func aModuleThatReturnsNothingIsAnErrorWhereItsGlobalsAreItsOwn() throws {
    for preset in [LuaPreset.pure, .standard] {
      let state = try state(preset, ["none.lua": "x = 1"])
      let error = try #require(throws: LuaError.self) { try state.load("require 'none'", name: "t")() }
      #expect(error.kind == .module)
      #expect(error.message.contains("module 'none' returns nothing"))
    }
    for preset in [LuaPreset.compat, .trusted] {
      let state = try state(preset, ["none.lua": "x = 1"])
      let results = try state.load("return require 'none', x", name: "t")()
      #expect(results[0].booleanValue == true)
      #expect(results[1].integerValue == 1)
    }
  }

  @Test func aReloadThatGivesNoTableForOneIsRefused() throws {
    let state = try state(.standard, ["m.lua": "return { v = 1 }"])
    let hold = try state.load("local m = require 'm' return function() return m.v, require 'm'.v end", name: "t")
      .first()
    try "return 5".write(to: root.appendingPathComponent("m.lua"), atomically: true, encoding: .utf8)
    let error = try #require(throws: LuaError.self) { try state.reload("m") }
    #expect(error.kind == .module)
    #expect(error.message == "module 'm' was a table and gives a number now: those who hold the table would keep it")
    let read = try #require(hold.functionValue)
    #expect(try read().map(\.integerValue) == [1, 1])
  }

  @Test func messagesTellModulesApartByTheirPathBelowTheRoot() throws {
    let state = try state(
      .standard, ["a/init.lua": "error 'one'", "b/init.lua": "error 'two'", "b/c.lua": "error 'three'"])
    for (name, place) in [("a", "a/init.lua:1: one"), ("b", "b/init.lua:1: two"), ("b.c", "b/c.lua:1: three")] {
      let error = try #require(throws: LuaError.self) { try state.load("require '\(name)'", name: "t")() }
      #expect(error.description == place)
    }
  }

  @Test(arguments: [LuaPreset.pure, .standard, .compat, .trusted])
  func theTracebackOfAModuleThatFailsGoesToItsHeart(preset: LuaPreset) throws {
    let state = try state(
      preset, ["e.lua": "local function deep()\n  error('boom')\nend\nlocal function mid()\n  deep()\nend\nmid()"])
    for code in ["require 'e'", "error((select(2, pcall(require, 'e'))), 0)"] {
      let error = try #require(throws: LuaError.self) { try state.load("\n\(code)", name: "main.lua")() }
      #expect(error.description == "e.lua:2: boom")
      let places = error.traceback.compactMap { frame in frame.line.map { "\(frame.source):\($0)" } }
      #expect(places.prefix(3) == ["e.lua:2", "e.lua:5", "e.lua:7"], "\(error.report)")
      #expect(places.contains("main.lua:2"), "\(error.report)")
      #expect(places.filter { $0 == "e.lua:2" }.count == 1, "\(error.report)")
    }
  }

  /// Errors of the host's `require` itself, which Lua has as values that are no texts.
  @Test(arguments: [LuaPreset.pure, .standard, .compat])
  func theTracebackOfAModuleThatIsMissingGoesThroughAllThatRequireIt(preset: LuaPreset) throws {
    let state = try state(preset, ["a.lua": "local x = 1\nrequire 'b'", "b.lua": "\n\nrequire 'nowhere'"])
    let error = try #require(throws: LuaError.self) { try state.load("require 'a'", name: "main.lua")() }
    #expect(error.kind == .module && error.message.hasPrefix("module 'nowhere' not found"))
    let places = error.traceback.compactMap { frame in frame.line.map { "\(frame.source):\($0)" } }
    #expect(places == ["b.lua:3", "a.lua:2", "main.lua:1"])
    #expect(error.script == "b.lua" && error.line == 3)
  }

  @Test func aReloadedModuleHasTheMetatableOfTheNewOneOrNone() throws {
    let state = try state(.standard, [:])
    func reload(_ source: String) throws -> LuaTable? {
      state.modules.add("m", source: LuaSource(source, name: "m.lua"), frozen: false)
      return try state.reload("m").tableValue
    }
    let module = try #require(try reload("return setmetatable({}, { __index = { a = 1 } })"))
    #expect(try module.index("a").integerValue == 1)
    _ = try reload("return setmetatable({}, { __index = { a = 2 } })")
    #expect(try module.index("a").integerValue == 2)
    _ = try reload("return { b = 3 }")
    #expect(try module.metatable == nil)
    _ = try reload("return setmetatable({}, { __index = { a = 4 } })")
    #expect(throws: LuaError.self) { try reload("return { on_reload = function() error('no') end }") }
    #expect(try module.index("a").integerValue == 4)
    // A finalizer, put there when nobody looks.
    let error = try #require(throws: LuaError.self) {
      try reload("local m = {} local t = setmetatable({}, m) m.__gc = print return t")
    }
    #expect(error.message.contains("'__gc' is not available"))
    #expect(try module.index("a").integerValue == 4)
  }
}
