import MoonbaseLua
import MoonbasePlatform
import Testing

/// The built-in modules: each file in `Scripts` returns cases by name, which run in every preset.
@Suite struct ModuleTests {
  static let presets: [LuaPreset] = [.pure, .standard, .compat, .trusted]
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scripts")

  @Test(arguments: ["json", "csv", "codes", "geometry", "color", "text", "wrong_calls"], presets)
  func theCasesOfAModuleHoldInEveryPreset(_ file: String, _ preset: LuaPreset) throws {
    let state = try LuaState(preset: preset, limits: LuaLimits(instructions: 200_000_000, memory: 256 << 20))
    let source = try String(contentsOf: Self.folder.appendingPathComponent("\(file).lua"), encoding: .utf8)
    let check = try String(contentsOf: Self.folder.appendingPathComponent("check.lua"), encoding: .utf8)
    var cases = try state.load(source, name: "\(file).lua").first()
    if preset == .trusted, case .table(let table) = cases {
      // Without a sandbox a program may change every table.
      try table.set("classes cannot be changed", to: .nil)
      try table.set("the class cannot be changed", to: .nil)
      cases = .table(table)
    }
    let results = try #require(try state.load(check, name: "check.lua").first().functionValue).call([cases])
    #expect((results.first?.integerValue ?? 0) > 3)
    #expect(results.dropFirst().compactMap(\.textValue) == [])
  }

  @Test func modulesAreSharedAndCannotBeChanged() throws {
    let state = try LuaState()
    for name in ["json", "csv", "text", "base64", "hex", "geometry", "color", "fault"] {
      let same = try state.load("return require('moonbase.\(name)')", name: "a").first().tableValue
      let again = try state.load("return require('moonbase.\(name)')", name: "b").first().tableValue
      #expect(try #require(same).isSame(as: #require(again)), "\(name)")
      for code in ["m.x = 1", "rawset(m, 'x', 1)", "setmetatable(m, nil)", "for k in pairs(m) do m[k] = nil end"] {
        #expect(throws: LuaError.self, "\(name): \(code)") {
          try state.load("local m = require('moonbase.\(name)') \(code)", name: "c")()
        }
      }
    }
  }

  /// No table of a module that a script can reach is writable, even by walking through all values of the modules.
  @Test func nothingThatModulesGiveCanBeChanged() throws {
    let state = try LuaState()
    let code = """
      local seen, open = {}, {}
      local function walk(value, path)
        if type(value) ~= "table" or seen[value] then return end
        seen[value] = true
        if pcall(rawset, value, "hostile", 1) then open[#open + 1] = path end
        for key, inner in pairs(value) do walk(inner, path .. "." .. tostring(key)) end
        walk(getmetatable(value), path .. ".metatable")
      end
      for _, name in ipairs { "json", "csv", "text", "base64", "hex", "geometry", "color", "fault", "json_writer" } do
        walk(require("moonbase." .. name), name)
      end
      local geometry, color, csv = require "moonbase.geometry", require "moonbase.color", require "moonbase.csv"
      for _, value in ipairs { geometry.Point.new(1, 2), geometry.Rect.new(1, 2, 3, 4), color.new(1, 1, 1),
        csv.writer(print) } do
        walk(getmetatable(value), "instance")
      end
      return table.unpack(open)
      """
    #expect(try state.load(code, name: "walk").call([]).compactMap(\.textValue) == [])
  }

  @Test func aScriptsOwnModulesComeFirst() throws {
    let state = try LuaState()
    state.modules.add("moonbase.json", source: LuaSource("return { mine = true }", name: "json.lua"))
    #expect(try state.load("return require('moonbase.json').mine", name: "t").first().isTrue)
  }

  @Test func thereIsNoCalendarWithoutDates() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) { try state.load("require 'moonbase.date'", name: "t")() }
    #expect(error.message.contains("module 'moonbase.date' not found"))
  }

  @Test func aRaisedFaultIsAMessage() throws {
    let state = try LuaState()
    let error = try #require(throws: LuaError.self) {
      try state.load("assert(require('moonbase.json').decode('[1,]'))", name: "t")()
    }
    #expect(error.message == "line 1, column 4: a value is expected, found ']'")
  }

  @Test func limitsHoldWithinModules() throws {
    let state = try LuaState(limits: LuaLimits(instructions: 200_000))
    for code in [
      "require('moonbase.json').decode('[' .. ('[1],'):rep(100000) .. '1]')",
      "pcall(require('moonbase.csv').decode, ('a,b\\n'):rep(100000))",
      "local t = require 'moonbase.text' local s = ('e'):rep(100000) while true do pcall(t.fold, s) end",
    ] {
      let error = try #require(throws: LuaError.self) { try state.load(code, name: "t")() }
      #expect(error.kind == .limit(.instructions), "\(code): \(error)")
    }
  }
}
