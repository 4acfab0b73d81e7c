import MoonbasePlatform

/// Function calls: predefined functions, and language forms with the syntax of a call.
extension PredicateParser {
  /// `name(a, b)`, `name:(a)`, `add:to:(a, b)`.
  ///
  /// Throws for an unknown function, and for another number of arguments.
  mutating func parseCall() throws(ModelError) -> Expression {
    let start = token
    let name = text(of: start)
    try advance()
    try expect(.leftParenthesis, what: "( behind the function's name")
    let arguments = try parseList(until: .rightParenthesis, what: ") or a comma")
    guard let function = PredicateFunction.find(name, arguments: arguments.count) else {
      throw lexer.error(unknown(name, arguments: arguments.count), at: start.start)
    }
    if function.takesCollection, arguments.count != 1 { return .function(function.name, [.aggregate(arguments)]) }
    if function == .cast { return cast(arguments) }
    return .function(function.name, arguments)
  }

  /// The message about an unknown function, with a suggestion.
  private func unknown(_ name: String, arguments count: Int) -> String {
    if let named = PredicateFunction.named(name) {
      return "\(named.name) takes \(named.arguments), but \(count) \(count == 1 ? "was" : "were") given"
    }
    if let method = PredicateFunction.method(name) {
      return "there is no function \(name); write FUNCTION(\(method.example))"
    }
    if name.lowercased().hasPrefix("distancetolocation") {
      return "there are no locations here, so \(name) has no meaning; compute with the coordinates"
    }
    let shortNames = PredicateFunction.allCases.filter { !$0.isPosition }.map(\.shortName)
    let advice = nearestName(to: name, among: shortNames).map { "; did you mean \($0)?" } ?? ""
    return "there is no function \(name)\(advice)"
  }

  /// Parses `SUBQUERY`, `TERNARY`, `CAST` or `FUNCTION`, whose name is the current token.
  mutating func parseSpecialCall(_ keyword: PredicateKeyword) throws(ModelError) -> Expression {
    let start = token
    try advance()
    try expect(.leftParenthesis, what: "(")
    switch keyword {
    case .subquery: return try parseSubquery()
    case .ternary: return try parseTernary()
    case .cast:
      let arguments = try parseList(until: .rightParenthesis, what: ") or a comma")
      guard arguments.count == 2 else {
        throw lexer.error("CAST takes a value and a type's name, for example CAST(x, \"NSNumber\")", at: start.start)
      }
      return try checkedCast(arguments, at: start)
    default: return try parseMethod(at: start)
    }
  }

  /// Parses the rest of `SUBQUERY(collection, $x, condition)`.
  private mutating func parseSubquery() throws(ModelError) -> Expression {
    let collection = try nested { parser throws(ModelError) in try parser.parseExpression() }
    try expect(.comma, what: "a comma and the variable")
    guard token.kind == .variable else { throw unexpected("expected a variable such as $x") }
    let name = String(text(of: token).dropFirst())
    try advance()
    try expect(.comma, what: "a comma and the condition")
    let condition = try nested { parser throws(ModelError) in try parser.predicate(from: try parser.parseNode()) }
    try expect(.rightParenthesis, what: ") behind the subquery")
    return .subquery(collection, variable: name, condition)
  }

  /// Parses the rest of `TERNARY(condition, then, otherwise)`.
  private mutating func parseTernary() throws(ModelError) -> Expression {
    let condition = try nested { parser throws(ModelError) in try parser.predicate(from: try parser.parseNode()) }
    try expect(.comma, what: "a comma and the value for true")
    let then = try nested { parser throws(ModelError) in try parser.parseExpression() }
    try expect(.comma, what: "a comma and the value for false")
    let otherwise = try nested { parser throws(ModelError) in try parser.parseExpression() }
    try expect(.rightParenthesis, what: ") behind the ternary")
    return .conditional(condition, then, otherwise)
  }

  // MARK: CAST

  /// Throws if the second argument names no type.
  private func checkedCast(_ arguments: [Expression], at start: PredicateToken) throws(ModelError) -> Expression {
    if case .constant(.string(let type)) = arguments[1], CastType(name: type) == nil {
      let known = CastType.allCases.map(\.rawValue).joined(separator: ", ")
      throw lexer.error("there is no type \(type) to cast to; there are \(known)", at: start.start)
    }
    return cast(arguments)
  }

  /// A cast of a literal becomes a constant, because dates, decimals, UUIDs and bytes have no other literals.
  private func cast(_ arguments: [Expression]) -> Expression {
    if case .constant(let value) = arguments[0], case .constant(.string(let name)) = arguments[1],
      let type = CastType(name: name), let result = type.literal(value)
    {
      return .constant(result)
    }
    return .function(PredicateFunction.cast.name, arguments)
  }

  // MARK: FUNCTION

  /// `FUNCTION(target, "selector:", arguments...)`, for the selectors that apply to values.
  private mutating func parseMethod(at start: PredicateToken) throws(ModelError) -> Expression {
    let arguments = try parseList(until: .rightParenthesis, what: ") or a comma")
    guard arguments.count >= 2, case .constant(.string(let selector)) = arguments[1] else {
      throw lexer.error(
        "FUNCTION takes a target and a selector's name, for example FUNCTION(name, \"length\")", at: start.start)
    }
    let operands = [arguments[0]] + arguments[2...]
    let function = PredicateFunction(selector: selector)
    guard let function, function.argumentCount == operands.count, !function.isPosition else {
      let known = PredicateFunction.allCases.filter(\.isMethod).map(\.rawValue).joined(separator: ", ")
      throw lexer.error(
        "FUNCTION cannot call \(selector) with \(operands.count - 1) arguments; it knows \(known) and the predefined "
          + "functions", at: start.start)
    }
    return .function(function.name, operands)
  }
}
