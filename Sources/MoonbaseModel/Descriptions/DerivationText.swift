/// Parses and writes derivation expressions in Xcode's form: `name`, `rel.name`, `now()`, `uppercase:(name)`,
/// `items.@count`, `items.price.@sum`.
package enum DerivationText {
  /// The functions over collections, in the notation of predicates.
  private static let collectionFunctions = ["count:", "sum:", "min:", "max:", "average:"]
  /// The functions of texts.
  private static let textFunctions = ["uppercase:", "lowercase:", "canonical:"]

  /// The text of an expression. An expression without a form in Xcode gives its own description.
  ///
  /// For example, `items.@count` for the count of a relationship.
  package static func text(_ expression: Expression) -> String {
    switch expression {
    case .keyPath(.evaluatedObject, let path): path.joined(separator: ".")
    case .function("now", []): "now()"
    case .function(let name, let arguments) where arguments.count == 1 && collectionFunctions.contains(name):
      "\(text(arguments[0])).@\(name.dropLast() == "average" ? "avg" : String(name.dropLast()))"
    case .function(let name, let arguments) where arguments.count == 1 && textFunctions.contains(name):
      "\(name)(\(text(arguments[0])))"
    default: "\(expression)"
    }
  }

  /// The expression of a text; nil for a text of another form.
  ///
  /// Texts of more than 1000 bytes are not parsed.
  package static func expression(_ text: String) -> Expression? {
    guard text.utf8.count <= 1000 else { return nil }
    if text == "now()" { return .function("now", []) }
    for name in textFunctions where text.hasPrefix("\(name)(") && text.hasSuffix(")") {
      return expression(String(text.dropFirst(name.count + 1).dropLast())).map { .function(name, [$0]) }
    }
    var path = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard let last = path.last, path.allSatisfy({ !$0.isEmpty && !$0.contains(where: "(): ".contains) }) else {
      return nil
    }
    guard last.hasPrefix("@") else { return .keyPath(.evaluatedObject, path) }
    path.removeLast()
    let name = last == "@avg" ? "average:" : "\(last.dropFirst()):"
    guard !path.isEmpty, collectionFunctions.contains(name) else { return nil }
    return .function(name, [.keyPath(.evaluatedObject, path)])
  }
}
