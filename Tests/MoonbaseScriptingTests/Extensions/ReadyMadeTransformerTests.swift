import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting
import MoonbaseTestSupport
import Testing

/// Built-in transformers that a model or a shadow names.
@Suite struct ReadyMadeTransformerTests {
  private static let model = """
    return { entities = { A = { attributes = {
      color = { "transformable", transformer = "SRGBColorTransformer", class = "Color" },
      point = { "transformable", transformer = "PointTransformer" },
      size = { "transformable", transformer = "SizeTransformer" },
      rect = { "transformable", transformer = "RectTransformer", class = "Rect" },
      range = { "transformable", transformer = "RangeTransformer" },
      json = { "transformable", transformer = "JSONTransformer" },
      day = { "transformable", transformer = "ISODateTransformer" },
      page = { "transformable", transformer = "URLTransformer" },
      packed = { "transformable", transformer = "CompressedDataTransformer" },
      frameAsString = "string", dayAsString = "string", pageAsString = "string", jsonAsString = "string", bytes = "binary",
    } } } }
    """
  private static let frame = """
    return { entities = { A = { derived = {
      frame = { shadow = "frameAsString", transformer = "RectTransformer" },
      date = { shadow = "dayAsString", transformer = "ISODateTransformer" },
      link = { shadow = "pageAsString", transformer = "URLTransformer" },
      tree = { shadow = "jsonAsString", transformer = "JSONTransformer" },
      unpacked = { shadow = "bytes", transformer = "CompressedDataTransformer" },
    } } } }
    """

  private static let filled = """
    local color, geometry = require "moonbase.color", require "moonbase.geometry"
    local values = {
      color = color.Color.new(1, 0.5, 0), point = geometry.Point.new(1, 2), size = geometry.Size.new(3, 4),
      rect = geometry.Rect.new(1, 2, 3, 4), range = geometry.Range.new(5, 6), json = { 1, { a = "b" } },
      day = moonbase.date.parse("2024-02-29T12:00:00Z"), page = moonbase.uri("https://example.org/a"),
      packed = ("x"):rep(10000), frame = geometry.Rect.new(5, 6, 7, 8),
      date = moonbase.date.unix(0), link = moonbase.uri("a:b"), unpacked = ("y"):rep(10000), tree = { 1, { a = "b" } },
    }
    local a = context:insert("A", values)
    assert(context:save())
    context:refresh(a, false)
    """

