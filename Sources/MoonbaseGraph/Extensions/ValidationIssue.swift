public import MoonbaseModel
import MoonbasePlatform

extension EntityExtension {
  /// Whether what a rule found keeps an object from being saved.
  public enum Severity: Sendable, Hashable {
    /// The save fails.
    case failure
    /// The object is saved, and the program is told: `validationWarnings` of its context, `warnings` of a `ContextSave`.
    case warning
  }

  /// What a rule found wrong.
  ///
  /// ```swift
  /// person.validate["age"] = { age, person in
  ///   guard case .int(let age) = age, age > 120 else { return nil }
  ///   return .init("of {value} was {old}, and is above {limit}", severity: .warning, values: ["limit": 120])
  /// }
  /// ```
  public struct ValidationIssue: Sendable {
    /// A sentence or a phrase that follows the attribute's name, for example `is not credible`.
    ///
    /// `{name}` in it stands for a value: one of `values`, else `{value}`, `{old}`, `{key}` or `{entity}`. Other braces stay as they
    /// are; where there are `values`, a name in braces that nothing has is an error of the rule.
    public var message: String
    /// The property to blame, if it is not the rule's own.
    public var key: String?
    /// The number of the error; `.validation` unless said otherwise. One that ends a script's run is refused.
    public var code: ErrorCode
    /// Whether it keeps the object from being saved.
    public var severity: Severity
    /// What names in braces stand for.
    public var values: [String: Value]
    /// Where the rule is, for mistakes of its message.
    package var place: String?

    /// Makes a failure, or a warning.
    public init(
      _ message: String, key: String? = nil, code: ErrorCode = .validation, severity: Severity = .failure,
      values: [String: Value] = [:]
    ) {
      self.message = message
      self.key = key
      self.code = code
      self.severity = severity
      self.values = values
    }
  }
}

extension EntityExtension {
  /// What is wrong with an answer of a rule.
  struct RuleMistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
}

extension EntityExtension.ValidationIssue {
  /// The message with values in the place of names in braces.
  func filledMessage(_ usual: (String) -> Value?) throws -> String {
    guard message.utf8.contains(UInt8(ascii: "{")) else { return message }
    var result = ""
    var rest = message[...]
    while let open = rest.firstIndex(of: "{") {
      result += rest[..<open]
      let after = rest.index(after: open)
      guard let close = rest[after...].firstIndex(where: { !$0.isLetter && !$0.isNumber && $0 != "_" }),
        rest[close] == "}", close > after
      else {
        result.append("{")
        rest = rest[after...]
        continue
      }
      let name = String(rest[after..<close])
      if let value = values[name] ?? usual(name) {
        result += value.beginning ?? value.description
      } else if values.isEmpty {
        result += rest[open...close]
      } else {
        throw EntityExtension.RuleMistake(
          (place.map { "\($0): " } ?? "") + "the rule's message names {\(name.asName)}, which is none of its values"
            + suggestion(for: name, among: Array(values.keys) + ["value", "old", "key", "entity"]))
      }
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}
