public import MoonbaseModel
import MoonbasePlatform

extension EntityExtension {
  /// Whether an issue prevents its object from being saved.
  public enum Severity: Sendable, Hashable {
    /// The save fails.
    case failure
    /// The object is saved, and the issue is listed in the context's `validationWarnings` and the `warnings` of
    /// `ContextSave`.
    case warning
  }

  /// An issue that a rule found.
  ///
  /// ```swift
  /// person.validate["age"] = { age, person in
  ///   guard case .int(let age) = age, age > 120 else { return nil }
  ///   return .init("of {value} was {old}, and is above {limit}", severity: .warning, values: ["limit": 120])
  /// }
  /// ```
  public struct ValidationIssue: Sendable {
    /// A sentence, or a phrase that follows the attribute's name, for example `is not credible`.
    ///
    /// `{name}` stands for a value: an entry of `values`, else `{value}`, `{old}`, `{key}` or `{entity}`. All remaining
    /// braces are text. If `values` is not empty, an unknown name in braces is an error of the rule.
    public var message: String
    /// The property to blame; nil for the rule's own property.
    public var key: String?
    /// The code of the error, by default `.validation`. A code that ends a script's run is refused.
    public var code: ErrorCode
    /// Whether the issue prevents the object from being saved.
    public var severity: Severity
    /// The values for names in braces.
    public var values: [String: Value]
    /// The file and line of the rule, for errors about its message.
    package var place: String?

    /// Makes an issue, by default a failure.
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
  /// An error in the message of a rule's issue.
  struct RuleMistake: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
  }
}

extension EntityExtension.ValidationIssue {
  /// The message with each name in braces replaced by its value; `usual` finds the built-in names.
  ///
  /// Throws `RuleMistake` for an unknown name, if the issue has values.
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
