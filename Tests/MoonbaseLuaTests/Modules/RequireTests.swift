import MoonbaseLua
import MoonbasePlatform
import Testing

/// Results of `require` for each script, and the message for a missing module.
@Suite struct RequireTests {
  private let folder = ModuleFolder()

  @Test func modulesOfACompatScriptShareItsGlobals() throws {
    let state = try folder.state(
      .compat,
      ["seen.lua": "return { global = function(name) return _G[name] end, set = function() fromModule = 7 end }"])
    let code = "mine = 5; local seen = require 'seen'; seen.set(); return seen.global 'mine', fromModule, seen"
    let first = try state.load(code, name: "first.lua")()
    #expect(first[0].integerValue == 5)
    #expect(first[1].integerValue == 7)
    // Another script has its own globals, and so its own modules.
    let second = try state.load("local seen = require 'seen'; return seen.global 'mine', fromModule, seen", name: "b")()
    #expect(!second[0].isPresent)
    #expect(!second[1].isPresent)
    let modules = (try #require(first[2].tableValue), try #require(second[2].tableValue))
    #expect(!modules.0.isSame(as: modules.1))
    // Built-in modules are shared by all scripts.
    let json = "return require 'moonbase.json'"
    let one = try #require(try state.load(json, name: "c").first().tableValue)
    let other = try #require(try state.load(json, name: "d").first().tableValue)
    #expect(one.isSame(as: other))
  }

  @Test(arguments: [LuaPreset.pure, .standard]) func elsewhereModulesHaveGlobalsOfTheirOwn(_ preset: LuaPreset) throws {
    let state = try folder.state(preset, ["seen.lua": "return { global = function(name) return _G[name] end }"])
    let seen = try state.load("mine = 5; return require 'seen'.global 'mine'", name: "t").first()
    #expect(!seen.isPresent)
  }

  @Test func aModuleThatReturnsNothingIsAnErrorWhereItsGlobalsAreItsOwn() throws {
    for preset in [LuaPreset.pure, .standard] {
      let state = try folder.state(preset, ["none.lua": "x = 1"])
      let error = try #require(throws: LuaError.self) { try state.load("require 'none'", name: "t")() }
      #expect(error.kind == .module)
      #expect(error.message.contains("module 'none' returns nothing"))
    }
    for preset in [LuaPreset.compat, .trusted] {
      let state = try folder.state(preset, ["none.lua": "x = 1"])
      let results = try state.load("return require 'none', x", name: "t")()
      #expect(results[0].booleanValue == true)
      #expect(results[1].integerValue == 1)
    }
  }

  @Test func messagesTellModulesApartByTheirPathBelowTheRoot() throws {
    let state = try folder.state(
      .standard, ["a/init.lua": "error 'one'", "b/init.lua": "error 'two'", "b/c.lua": "error 'three'"])
    for (name, place) in [("a", "a/init.lua:1: one"), ("b", "b/init.lua:1: two"), ("b.c", "b/c.lua:1: three")] {
      let error = try #require(throws: LuaError.self) { try state.load("require '\(name)'", name: "t")() }
      #expect(error.description == place)
    }
  }

  @Test(arguments: [LuaPreset.pure, .standard, .compat, .trusted])
  func theTracebackOfAModuleThatFailsReachesIntoTheModule(_ preset: LuaPreset) throws {
    let state = try folder.state(
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

  /// The error of `require` is a host value, not a text.
  @Test(arguments: [LuaPreset.pure, .standard, .compat])
  func theTracebackOfAModuleThatIsMissingGoesThroughAllThatRequireIt(_ preset: LuaPreset) throws {
    let state = try folder.state(preset, ["a.lua": "local x = 1\nrequire 'b'", "b.lua": "\n\nrequire 'nowhere'"])
    let error = try #require(throws: LuaError.self) { try state.load("require 'a'", name: "main.lua")() }
    #expect(error.kind == .module && error.message.hasPrefix("module 'nowhere' not found"))
    let places = error.traceback.compactMap { frame in frame.line.map { "\(frame.source):\($0)" } }
    #expect(places == ["b.lua:3", "a.lua:2", "main.lua:1"])
    #expect(error.script == "b.lua" && error.line == 3)
  }

  @Test func requireFindsModulesAndRefusesPaths() throws {
    let state = try LuaState()
    state.modules.add("a.b", source: LuaSource("return { n = 1 }", name: "b.lua"))
    state.modules.add("loop", source: LuaSource("return require 'loop'", name: "loop.lua"))
    #expect(
      try state.load("return require('a.b').n, require('a.b') == require 'a.b'", name: "t")()[1].booleanValue == true)
    for code in ["require 'a.b'.n = 2", "require '../x'", "require '/etc/passwd'", "require 'io'", "require 'loop'"] {
      #expect(throws: LuaError.self, "\(code)") { try state.load(code, name: "t")() }
    }
  }

  @Test func modulesThatCannotBeLoadedSayWhy() throws {
    let state = try LuaState()
    state.modules.add("nothing", source: LuaSource("local x = 1", name: "nothing.lua"))
    state.modules.add("a", source: LuaSource("local b = require 'b'\nreturn b", name: "a.lua"))
    state.modules.add("b", source: LuaSource("\nlocal a = require 'a'\nreturn a", name: "b.lua"))
    state.modules.add("broken", source: LuaSource("return {\n  a = = 1\n}", name: "broken.lua"))
    state.modules.add("name", source: LuaSource("return { ... }", name: "name.lua"))
    #expect(try state.load("return require('name')[1]", name: "t").first().textValue == "name")
    for (name, message, script) in [
      ("nothing", "module 'nothing' returns nothing", "t.lua"),
      ("a", "modules require each other: a → b → a", "b.lua"), ("broken", "unexpected symbol near '='", "broken.lua"),
      ("gone", "module 'gone' not found", "t.lua"), ("../a", "is no module name", "t.lua"),
    ] {
      for _ in 0..<2 {
        let error = try #require(throws: LuaError.self) { try state.load("require '\(name)'", name: "t.lua")() }
        #expect(error.description.contains(message), "\(name): \(error)")
        #expect(error.description.contains(script) || error.script == script, "\(name): \(error)")
      }
    }
  }

  @Test func modulesOfGrantedFoldersStayWithinThem() throws {
    let state = try folder.state(
      .standard,
      [
        "single.lua": "return 'single'", "pack/init.lua": "return 'init'", "pack/inner.lua": "return 'inner'",
        "../secret.lua": "return 'secret'", "binary.lua": "\u{1B}LuaT",
      ])
    try FileManager.default.createSymbolicLink(
      at: folder.root.appendingPathComponent("out.lua"),
      withDestinationURL: folder.root.appendingPathComponent("../secret.lua").standardizedFileURL)
    let seen = try state.load("return require 'single', require 'pack', require 'pack.inner'", name: "t")()
    #expect(seen.map(\.textValue) == ["single", "init", "inner"])
    for name in ["out", "secret", "binary", "pack.", "..secret"] {
      #expect(throws: LuaError.self, "\(name)") { try state.load("return require '\(name)'", name: "t")() }
    }
  }
}
