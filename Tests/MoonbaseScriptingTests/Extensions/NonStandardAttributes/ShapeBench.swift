import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseScripting

/// Shapes over a store, whose non-standard attributes are implemented, set and read in one of several ways.
final class ShapeBench {
  static let model = """
    return { entities = { Shape = { attributes = {
      name = "string", color = { "transformable", transformer = "ColorTransformer", class = "Color" },
      paint = { "undefined", transient = true, class = "Color" }, paintText = "string",
      bounds = { "undefined", transient = true }, boundsText = "string",
      level = { "integer64", transient = true }, levelText = "string",
    } } } }
    """

  static func extensionInLua(_ policy: AttributePolicy) -> String {
    """
    local Color = {}
    Color.__index = Color
    function Color.new(r) return setmetatable({ r = r, g = r + 1, b = r + 2 }, Color) end
    function Color.__eq(x, y) return x.r == y.r and x.g == y.g and x.b == y.b end
    function Color.__tostring(c) return ("b=%d g=%d r=%d"):format(c.b, c.g, c.r) end
    local function read(text) return Color.new(math.tointeger(tonumber(text:match("r=(%d+)")))) end
    local T = { class = "Color", transform = tostring, reverse = read }
    return {
      name = "shapes", classes = { Color = Color }, transformers = { ColorTransformer = T, PaintTransformer = T },
      entities = { Shape = { derived = {
        paint = { shadow = "paintText", transformer = "PaintTransformer", \(policy.words) },
        bounds = {
          inputs = { "boundsText" }, \(policy.words),
          get = function(text)
            if not text then return nil end
            local h, w = text:match("h=(%d+) w=(%d+)")
            return { h = math.tointeger(tonumber(h)), w = math.tointeger(tonumber(w)) }
          end,
          set = function(value, shape) shape.boundsText = value and ("h=%d w=%d"):format(value.h, value.w) end,
        },
        level = {
          inputs = { "levelText" }, \(policy.words),
          get = function(text) return text and math.tointeger(tonumber(text)) end,
          set = function(value, shape) shape.levelText = value and tostring(value) end,
        },
      } } },
    }
    """
  }

  let way: AttributeWay
  let context: ManagedObjectContext
  private let extensions: ScriptExtensions
  private let coordinator: PersistentStoreCoordinator
  private let folder: TemporaryFolder
  private let domain: ScriptDomain

  init(_ kind: StoreKind, _ way: AttributeWay, _ policy: AttributePolicy) throws {
    self.way = way
    let model = try LuaModelFile().read(ScriptSource(name: "m.lua", text: Self.model))
    let sources: [ExtensionSource] =
      way.hasExtensionInLua
      ? [.text(Self.extensionInLua(policy), name: "shapes.lua")] : ShapeClosures(policy: policy).sources
    extensions = try ScriptExtensions(sources, for: model)
    coordinator = PersistentStoreCoordinator(model: extensions.resolvedModel)
    folder = try TemporaryFolder()
    try coordinator.add(kind.store(for: extensions.resolvedModel, in: folder))
    domain = try ScriptDomain()
    context = try domain.context(of: StoreHandle(coordinator: coordinator, extensions: extensions))
    context.undoManager = UndoManager()
  }

  deinit { domain.close() }

  func child() -> ManagedObjectContext { ManagedObjectContext(parent: context) }

