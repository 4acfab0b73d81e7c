import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Exported files can be imported.
@Suite struct ExportedValueTests {
  private static let model = """
    return { entities = { Paint = {
      attributes = {
        name = "string", color = { "transformable", transformer = "Colors" }, hue = "string",
        count = { "integer64", derivation = "parts.@count" },
      },
      relationships = { parts = { to_many = "Paint", inverse = "parts" } },
    } } }
    """
  private static let code = """
    local Color = {}
    Color.__index = Color
    function Color.make(text) return setmetatable({ name = text }, Color) end
    function Color.parse(text)
      if text:find("^%l+$") then return Color.make(text) end
      return nil, "small letters are expected"
    end
    function Color:text() return self.name end
    return {
      name = "paints", classes = { Color = Color },
      transformers = { Colors = {
        class = "Color", transform = function(c) return c.name end, reverse = function(b) return Color.make(b) end } },
      entities = { Paint = { derived = {
        shout = { type = "string", inputs = { "name" }, get = function(name) return name:upper() end },
        hue = { stored = true, inputs = { "color" }, get = function(color) return color and color.name end },
      } } },
    }
    """

  @Test(arguments: ["csv", "ndjson"]) func valuesOfClassesAndDerivedColumnsComeBack(_ form: String) throws {
    let bench = try Workbench()
    try bench.write(Self.model, to: "m.lua")
    try bench.write(Self.code, to: "e.lua")
    let make = """
      local Color = moonbase.classes.Color
      local c = moonbase.context
      c:insert("Paint", { name = "a", color = Color.make("red") })
      c:insert("Paint", { name = "b" })
      assert(c:save())
      """
    let options = ["--extension", "e.lua"]
    let made = try bench.moonbase(["run", "--store", "s.sqlite", "--model", "m.lua"] + options + ["-e", make])
    try #require(made.status == 0, "\(made)")
    let file = "paints.\(form)"
    let exported = try bench.moonbase(["export", "Paint", file, "--store", "s.sqlite"] + options)
    #expect(exported.status == 0 && exported.complaints == "", "\(exported)")
    let text = String(decoding: try bench.bytes(of: file), as: UTF8.self)
    #expect(text.contains("red") && !text.contains("shout"), "\(text)")
    let taken = try bench.moonbase(
      ["import", "Paint", file, "--store", "t.sqlite", "--model", "m.lua"] + options)
    #expect(taken.status == 0, "\(taken)")
    #expect(taken.complaints.contains("\nmoonbase: derived, and passed over: count, hue\n"), "\(taken)")
    let columns = ["--columns", "name,color,hue,shout", "--sort", "name", "--format", "csv"]
    let found = try bench.moonbase(["fetch", "Paint", "--store", "t.sqlite"] + options + columns)
    #expect(found.output == "name,color,hue,shout\na,red,red,A\nb,,,B\n", "\(found)")
    // An invalid text rejects only its row.
    try bench.write("name,color\nc,RED\n", to: "q.csv")
    let refused = try bench.moonbase(["import", "Paint", "q.csv", "--store", "t.sqlite"] + options)
    let rejects = String(decoding: try bench.bytes(of: "q.rejects.csv"), as: UTF8.self)
    #expect(refused.status == 4 && rejects.contains("small letters are expected"), "\(rejects)")
  }
}
