import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Values of a Lua class assigned as texts, lists and maps.
@Suite struct MadeValueTests {
  private static let model = ManagedObjectModel(entities: [
    {
      var shape = EntityDescription("Shape")
      var color = AttributeDescription("color", type: .transformable)
      color.valueTransformerName = "Color"
      var plain = AttributeDescription("plain", type: .transformable)
      plain.valueTransformerName = "Plain"
      var pair = AttributeDescription("pair", type: .transformable)
      pair.valueTransformerName = "Pair"
      var tint = AttributeDescription("tint", type: .undefined)
      tint.isTransient = true
      shape.attributes = [AttributeDescription("name", type: .string), color, plain, pair, tint]
      return shape
    }()
  ])

  private static let text = """
    local fault = require "moonbase.fault"
    local Color = {}
    Color.__index = Color
    function Color.new(r, g, b) return setmetatable({ r = r, g = g, b = b }, Color) end
    function Color:hex() return string.format("#%02x%02x%02x", self.r, self.g, self.b) end
    function Color.parse(text)
      local r, g, b = text:match("^#(%x%x)(%x%x)(%x%x)$")
      if text == "broken" then error("out of order") end
      if text == "other" then return 7 end
      if text == "faulty" then return nil, fault.at(text, 3, "a digit is expected") end
      if not r then return nil, "six digits are expected" end
      return Color.new(tonumber(r, 16), tonumber(g, 16), tonumber(b, 16))
    end
    function Color.from_tree(tree)
      if not tree.r then return nil, "r is missing" end
      return Color.new(tree.r, tree.g or 0, tree.b or 0)
    end
    local Plain = {}
    Plain.__index = Plain
    local Pair = {}
    function Pair.is(v) return type(v) == "table" and v.x ~= nil and v.y ~= nil end
    function Pair.parse(text)
      local x, y = text:match("^(%d+),(%d+)$")
      if not x then return nil, "two numbers are expected" end
      return { x = tonumber(x), y = tonumber(y) }
    end
    function Pair.from_tree(tree) return { x = tree[1], y = tree[2] } end
    return {
      name = "colors", classes = { Color = Color, Plain = Plain, Pair = Pair },
      transformers = {
        Color = { class = "Color", transform = function(c) return c:hex() end, reverse = Color.parse },
        Pair = { class = "Pair", transform = function(p) return p.x .. "," .. p.y end, reverse = Pair.parse },
        Plain = { class = "Plain", transform = function() return "x" end,
          reverse = function() return setmetatable({}, Plain) end },
      },
      value_classes = { Shape = { tint = "Color" } },
      entities = { Shape = {
        methods = { hex = function(s) return s.color and s.color:hex() end },
        derived = { shade = { type = "string", inputs = { "color" }, get = function(c) return c and c:hex() end } },
      } },
    }
    """

  private let context: ManagedObjectContext
  private let domain: ScriptDomain

  init() throws {
    let extensions = try ScriptExtensions([.text(Self.text, name: "colors.lua")], for: Self.model)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(InMemoryStore(model: extensions.resolvedModel))
    domain = try ScriptDomain()
    context = try ManagedObjectContext(coordinator, extensionRegistry: extensions.makeRegistry(in: domain))
    try domain.setContext(context)
  }

  private func hex(_ object: ManagedObject) throws -> Value? { try object.call("hex") }

  @Test func aTextAndAMapBecomeAValueByEveryDoorOfSwift() throws {
    let map: Value = .map(["r": 255, "g": 16])
    let shape = try context.insert("Shape", values: ["color": "#ff0000"])
    #expect(try hex(shape) == "#ff0000" && shape["shade"] == "#ff0000")
    try shape.setValue(map, forKey: "color")
    #expect(try hex(shape) == "#ff1000")
    shape["color"] = "#0000ff"
    #expect(try hex(shape) == "#0000ff")
    try shape.setPrimitiveValue("#00ff00", forKey: "color")
    #expect(try hex(shape) == "#00ff00")
    try shape.setValuesForKeys(["color": map, "tint": "#010203"])
    #expect(try hex(shape) == "#ff1000")
    guard case .object(let tint) = shape["tint"] else {
      Issue.record("a value of the class was expected")
      return
    }
    #expect(tint.className == "Color")
    try context.save()
    try context.reset()
    let found = try #require(try context.fetch(FetchRequest("Shape")).first)
    #expect(try hex(found) == "#ff1000")
    // An equal value is no change.
    try found.setValue("#ff1000", forKey: "color")
    try context.save()
  }

  @Test func aBatchTakesTextsAndMapsToo() throws {
    _ = try context.execute(
      BatchInsertRequest(
        "Shape", objects: [["name": "a", "color": "#ff0000"], ["name": "b", "color": .map(["r": 1])]]))
    let colors = try context.fetch(FetchRequest("Shape", where: "name = 'a' OR name = 'b'")).map { try hex($0) }
    #expect(Set(colors) == ["#ff0000", "#010000"])
    _ = try context.execute(BatchUpdateRequest("Shape", set: ["color": "#0a0b0c"] as [String: Value]))
    try context.reset()
    #expect(Set(try context.fetch(FetchRequest("Shape")).map { try hex($0) }) == ["#0a0b0c"])
  }