  @Test(arguments: StoreKind.allCases) func eachKeepsItsValue(_ kind: StoreKind) throws {
    let lines = try ScriptBench(kind, model: Self.model, extensions: [Self.frame]).lines(
      Self.filled + """

        for _, key in ipairs { "color", "point", "size", "rect", "range", "day", "page", "packed", "frame", "date", "link", "unpacked" } do
          if a[key] ~= values[key] then print(key, a[key]) end
        end
        print(a.color, a.color:contrast(a.color) > 0, a.rect:center(), a.json[2].a, a.frameAsString)
        print(#a.bytes < 200, a.dayAsString, a.pageAsString, a.jsonAsString, a.tree[2].a)
        print(context:fetch("A"):where("frameAsString = '{{5, 6}, {7, 8}}'"):count())
        """)
    #expect(
      lines == [
        "#ff8000\ttrue\t{2.5, 4}\tb\t{{5, 6}, {7, 8}}",
        "true\t1970-01-01T00:00:00.000Z\ta:b\t[1,{\"a\":\"b\"}]\tb", "1",
      ])
  }

  @Test func aValueOfAnotherKindIsRefusedAtTheAssignment() throws {
    let lines = try ScriptBench(.memory, model: Self.model, extensions: []).lines(
      """
      local a = context:insert("A")
      for key, value in pairs {
        color = 1, point = "no point", rect = require("moonbase.geometry").Point.new(1, 2), day = "2024-02-29", page = "a",
        json = print, packed = 7,
      } do
        local ok, err = pcall(function() a[key] = value end)
        if ok or err.key ~= key or a[key] ~= nil then print(key, ok, err) end
      end
      """, leavingChanges: true)
    #expect(lines == [])
  }

  @Test func textsAndTablesBecomeValuesOfTheClass() throws {
    let lines = try ScriptBench(.memory, model: Self.model, extensions: []).lines(
      """
      local a = context:insert("A", { point = "{1, 2}", color = "#ff8000" })
      a.rect = { x = 1, y = 2, width = 3, height = 4 }
      print(a.point, a.point.x, a.color, a.rect:center())
      a.point, a.color = { x = 3, y = 4 }, { r = 1, g = 0, b = 0 }
      print(a.point, a.color, a.rect)
      print(pcall(function() a.rect = { x = 1 } end))
      """, leavingChanges: true)
    #expect(lines.first == "{1, 2}\t1.0\t#ff8000\t{2.5, 4}")
    #expect(lines.dropFirst().first == "{3, 4}\t#ff0000\t{{1, 2}, {3, 4}}")
    #expect(lines.last == "false\tA.rect: the map is no Rect: a Rect needs a number under 'y', not no value")
  }

  @Test func bytesThatMeanNothingAreAnErrorThatNamesTheAttribute() throws {
    let names = ["SRGBColor", "Point", "Size", "Rect", "Range", "JSON", "ISODate", "CompressedData"]
    let derived = names.map { "\($0) = { shadow = 'bytes', transformer = '\($0)Transformer' }" }.joined(separator: ", ")
    let bench = try ScriptBench(
      .memory, model: Self.model, extensions: ["return { entities = { A = { derived = { \(derived) } } } }"])
    let context = try ManagedObjectContext(bench.coordinator, extensions: bench.extensions)
    let object = try context.insert("A", values: ["bytes": .data(Data("{{".utf8))])
    for name in names {
      let error = #expect(throws: GraphError.self) { try object.value(forKey: name) }
      #expect(error?.property == name && error?.code == .extensionFailure, "\(error as Any)")
    }
  }

  /// An extension's transformer or class takes precedence over a built-in one with the same name.
  @Test func anExtensionMayProvideItsOwn() throws {
    let own = """
      return { classes = { Color = require("moonbase.color").Color },
        transformers = { PointTransformer = { transform = function(v) return "own" end, reverse = function(b) return b end } } }
      """
    let lines = try ScriptBench(.memory, model: Self.model, extensions: [own]).lines(
      """
      local a = context:insert("A", { point = 1, color = moonbase.classes.Color.new(1, 1, 1) })
      assert(context:save())
      context:refresh(a, false)
      print(a.point, a.color)
      """)
    #expect(lines == ["own\t#ffffff"])
    let other = "local Color = {} return { classes = { Color = Color } }"
    let error = #expect(throws: ScriptError.self) { try ScriptBench(.memory, model: Self.model, extensions: [other]) }
    #expect(error?.code == .extensionConflict)
    #expect(error?.message.contains("class Color is already provided by extension1.lua") == true, "\(error as Any)")
    let misspelt = Self.model.replacing("PointTransformer", with: "PointTransfomer")
    let hint = #expect(throws: (any Error).self) { try ScriptBench(.memory, model: misspelt, extensions: []) }
    #expect("\(hint as Any)".contains("did you mean PointTransformer?"), "\(hint as Any)")
  }
}

/// Values of a script's classes as Swift types.
@Suite struct DecodedValueTests {
  private struct Color: Codable, Equatable, Sendable { var r, g, b, a: Double }
  private struct Size: Codable, Sendable { var width, height: Double }

