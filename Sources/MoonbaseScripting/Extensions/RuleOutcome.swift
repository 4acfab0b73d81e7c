import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel

/// Reads what a rule returned: `true`; or `false` or `nil` with `message[, key]` or `{ message, key = ... }`.
struct RuleOutcome {
  private let function: LuaFunction
  private let entity: ResolvedEntity

  init(_ function: LuaFunction, entity: ResolvedEntity) {
    self.function = function
    self.entity = entity
  }

  func failure(_ results: [LuaValue]) throws -> EntityExtension.RuleFailure? {
    guard let first = results.first else { throw mistake("returned nothing") }
    switch first {
    case .boolean(true): return nil
    case .boolean(false), .nil: return try failure(message: result(1, of: results), key: result(2, of: results))
    default: throw mistake("returned \(first.typePhrase)")
    }
  }

  private func result(_ index: Int, of results: [LuaValue]) -> LuaValue {
    index < results.count ? results[index] : .nil
  }

  private func failure(message: LuaValue, key: LuaValue) throws -> EntityExtension.RuleFailure {
    guard case .table(let table) = message else { return try failure(text: message, key: key) }
    for (name, _) in try table.pairs where name.integerValue != 1 && name.textValue != "key" {
      throw mistake("gave a table with \(name): it holds a message and perhaps key")
    }
    return try failure(text: table.get(1), key: table.get("key"))
  }

  private func failure(text message: LuaValue, key: LuaValue) throws -> EntityExtension.RuleFailure {
    let text = try self.text(message, what: "message")
    return EntityExtension.RuleFailure(text ?? "is refused by its rule", key: try property(key))
  }

  private func property(_ key: LuaValue) throws -> String? {
    guard let name = try text(key, what: "key"), entity.property(name) == nil else { return key.textValue }
    throw mistake(
      "blames \(name), which is no property of \(entity.name)\(suggestion(for: name, among: entity.properties.map(\.name)))",
      advice: "")
  }

  private func text(_ value: LuaValue, what: String) throws -> String? {
    if case .nil = value { return nil }
    guard let text = value.textValue else { throw mistake("gave \(value.typePhrase) as its \(what)") }
    return text
  }

  private func mistake(_ what: String, advice: String = ": return true, or false and a message") -> ScriptError {
    function.mistake("its rule \(what)\(advice)")
  }
}
