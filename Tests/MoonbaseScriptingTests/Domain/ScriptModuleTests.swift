import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import Testing

/// The shipped modules with dates, decimals and objects: runs the files in `Scripts` in every preset.
@Suite struct ScriptModuleTests {
  static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Scripts")
  static let check = folder.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("MoonbaseLuaTests/Modules/Scripts/check.lua")

  @Test(arguments: ["date", "values", "wrong_calls"], [LuaPreset.pure, .standard, .compat, .trusted])
  func theCasesOfAModuleHoldInEveryPreset(_ file: String, _ preset: LuaPreset) throws {
    let domain = try ScriptDomain(preset: preset, limits: LuaLimits(instructions: 100_000_000))
    defer { domain.close() }
    // The calls of all modules are also tried without dates.
    let folder = file == "wrong_calls" ? Self.check.deletingLastPathComponent() : Self.folder
    let source = try String(contentsOf: folder.appendingPathComponent("\(file).lua"), encoding: .utf8)
    let check = try String(contentsOf: Self.check, encoding: .utf8)
    let cases = try domain.state.load(source, name: "\(file).lua").first()
    let results = try #require(try domain.state.load(check, name: "check.lua").first().functionValue).call([cases])
    #expect((results.first?.integerValue ?? 0) > 2)
    #expect(results.dropFirst().compactMap(\.textValue) == [])
  }

  @Test func thePurePresetHasNoClock() throws {
    let domain = try ScriptDomain(preset: .pure)
    defer { domain.close() }
    let results = try domain.state.load("return require('moonbase.date').now", name: "t")()
    #expect(results.first?.isPresent != true)
  }

  @Test func modelFilesMayRequireModules() throws {
    let model = try LuaModelFile().read(
      ScriptSource(
        name: "model.lua",
        text: """
          local text = require "moonbase.text"
          local attributes = {}
          for _, name in ipairs(text.split("a,b", ",")) do attributes[name] = "string" end
          return { entities = { Thing = { attributes = attributes } } }
          """))
    #expect(model.entities.first?.attributes.map(\.name).sorted() == ["a", "b"])
  }

  /// An extension registers the shipped class under a name, transforms its values and saves them.
  @Test func extensionsMayUseModulesAndTheirClasses() throws {
    let bench = try ScriptBench(
      extensions: [
        """
        local geometry, color = require "moonbase.geometry", require "moonbase.color"
        return {
          name = "shapes", classes = { Rect = geometry.Rect, Color = color.Color },
          transformers = {
            ColorTransformer = {
              class = "Color", transform = function(c) return c:pack() end, reverse = function(b) return color.unpack(b) end,
            },
          },
        }
        """
      ])
    let outcome = try bench.run(
      """
      local c = moonbase.context
      local color = require "moonbase.color"
      local p = c:insert("Person", { favoriteColor = color.parse "#1e90ff" })
      assert(c:save())
      c:refresh(p, false)
      print(p.favoriteColor, getmetatable(p.favoriteColor) == moonbase.classes.Color, moonbase.classes.Color.parse "red")
      print(pcall(function() p.favoriteColor = require("moonbase.geometry").Rect.new(1, 2, 3, 4) end))
      """)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(bench.output.hasPrefix("#1e90ff\ttrue\t#ff0000\nfalse\t"), "\(bench.output)")
  }
}
