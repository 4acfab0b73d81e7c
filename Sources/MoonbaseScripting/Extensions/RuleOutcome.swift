import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform

/// Parses the result of a rule: `true`; or `false` or `nil` with `message[, key]` or `{ message, key = ..., code = ...,
/// severity = "warning", values = { ... } }`.
///
/// A parser for one rule, with the entity for checks of `key` and the translations for messages. A malformed result
/// throws `.invalidRequest` with the place of the function.
struct RuleOutcome {
  /// The rule, for places in messages.
  private let function: LuaFunction
  /// The entity of the object, whose properties `key` may name.
  private let entity: ResolvedEntity
  /// The messages in the user's language, by the original text.
  private let translations: [String: String]

  init(_ function: LuaFunction, entity: ResolvedEntity, translations: [String: String] = [:]) {
    self.function = function
    self.entity = entity
    self.translations = translations
  }

  /// The issue of a rule's result; nil if the value is valid.
  func failure(_ result: borrowing LuaResult, in domain: ScriptDomain) throws -> EntityExtension.ValidationIssue? {
    if result.boolean == true { return nil }
    if result.isMissing { throw mistake("returned nothing") }
    guard result.isNil || result.boolean == false else { throw mistake("returned \(try result.value.typePhrase)") }
    return try failure(message: result.further(1), key: result.further(2), in: domain)
  }

  /// The fields of a table with a message, besides the message itself.
  private static let fields: Set = ["key", "code", "severity", "values"]

  /// The issue of a message as text, as a fault of `moonbase.fault`, or as a table with fields.
  private func failure(
    message: LuaValue, key: LuaValue, in domain: ScriptDomain
  ) throws -> EntityExtension.ValidationIssue {
    guard case .table(let table) = message else { return try failure(text: message, key: key) }
    if let reason = try message.reason { return try failure(text: .text(reason), key: key) }
    for (name, _) in try table.pairs where name.integerValue != 1 && !Self.fields.contains(name.textValue ?? "") {
      throw mistake("gave a table with \(name): it holds a message and perhaps key, code, severity and values")
    }
    var failure = try failure(text: table.get(1), key: table.get("key"))
    if let code = try code(table.get("code")) { failure.code = code }
    failure.severity = try severity(table.get("severity"))
    failure.values = try values(table.get("values"), in: domain)
    return failure
  }

  /// The field `code`: a whole number; nil without one.
  private func code(_ value: LuaValue) throws -> ErrorCode? {
    if case .nil = value { return nil }
    guard let number = value.integerValue, let code = Int(exactly: number) else {
      throw mistake("gave \(value.typePhrase) as its code", advice: ": a code is a whole number")
    }
    return ErrorCode(rawValue: code)
  }

  /// The field `severity`; a failure without one.
  private func severity(_ value: LuaValue) throws -> EntityExtension.Severity {
    switch try text(value, what: "severity") {
    case nil, "failure": return .failure
    case "warning": return .warning
    case let other?:
      let hint = suggestion(for: other, among: ["failure", "warning"])
      throw mistake("gave \"\(other.asName)\" as its severity, which is \"failure\" or \"warning\"\(hint)", advice: "")
    }
  }

  /// The field `values`: values for placeholders in the message, such as `{limit}`.
  private func values(_ value: LuaValue, in domain: ScriptDomain) throws -> [String: Value] {
    if case .nil = value { return [:] }
    guard case .table(let table) = value else {
      throw mistake("gave \(value.typePhrase) as its values", advice: ": values are a table of names and values")
    }
    var result: [String: Value] = [:]
    for (name, value) in try table.pairs {
      guard let name = name.textValue else {
        throw mistake("gave values with \(name.typePhrase) as a name", advice: ": names are strings")
      }
      result[name] = try function.checking("wrong value \(name.asName) of its message") {
        try domain.graphValue(from: value)
      }
    }
    return result
  }

  /// The issue of a text, translated and shortened. Without a text the message says that the value is refused.
  private func failure(text message: LuaValue, key: LuaValue) throws -> EntityExtension.ValidationIssue {
    let text = try self.text(message, what: "message")
    let told = text.map { TextLimits.reason(translations[$0] ?? $0) }
    var failure = EntityExtension.ValidationIssue(told ?? "is refused by its rule", key: try property(key))
    failure.place = function.place
    return failure
  }

  /// The property that the rule blames. Throws for a name that the entity lacks, with a suggestion.
  private func property(_ key: LuaValue) throws -> String? {
    guard let name = try text(key, what: "key"), entity.property(name) == nil else { return key.textValue }
    throw mistake(
      "blames \(name), which is no property of \(entity.name)\(suggestion(for: name, among: entity.allProperties.map(\.name)))",
      advice: "")
  }

  /// A text; nil for nil. Throws for other values.
  private func text(_ value: LuaValue, what: String) throws -> String? {
    if case .nil = value { return nil }
    guard let text = value.textValue else { throw mistake("gave \(value.typePhrase) as its \(what)") }
    return text
  }

  /// The error of a wrong result.
  private func mistake(_ what: String, advice: String = ": return true, or false and a message") -> ScriptError {
    function.mistake("its rule \(what)\(advice)")
  }
}