  private static let classes = """
    local Color = { swift = "Color" } Color.__index = Color
    function Color.new(r, g, b) return setmetatable({ red = r, green = g, blue = b }, Color) end
    function Color.to_tree(c) return { r = c.red, g = c.green, b = c.blue, a = 1 } end
    local Bare = {} Bare.__index = Bare
    function Bare.new(t) return setmetatable(t, Bare) end
    return { classes = { Color = Color, Bare = Bare }, transformers = { T = {
      transform = function(v) return "x" end, reverse = function(b) return Color.new(1, 0, 0.5) end } },
      entities = { P = { methods = {
        bare = function(_, t) return Bare.new(t) end, color = function() return Color.new(0, 1, 0) end,
      } } } }
    """

  private func object(_ extra: [ExtensionSource] = []) throws -> (ManagedObject, (ScriptBench, ManagedObjectContext)) {
    let bench = try ScriptBench(.memory, model: ThingBench.model, extensions: [Self.classes])
    let extensions = try ScriptExtensions(
      [.text(Self.classes, name: "c.lua")] + extra, for: bench.extensions.model)
    let context = try ManagedObjectContext(bench.coordinator, extensions: extensions)
    return (try context.insert("P", values: ["tr": .data(Data("x".utf8))]), (bench, context))
  }

  @Test func aValueIsReadByToTreeOrByItsFields() throws {
    let (object, bench) = try object()
    defer { withExtendedLifetime(bench) {} }
    #expect(try object.call("color").decode(as: Color.self) == Color(r: 0, g: 1, b: 0, a: 1))
    let date = Date(timeIntervalSinceReferenceDate: 1)
    struct All: Decodable, Equatable {
      var s: String, i: Int, d: Double, list: [Bool], when: Date, id: UUID, page: URL, price: Decimal, color: Color,
        none: Int?
    }
    let id = UUID.random()
    let given: Value = .map([
      "s": "a", "i": 7, "d": 0.5, "list": [true, false], "when": .date(date), "id": .uuid(id),
      "page": .uri(URL(literalPath: "/a")), "price": .decimal(1.5), "color": ["r": 1, "g": 1, "b": 1, "a": 1],
    ])
    let all = All(
      s: "a", i: 7, d: 0.5, list: [true, false], when: date, id: id, page: URL(literalPath: "/a"), price: 1.5,
      color: Color(r: 1, g: 1, b: 1, a: 1), none: nil)
    #expect(try object.call("bare", given).decode(as: All.self) == all)
    #expect(try given.decode(as: All.self) == all)
    #expect(throws: (any Error).self) { try object.call("bare", given).decode(as: Color.self) }
  }

  @Test func aClassNamesARegisteredType() throws {
    let (object, bench) = try object([.codable("Color", Color.self), .codable("Size", Size.self)])
    defer { withExtendedLifetime(bench) {} }
    let color = try object.call("color")
    #expect(try color.decode() as? Color == Color(r: 0, g: 1, b: 0, a: 1))
    let other = #expect(throws: ScriptError.self) { try color.decode(as: Size.self) }
    #expect(other?.message.contains("a Color is Color in Swift") == true, "\(other as Any)")
    let bare = #expect(throws: ScriptError.self) { try object.call("bare", [:]).decode() }
    #expect(bare?.message.contains("class Bare names no type of Swift") == true)
    let unknown = #expect(throws: ScriptError.self) { try self.object([.codable("Colour", Color.self)]) }
    #expect(
      unknown?.message.contains("the program registers no type Color; did you mean Colour?") == true,
      "\(unknown as Any)")
  }

  @Test func onAnotherThreadAndBehindItsContextItThrows() async throws {
    let value: Value
    do {
      let (object, bench) = try object()
      defer { withExtendedLifetime(bench) {} }
      value = try object.call("color")
      let error = await Thread.detached { #expect(throws: ScriptError.self) { try value.decode(as: Color.self) } }
      #expect(error?.message.contains("of another thread: decode it there") == true, "\(error as Any)")
    }
    #expect(throws: ScriptError.self) { try value.decode(as: Color.self) }
  }
}

extension Thread {
  /// Runs a closure on a new thread and returns its result.
  fileprivate static func detached<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: body()) }
    }
  }
}
