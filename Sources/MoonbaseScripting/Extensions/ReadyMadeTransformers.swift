import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform

/// Built-in transformers, used for a name in a model or a shadow attribute that no extension provides.
///
/// They are written in Lua and loaded as an extension of their own (`source(of:)`), behind the extensions of the
/// caller.
package enum ReadyMadeTransformers {
  /// The name of their source.
  static let sourceName = "ready-made transformers"

  /// The text of a transformer for the generated extension. Both functions are bodies in Lua, with `value` or `bytes`
  /// as their parameter.
  private struct Entry {
    /// The class of the values, and the module of the class.
    var valueClass: (name: String, module: String)?
    var transform: String
    var reverse: String
  }

  /// The built-in transformers by name. For example, `SRGBColorTransformer` stores a color in packed form and reads it
  /// as a `Color` of module `moonbase.color`.
  private static let entries: [String: Entry] = [
    "SRGBColorTransformer": Entry(
      valueClass: ("Color", "color"), transform: "return value:pack()",
      reverse: "return made(Color.unpack(bytes))"),
    "PointTransformer": geometry("Point"), "SizeTransformer": geometry("Size"), "RectTransformer": geometry("Rect"),
    "RangeTransformer": geometry("Range"),
    "JSONTransformer": Entry(
      transform: "return json.encode(value)", reverse: "return made(json.decode(bytes))"),
    "ISODateTransformer": Entry(
      transform: "return tostring(wanted(value, 'date'))", reverse: "return made(moonbase.date.parse(bytes))"),
    "URLTransformer": Entry(
      transform: "return tostring(wanted(value, 'uri'))", reverse: "return moonbase.uri(bytes)"),
    "CompressedDataTransformer": Entry(
      transform: "return deflate(wanted(value, 'string'))", reverse: "return inflate(bytes)"),
  ]

  /// A transformer for a geometry class, in Foundation's text forms. For example `{1, 2}` for a point.
  private static func geometry(_ name: String) -> Entry {
    Entry(
      valueClass: (name, "geometry"), transform: "return tostring(value)",
      reverse: "return made(\(name).parse(bytes))")
  }

  /// The names of all built-in transformers.
  package static let names: [String] = entries.keys.sorted()

  /// The names of the transformers whose bytes are not text. A shadow attribute of these has to be binary.
  static let namesOfThoseOfBytes = ["CompressedDataTransformer", "SRGBColorTransformer"]

  /// An extension with these transformers; nil if there are none.
  ///
  /// The text begins with the helper functions and requires only the modules of the chosen classes.
  static func source(of wanted: Set<String>) -> ScriptSource? {
    let chosen = entries.filter { wanted.contains($0.key) }.sorted { $0.key < $1.key }
    guard !chosen.isEmpty else { return nil }
    let classes = chosen.compactMap(\.value.valueClass)
    let locals = classes.map { "local \($0.name) = require('moonbase.\($0.module)').\($0.name)\n" }.joined()
    let listed = classes.map { "\($0.name) = \($0.name)" }.joined(separator: ", ")
    let transformers = chosen.map { name, entry in
      let named = entry.valueClass.map { "class = '\($0.name)', " } ?? ""
      return "\(name) = { \(named)transform = function(value) \(entry.transform) end, "
        + "reverse = function(bytes) \(entry.reverse) end },\n"
    }
    return ScriptSource(
      name: sourceName,
      text: """
        local deflate, inflate, kind = ...
        local json = require "moonbase.json"
        local function made(value, problem)
          if value == nil then error(tostring(problem), 0) end
          return value
        end
        local function wanted(value, name)
          local found = kind(value)
          if found ~= name then error(name .. " expected, got " .. found, 0) end
          return value
        end
        \(locals)return { name = "\(sourceName)", classes = { \(listed) }, transformers = {
        \(transformers.joined())} }
        """)
  }

  /// The built-in transformers that a model or extensions need and that nothing else provides. Names in the model and
  /// in shadows are needed; names that extensions in files or in Swift provide are not.
  static func needed(
    by declarations: [ExtensionDeclaration], beside swift: ExtensionRegistry, in model: ManagedObjectModel
  ) -> Set<String> {
    var named = Set(model.entities.flatMap { $0.attributes.compactMap(\.valueTransformerName) })
    named.formUnion(declarations.flatMap(\.entities).flatMap(\.derived).compactMap(\.transformer))
    named.subtract(declarations.flatMap { $0.transformers.map(\.name) })
    return named.subtracting(swift.transformers.keys)
  }
}

extension ScriptDomain {
  /// Host functions that the source of the built-in transformers needs. `deflate` and `inflate` work on strings, with
  /// the work charged by size; `kind` is the name of a value's type.
  func argumentsOfReadyMadeTransformers() throws -> [LuaValue] {
    [
      try state.function(named: "deflate") { call in
        let bytes = try Self.bytes(of: call)
        try HostWork.charge(bytes.count >> 4)
        call.return(bytes: try Deflate.deflate(bytes))
      },
      try state.function(named: "inflate") { call in
        let bytes = try Deflate.inflate(Self.bytes(of: call))
        try HostWork.charge(bytes.count >> 4)
        call.return(bytes: bytes)
      },
      try state.function(named: "kind") { call in call.return(call.typeName(0)) },
    ]
  }

  /// The first argument as bytes. Throws a type error for other values.
  private static func bytes(of call: borrowing LuaCall) throws -> Data {
    guard case .string(let string) = try call.value(0) else { throw call.typeError(0, expected: "string") }
    return Data(string.bytes)
  }
}

extension LuaCall {
  fileprivate mutating func `return`(bytes data: Data) { data.withUnsafeBytes { self.return(bytes: $0) } }
}
