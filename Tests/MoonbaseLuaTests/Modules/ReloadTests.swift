import MoonbaseLua
import MoonbasePlatform
import Testing

/// Values of a reloaded module for scripts that hold the old module.
@Suite struct ReloadTests {
  private let folder = ModuleFolder()

  @Test func reloadPatchesHoldersAndSurvivesFailure() throws {
    let state = try LuaState()
    state.modules.add("m", source: LuaSource("return { v = 1, gone = true }", name: "m.lua"), frozen: false)
    let hold = try state.load("local m = require 'm' return function() return m.v, m.gone, m.old end", name: "t")
      .first()
    let read = try #require(hold.functionValue)
    state.modules.add("m", source: LuaSource("error 'no'", name: "m.lua"), frozen: false)
    #expect(throws: LuaError.self) { try state.reload("m") }
    #expect(try read().map(\.integerValue)[0] == 1)
    state.modules.add(
      "m", source: LuaSource("local M = { v = 2 } function M.on_reload(old) M.old = old.v end return M", name: "m.lua"),
      frozen: false)
    try state.reload("m")
    let seen = try read()
    #expect(seen[0].integerValue == 2)
    #expect(!seen[1].isPresent)
  }

  @Test func aFailingHookBringsTheOldModuleBack() throws {
    let state = try LuaState()
    state.modules.add("m", source: LuaSource("return { v = 1 }", name: "m.lua"), frozen: false)
    let read = try #require(
      try state.load("local m = require 'm' return function() return m.v, m.w end", name: "t").first().functionValue)
    state.modules.add(
      "m",
      source: LuaSource("return { v = 2, w = 3, on_reload = function(old) error('no ' .. old.v) end }", name: "m.lua"),
      frozen: false)
    let error = try #require(throws: LuaError.self) { try state.reload("m") }
    #expect(error.message == "no 1")
    #expect(try read().map(\.integerValue) == [1, nil])
  }

  @Test func aReloadReachesTheModulesOfEachCompatScript() throws {
    let state = try folder.state(.compat, ["v.lua": "return { value = 1, name = name }"])
    let code = "name = ...; local v = require 'v'; return function() return v.value, v.name end"
    let names = ["a", "b"]
    let readers = try names.map { name in
      try #require(try state.load(code, name: name).first(.text(name)).functionValue)
    }
    try folder.write("return { value = 2, name = name }", "v.lua")
    try state.reload("v")
    for (reader, name) in zip(readers, names) {
      let results = try reader()
      #expect(results[0].integerValue == 2)
      #expect(results[1].textValue == name)
    }
  }

  @Test func aReloadThatGivesNoTableForOneIsRefused() throws {
    let state = try folder.state(.standard, ["m.lua": "return { v = 1 }"])
    let hold = try state.load("local m = require 'm' return function() return m.v, require 'm'.v end", name: "t")
      .first()
    try folder.write("return 5", "m.lua")
    let error = try #require(throws: LuaError.self) { try state.reload("m") }
    #expect(error.kind == .module)
    #expect(error.message == "module 'm' was a table and gives a number now: scripts that hold the table would keep it")
    let read = try #require(hold.functionValue)
    #expect(try read().map(\.integerValue) == [1, 1])
  }

  @Test func aReloadedModuleHasTheMetatableOfTheNewOneOrNone() throws {
    let state = try folder.state(.standard, [:])
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
    // A finalizer added to the metatable after setmetatable has checked it.
    let error = try #require(throws: LuaError.self) {
      try reload("local m = {} local t = setmetatable({}, m) m.__gc = print return t")
    }
    #expect(error.message.contains("'__gc' is not available"))
    #expect(try module.index("a").integerValue == 4)
  }
}