  /// A predicate with a text finds the values that the text stands for, saved and unsaved.
  @Test func predicatesTakeTextsAndMapsToo() throws {
    _ = try context.insert("Shape", values: ["name": "a", "pair": "1,2"])
    try context.save()
    _ = try context.insert("Shape", values: ["name": "b", "pair": .list([3, 4])])
    func names(_ format: String, _ arguments: Value...) throws -> [String] {
      let request = FetchRequest("Shape", where: try Predicate(format: format, arguments: arguments))
      return try context.fetch(request).map { "\(try $0.value(forKey: "name"))" }.sorted()
    }
    #expect(try names("pair = '1,2'") == ["a"])
    #expect(try names("'3,4' = pair") == ["b"])
    #expect(try names("pair != '1,2'") == ["b"])
    #expect(try names("pair = %@", .list([3, 4])) == ["b"])
    #expect(try names("pair = %@", .map(["x": 1, "y": 2])) == ["a"])
    #expect(try names("pair IN {'1,2', '3,4'}") == ["a", "b"])
    #expect(try names("pair IN %@", .list(["1,2", .list([7, 7])])) == ["a"])
    #expect(try names("pair = nil") == [])
  }

  @Test(arguments: [
    ("pair = 7", "Shape.pair is compared with a literal (7): its values are of class Pair, and an integer equals none"),
    ("pair = 'red'", "Shape.pair is compared with a literal (red): the text is no Pair: two numbers are expected"),
    ("name = 'a' AND NOT plain IN {'x'}", "Shape.plain is compared with a literal (x): its values are of class Plain"),
  ]) func aLiteralThatStandsForNoValueIsAnError(_ format: String, _ message: String) throws {
    let error = #expect(throws: ModelError.self) {
      _ = try context.fetch(FetchRequest("Shape", where: try Predicate(format: format)))
    }
    #expect(error?.code == .predicateMismatch && error?.message.contains(message) == true, "\(error as Any)")
  }

  @Test func scriptsAssignTextsAndTables() throws {
    let results = try domain.state.load(
      """
      local context = moonbase.context
      local shape = context:insert("Shape", { color = "#ff0000" })
      local first = shape:hex()
      shape.color = { r = 1, g = 2, b = 3 }
      local second = shape:hex()
      local ok, problem = pcall(function() shape.color = "red" end)
      return first, second, ok, tostring(problem)
      """, name: "t.lua")()
    #expect(results[0].textValue == "#ff0000" && results[1].textValue == "#010203")
    let problem = results[3].textValue ?? ""
    #expect(problem.contains("Shape.color: the text is no Color: six digits are expected"), "\(problem)")
  }

  @Test(arguments: [
    ("color", Value.string("red"), "Shape.color: the text is no Color: six digits are expected"),
    ("color", .string("faulty"), "Shape.color: the text is no Color: line 1, column 3: a digit is expected"),
    ("color", .map(["g": 1]), "Shape.color: the map is no Color: r is missing"),
    ("color", .list([]), "Shape.color: the list is no Color: r is missing"),
    ("color", .string("other"), "parse of class Color gave an integer, and no value of the class"),
    ("color", .int(7), "Shape.color: its values are of class Color, not integer"),
    ("plain", .string("x"), "of class Plain, not string (x): give the class a function parse"),
    ("plain", .map([:]), "give the class a function from_tree"),
  ]) func whatStandsForNoValueIsAnError(_ key: String, _ value: Value, _ message: String) throws {
    let shape = try context.insert("Shape", values: ["color": "#ff0000"])
    let error = #expect(throws: GraphError.self) { try shape.setValue(value, forKey: key) }
    #expect(error?.code == .invalidValue && error?.message.contains(message) == true, "\(String(describing: error))")
    #expect(error?.entity == "Shape" && error?.property == key)
    #expect(try hex(shape) == "#ff0000")
  }

  /// Without the error's text the value would silently become NULL.
  @Test func aFaultOfATransformerIsAnError() throws {
    let text = """
      local fault = require "moonbase.fault"
      local function fails(value) return nil, fault.new { message = "no form of " .. value } end
      local transformer = { transform = fails, reverse = fails }
      return { name = "hex", transformers = { Color = transformer, Plain = transformer, Pair = transformer } }
      """
    let extensions = try ScriptExtensions([.text(text, name: "hex.lua")], for: Self.model)
    let coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    try coordinator.add(InMemoryStore(model: extensions.resolvedModel))
    let domain = try ScriptDomain()
    let context = try ManagedObjectContext(coordinator, extensionRegistry: extensions.makeRegistry(in: domain))
    let error = #expect(throws: GraphError.self) {
      try context.insert("Shape", values: ["color": "red"])
      try context.save()
    }
    #expect(error?.message.contains("no form of red") == true, "\(String(describing: error))")
  }

  @Test func aBrokenParseIsAFaultOfTheExtension() throws {
    let shape = try context.insert("Shape")
    let error = #expect(throws: GraphError.self) { try shape.setValue("broken", forKey: "color") }
    #expect(
      error?.code == .extensionFailure && error?.message.contains("out of order") == true,
      "\(String(describing: error))")
    #expect(error?.message.contains("parse") == true)
  }
}
