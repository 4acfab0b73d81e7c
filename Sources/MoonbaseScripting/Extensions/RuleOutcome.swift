import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Reads what a rule returned: `true`; or `false` or `nil` with `message[, key]` or `{ message, key = ... }`.
struct RuleOutcome {
  private let function: LuaFunction
  private let entity: ResolvedEntity

  init(_ function: LuaFunction, entity: ResolvedEntity) {
    self.function = function
    self.entity = entity
  }

  func failure(_ result: borrowing LuaResult) throws -> EntityExtension.RuleFailure? {
    if result.boolean == true { return nil }
    if result.isMissing { throw mistake("returned nothing") }
    guard result.isNil || result.boolean == false else { throw mistake("returned \(try result.value.typePhrase)") }
    return try failure(message: result.further(1), key: result.further(2))
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
