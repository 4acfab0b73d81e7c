import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// What one extension file returned, with its functions in one domain's Lua state.
struct ExtensionDeclaration {
  struct Transformer {
    var name: String
    var className: String?
    var transform: LuaFunction
    var reverse: LuaFunction?
    var examples: [Example] = []
  }

  /// A value and what a transformer makes of it.
  struct Example {
    var value: LuaValue
    var stored: LuaValue
  }

  struct Derived {
    var name: String
    var type: AttributeType?
    var inputs: [String]?
    var isPure = false
    var isStrict = false
    var isStored = false
    var get: LuaFunction?
    var set: LuaFunction?
    var shadow: String?
    var transformer: String?
    var readsEarly = false
    var writesLate = false
  }

  struct Entity {
    var name: String
    var normalize: [(key: String, function: LuaFunction)] = []
    var validate: [(key: String, function: LuaFunction)] = []
    var methods: [(key: String, function: LuaFunction)] = []
    var hooks: [String: LuaFunction] = [:]
    var derived: [Derived] = []
  }

  let source: ScriptSource
  /// What the file returned.
  let table: LuaTable
  var name: String?
  var requiredExtensions: [String] = []
  var classes: [(name: String, value: LuaTable)] = []
  var transformers: [Transformer] = []
  var valueClasses: [String: [String: String]] = [:]
  var entities: [Entity] = []
  var onReload: LuaFunction?

  /// Reads the table that the file returned.
  init(_ results: [LuaValue], source: ScriptSource) throws {
    self.source = source
    table = try ReturnedTable.table(in: results, of: "an extension file") { message in
      ScriptError(.invalidExtension, message: message, at: SourceLocation(file: source.name))
    }
    guard try ReturnedTable.isExtension(table) || !ReturnedTable.isModel(table) else {
      throw ScriptError(
        .invalidExtension,
        message:
          "this file is a model, not an extension: name it as the model (--model of moonbase run, model of moonbase.open)",
        at: SourceLocation(file: source.name))
    }
    let reader = TableReader(table: table, source: source, path: [])
    try reader.check([
      "name", "version", "requires", "classes", "transformers", "value_classes", "entities", "on_reload",
    ])
    name = try reader.string("name")
    _ = try reader.string("version")
    try readRequires(reader)
    for (name, entry) in try reader.table("classes")?.tables() ?? [] { classes.append((name, entry.table)) }
    for (name, entry) in try reader.table("transformers")?.tables() ?? [] {
      transformers.append(try Self.transformer(name, from: entry))
    }
    for (entity, entry) in try reader.table("value_classes")?.tables() ?? [] {
      for key in try entry.keys() { valueClasses[entity, default: [:]][key] = try entry.string(key) }
    }
    for (name, entry) in try reader.table("entities")?.tables() ?? [] {
      entities.append(try Self.entity(name, from: entry))
    }
    onReload = try reader.function("on_reload")
  }

  private mutating func readRequires(_ reader: TableReader) throws {
    guard let requires = try reader.table("requires") else { return }
    try requires.check(["moonbase", "extensions"])
    requiredExtensions = try requires.strings("extensions") ?? []
    if let version = try requires.string("moonbase"), version.split(separator: ".").first != "1" {
      throw requires.error("moonbase", message: "version \(version) is asked for, and this is version 1")
    }
  }

  private static func transformer(_ name: String, from entry: TableReader) throws -> Transformer {
    try entry.check(["class", "transform", "reverse", "examples"])
    guard let transform = try entry.function("transform") else {
      throw entry.error(nil, message: "a transformer needs a function transform(value) that returns bytes")
    }
    return Transformer(
      name: name, className: try entry.string("class"), transform: transform, reverse: try entry.function("reverse"),
      examples: try examples(of: entry))
  }

  private static func examples(of entry: TableReader) throws -> [Example] {
    guard let list = try entry.table("examples") else { return [] }
    let elements = try list.table.elements
    guard try elements.count == list.table.size else {
      throw entry.error("examples", message: "a list of examples is expected, each of the form { value, bytes }")
    }
    return try elements.enumerated().map { index, element in
      guard let pair = try element.tableValue?.elements, pair.count == 2 else {
        throw list.error("\(index + 1)", message: "an example has the form { value, bytes }, and neither is nil")
      }
      return Example(value: pair[0], stored: pair[1])
    }
  }

  private static func entity(_ name: String, from entry: TableReader) throws -> Entity {
    try entry.check(Set(["normalize", "validate", "derived", "methods"] + ReturnedTable.hookNames))
    var result = Entity(name: name)
    result.normalize = try entry.table("normalize")?.functions() ?? []
    result.validate = try entry.table("validate")?.functions() ?? []
    result.methods = try entry.table("methods")?.functions() ?? []
    for hook in ReturnedTable.hookNames { result.hooks[hook] = try entry.function(hook) }
    for (name, entry) in try entry.table("derived")?.tables() ?? [] {
      result.derived.append(try derived(name, from: entry))
    }
    return result
  }

  private static func derived(_ name: String, from entry: TableReader) throws -> Derived {
    try entry.check([
      "type", "inputs", "pure", "strict", "stored", "get", "set", "shadow", "transformer", "read", "write",
    ])
    var result = Derived(name: name)
    if let text = try entry.string("type") {
      guard let type = AttributeType(modelName: text) else {
        let hint = suggestion(for: text, among: AttributeType.allCases.map(\.modelName))
        throw entry.error("type", message: "\(text) is no attribute type\(hint)")
      }
      result.type = type
    }
    result.inputs = try entry.strings("inputs")
    result.isPure = try entry.boolean("pure") ?? false
    result.isStrict = try entry.boolean("strict") ?? false
    result.isStored = try entry.boolean("stored") ?? false
    result.get = try entry.function("get")
    result.set = try entry.function("set")
    result.shadow = try entry.string("shadow")
    result.transformer = try entry.string("transformer")
    result.readsEarly = try choice("read", of: ["on_demand", "pre_calculated"], in: entry) == "pre_calculated"
    result.writesLate = try choice("write", of: ["immediate", "delayed"], in: entry) == "delayed"
    try check(result, in: entry)
    return result
  }

  private static func choice(_ key: String, of choices: [String], in entry: TableReader) throws -> String? {
    guard let text = try entry.string(key) else { return nil }
    guard choices.contains(text) else {
      let hint = suggestion(for: text, among: choices)
      throw entry.error(key, message: "\"\(text)\" is neither \"\(choices[0])\" nor \"\(choices[1])\"\(hint)")
    }
    return text
  }

  private static func check(_ derived: Derived, in entry: TableReader) throws {
    if derived.shadow != nil {
      if derived.transformer == nil { throw entry.error(nil, message: "a shadow needs a transformer") }
      if derived.get != nil || derived.set != nil {
        throw entry.error(nil, message: "give either shadow and transformer or functions get and set, not both")
      }
    } else if derived.get == nil {
      throw entry.error(nil, message: "a derived attribute needs a function get, or shadow and transformer")
    } else if derived.transformer != nil {
      throw entry.error(
        "transformer",
        message: "a transformer goes with a shadow: name the transformer of a stored attribute in the model")
    }
    if derived.isPure, derived.inputs == nil {
      throw entry.error("pure", message: "a pure attribute must list its inputs")
    }
    if derived.isPure, derived.type == nil {
      throw entry.error("pure", message: "a pure attribute needs a type")
    }
  }
}