  /// The value of a shape as read by a context that shares only the store.
  func elsewhere(_ attribute: ShapeAttribute, of shape: ManagedObject) throws -> String {
    let others = try domain.context(
      of: StoreHandle(
        coordinator: PersistentStoreCoordinator(sharingStoresOf: coordinator), extensions: extensions))
    return try read(attribute, of: #require(try others.existingObject(with: shape.objectID)))
  }

  // MARK: Values

  /// A value by its number.
  private func value(_ attribute: ShapeAttribute, _ number: Int) throws -> Value {
    let number = Int64(number)
    switch attribute {
    case .level: return .int(number)
    case .bounds: return ["w": .int(number), "h": .int(number + 1)]
    case .color, .paint:
      guard way.hasExtensionInLua else { return ["r": .int(number), "g": .int(number + 1), "b": .int(number + 2)] }
      let made = try domain.state.load("return moonbase.classes.Color.new(\(number))", name: "v.lua")()
      return try domain.graphValue(from: made[0])
    }
  }

  private func text(_ value: Value) throws -> String {
    switch value {
    case .null: return "nil"
    case .int(let number): return "\(number)"
    case .map(let parts):
      return try parts.sorted { $0.key < $1.key }.map { "\($0.key)=\(try text($0.value))" }.joined(separator: " ")
    default:
      return try call("return function(v) return tostring(v) end", [domain.luaValue(from: value)]).textValue ?? ""
    }
  }

  private func call(_ text: String, _ arguments: [LuaValue]) throws -> LuaValue {
    let function = try #require(try domain.state.load(text, name: "hand.lua")()[0].functionValue)
    return try function.call(arguments).first ?? .nil
  }

  // MARK: Setting and reading

  func insert(_ values: [ShapeAttribute: Int]) throws -> ManagedObject {
    let shape = try context.insert("Shape", values: ["name": "a"])
    for (attribute, number) in values { try set(attribute, of: shape, number) }
    return shape
  }

  /// Sets the value with a number, or null.
  func set(_ attribute: ShapeAttribute, of shape: ManagedObject, _ number: Int?) throws {
    let value: Value = if let number { try value(attribute, number) } else { .null }
    try set(attribute.rawValue, of: shape, to: value)
  }

  func set(_ key: String, of shape: ManagedObject, to value: Value) throws {
    guard way.setsInLua else { return try shape.setValue(value, forKey: key) }
    _ = try call(
      "return function(o, k, v) o[k] = v end", [domain.handle(shape), .text(key), domain.luaValue(from: value)])
  }

  func read(_ attribute: ShapeAttribute, of shape: ManagedObject) throws -> String {
    try read(attribute.rawValue, of: shape)
  }

  func read(_ key: String, of shape: ManagedObject) throws -> String {
    guard way.readsInLua else { return try text(shape.value(forKey: key)) }
    return try text(
      domain.graphValue(from: call("return function(o, k) return o[k] end", [domain.handle(shape), .text(key)])))
  }

  /// Undoes or redoes in the language that sets values.
  func undo() throws { try step("undo") { try $0.undo() } }
  func redo() throws { try step("redo") { try $0.redo() } }

  private func step(_ name: String, _ body: (UndoManager) throws -> Void) throws {
    guard way.setsInLua else { return try body(#require(context.undoManager)) }
    try domain.setContext(context)
    _ = try domain.state.load("return moonbase.context:\(name)()", name: "undo.lua")()
  }
}

/// The extension of shapes in Swift.
struct ShapeClosures: Sendable {
  private let readPolicy: DerivedAttribute.ReadPolicy
  private let writePolicy: DerivedAttribute.WritePolicy

  init(policy: AttributePolicy) { (readPolicy, writePolicy) = (policy.read, policy.write) }

  var sources: [ExtensionSource] {
    [
      .transformer { Self.transformer("ColorTransformer") },
      .valueClass {
        ValueClass("Color") { if case .map(let parts) = $0 { Set(parts.keys) == ["r", "g", "b"] } else { false } }
      },
      .entity("Shape") {
        var shape = EntityExtension()
        shape.derived = [
          derived("paint") {
            $0.color
          } set: {
            Self.text($0)
          },
          derived("bounds") {
            $0.bounds
          } set: {
            Self.text($0)
          },
          derived("level") {
            Int64($0).map(Value.int) ?? .null
          } set: {
            Self.text($0)
          },
        ]
        return shape
      },
    ]
  }

  private static func transformer(_ name: String) -> ValueTransformer {
    ValueTransformer(
      name, valueClassName: "Color",
      transformedValue: { .data(Data((Self.text($0)).utf8)) },
      reverseTransformedValue: { bytes in
        guard case .data(let data) = bytes else { return .null }
        return String(decoding: data, as: UTF8.self).color
      })
  }

  fileprivate static func text(_ value: Value) -> String {
    switch value {
    case .int(let number): "\(number)"
    case .map(let parts): parts.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: " ")
    default: ""
    }
  }

  private func derived(_ name: String, get: @escaping (String) -> Value, set: @escaping (Value) -> String)
    -> DerivedAttribute
  {
    let shadow = "\(name)Text"
    return DerivedAttribute(
      name, ownInputs: [shadow], shadow: shadow, readPolicy: readPolicy, writePolicy: writePolicy,
      get: { shape in
        guard case .string(let text) = try shape.value(forKey: shadow) else { return .null }
        return get(text)
      },
      set: { value, shape in try shape.setValue(value.isNull ? .null : .string(set(value)), forKey: shadow) })
  }
}

extension String {
  private var parts: [String: Value] {
    split(separator: " ").reduce(into: [:]) { all, part in
      let pair = part.split(separator: "=")
      if pair.count == 2, let number = Int64(pair[1]) { all[String(pair[0])] = .int(number) }
    }
  }

  fileprivate var color: Value { .map(parts) }
  fileprivate var bounds: Value { .map(parts) }
}
