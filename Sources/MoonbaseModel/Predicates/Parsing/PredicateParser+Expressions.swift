/// Expressions: arithmetic, key paths, indexes, literals.
extension PredicateParser {
  /// An expression; throws for a condition.
  mutating func parseExpression() throws(ModelError) -> Expression { try expression(from: try parseOperation()) }

  // MARK: Arithmetic

  /// Bitwise operators bind weaker than sums and stronger than comparisons. Among them `<< >>` bind strongest, followed
  /// by `&`, `^` and `|`.
  ///
  /// From the weakest to the strongest:
  ///
  /// ```text
  /// |    ^    &    << >>    + -    * / %%    - ~ (signs)    **    .key [index]
  /// ```
  ///
  /// Operators of the same strength associate to the left, except powers.
  mutating func parseOperation() throws(ModelError) -> Node {
    var length = 0
    return try parseBits(atLeast: 0, length: &length)
  }

  /// `length` counts the operators of all precedences, because they form a single tree.
  private mutating func parseBits(atLeast least: Int, length: inout Int) throws(ModelError) -> Node {
    var left = try parseSum()
    while let (function, strength) = bitOperator, strength >= least {
      try checkChain(length)
      length += 1
      let operand = try expression(from: left)
      try advance()
      let right = try expression(from: try parseBits(atLeast: strength + 1, length: &length))
      left = .expression(.function(function.name, [operand, right]))
    }
    return left
  }

  /// The function and the strength of the current token; nil if it is no bitwise operator.
  private var bitOperator: (function: PredicateFunction, strength: Int)? {
    switch token.kind {
    case .bar: (.bitwiseOr, 0)
    case .caret: (.bitwiseXor, 1)
    case .ampersand: (.bitwiseAnd, 2)
    case .leftShift: (.leftShift, 3)
    case .rightShift: (.rightShift, 3)
    default: nil
    }
  }

  /// Parses sums and differences, which associate to the left.
  private mutating func parseSum() throws(ModelError) -> Node {
    var left = try parseProduct()
    var length = 0
    while token.kind == .plus || token.kind == .minus {
      try checkChain(length)
      length += 1
      let name = token.kind == .plus ? "add:to:" : "from:subtract:"
      let operand = try expression(from: left)
      try advance()
      left = .expression(.function(name, [operand, try expression(from: try parseProduct())]))
    }
    return left
  }

  /// Parses products, quotients and remainders, which associate to the left.
  private mutating func parseProduct() throws(ModelError) -> Node {
    var left = try parseSigned()
    var length = 0
    while let name = productName {
      try checkChain(length)
      length += 1
      let operand = try expression(from: left)
      try advance()
      left = .expression(.function(name, [operand, try expression(from: try parseSigned())]))
    }
    return left
  }

  /// The function of the current token; nil if it is no such operator.
  private var productName: String? {
    switch token.kind {
    case .times: "multiply:by:"
    case .divide: "divide:by:"
    case .modulus: "modulus:by:"
    default: nil
    }
  }

  /// A sign before a number is part of the number. For other operands `-a` is `0 - a`.
  private mutating func parseSigned() throws(ModelError) -> Node {
    if try skip(.tilde) {
      let operand = try nested { parser throws(ModelError) in try parser.expression(from: try parser.parseSigned()) }
      return .expression(.function(PredicateFunction.onesComplement.name, [operand]))
    }
    guard token.kind == .minus || token.kind == .plus else { return try parsePower() }
    let isNegative = token.kind == .minus
    try advance()
    if isNegative, token.kind == .integer || token.kind == .real {
      let number = try parseNumber(isNegative: true)
      guard token.kind == .power else { return try parsePostfix(number) }
      try advance()
      let exponent = try nested { parser throws(ModelError) in try parser.expression(from: try parser.parseSigned()) }
      // -2 ** 2 is -(2 ** 2).
      let power = Expression.function("raise:toPower:", [negated(number), exponent])
      return .expression(.function("from:subtract:", [.constant(0), power]))
    }
    let operand = try nested { parser throws(ModelError) in try parser.expression(from: try parser.parseSigned()) }
    return .expression(isNegative ? .function("from:subtract:", [.constant(0), operand]) : operand)
  }

  /// The negated literal. The least integer has no positive counterpart and becomes a double.
  private func negated(_ number: Expression) -> Expression {
    switch number {
    case .constant(.int(let value)): value == .min ? .constant(.double(-Double(value))) : .constant(.int(-value))
    case .constant(.double(let value)): .constant(.double(-value))
    case .constant(.decimal(let value)): .constant(.decimal(-value))
    default: number
    }
  }

  /// Parses a power, whose exponent may have a sign.
  private mutating func parsePower() throws(ModelError) -> Node {
    let base = try parsePrimary()
    guard token.kind == .power else { return base }
    let operand = try expression(from: base)
    try advance()
    let exponent = try nested { parser throws(ModelError) in try parser.expression(from: try parser.parseSigned()) }
    return .expression(.function("raise:toPower:", [operand, exponent]))
  }

  // MARK: Postfix: key paths and indexes

  /// Parses the keys and indexes behind an expression: `department.name`, `items[FIRST]`.
  mutating func parsePostfix(_ start: Expression) throws(ModelError) -> Node {
    var result = start
    var length = 0
    var keys = 1
    while true {
      switch token.kind {
      case .period:
        try advance()
        try checkPath(keys + 1)
        let components = try parseComponents()
        keys += components.count
        try checkPath(keys)
        result = result.appending(components)
      case .leftBracket:
        try checkChain(length)
        length += 1
        result = .function("objectFrom:withIndex:", [result, try parseIndex()])
      default: return .expression(result)
      }
    }
  }

  /// Parses an index in brackets, whose `[` is the current token.
  private mutating func parseIndex() throws(ModelError) -> Expression {
    try advance()
    let index: Expression
    if case .identifier = token.kind, let position = CollectionPosition(rawValue: text(of: token).uppercased()) {
      index = .function(position.rawValue, [])
      try advance()
    } else {
      index = try nested { parser throws(ModelError) in try parser.parseExpression() }
    }
    try expect(.rightBracket, what: "] behind the index")
    return index
  }

  /// A component after a period; `%K` may stand for several.
  private mutating func parseComponents() throws(ModelError) -> [String] {
    let components: [String]
    switch token.kind {
    case .identifier, .keyword, .keyPathOperator: components = [text(of: token)]
    case .escapedIdentifier: components = [try escapedName(token)]
    case .placeholder: components = try keyArgument()
    default: throw unexpected("expected a key behind the period")
    }
    try advance()
    return components
  }

  /// The name of an escaped key, without `#` and quotes.
  func escapedName(_ token: PredicateToken) throws(ModelError) -> String {
    let next = lexer.bytes[token.start + 1]
    guard next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") else { return String(text(of: token).dropFirst()) }
    let name = try string(token.start + 1, token.end)
    if name.isEmpty { throw failure("a key cannot be empty") }
    return name
  }

  // MARK: Primary

  /// Parses a literal, a key, a call, a variable, a list or a parenthesis.
  private mutating func parsePrimary() throws(ModelError) -> Node {
    let start = token
    switch start.kind {
    case .integer, .real: return try parsePostfix(try parseNumber(isNegative: false))
    case .string:
      let value = try string(start.start, start.end)
      return try literal(.constant(.string(value)))
    case .identifier:
      if lexer.peekByte() == UInt8(ascii: "(") { return try parsePostfix(try parseCall()) }
      return try literal(.keyPath(.evaluatedObject, [text(of: start)]))
    case .selector: return try parsePostfix(try parseCall())
    case .escapedIdentifier: return try literal(.keyPath(.evaluatedObject, [try escapedName(start)]))
    case .keyPathOperator: return try literal(.keyPath(.evaluatedObject, [text(of: start)]))
    case .variable: return try parseVariable()
    case .placeholder: return try parseArgument()
    case .keyword(let keyword): return try parseKeyword(keyword)
    case .leftBrace: return try parsePostfix(try parseAggregate())
    case .leftParenthesis: return try parseParenthesis()
    default: throw unexpected("expected a value, a key path or a function", hint: patternHint)
    }
  }

  /// Consumes the token of a literal, and parses what follows.
  private mutating func literal(_ expression: Expression) throws(ModelError) -> Node {
    try advance()
    return try parsePostfix(expression)
  }

  /// Parses an expression that begins with a keyword. Throws for other keywords, with the advice to
  /// write `#`.
  private mutating func parseKeyword(_ keyword: PredicateKeyword) throws(ModelError) -> Node {
    switch keyword {
    case .null: return try literal(.constant(.null))
    case .true: return try literal(.constant(.bool(true)))
    case .false: return try literal(.constant(.bool(false)))
    case .self: return try literal(.evaluatedObject)
    case .anyKey: return try literal(.anyKey)
    case .subquery, .ternary, .cast, .function:
      guard lexer.peekByte() == UInt8(ascii: "(") else {
        return try literal(.keyPath(.evaluatedObject, [text(of: token)]))
      }
      return try parsePostfix(try parseSpecialCall(keyword))
    case .truePredicate, .falsePredicate, .not, .any, .all, .none:
      throw unexpected("expected an expression and no condition")
    default:
      throw failure(
        "expected a value or a key path, but \(text(of: token)) is a reserved word; write #\(text(of: token)) for a key"
      )
    }
  }

  /// Parses a variable, or an assignment to it.
  private mutating func parseVariable() throws(ModelError) -> Node {
    let name = String(text(of: token).dropFirst())
    try advance()
    guard token.kind == .assign else { return try parsePostfix(.variable(name)) }
    try advance()
    return .expression(
      .assignment(name, try nested { parser throws(ModelError) in try parser.parseExpression() }))
  }

  /// Parses a list in braces.
  private mutating func parseAggregate() throws(ModelError) -> Expression {
    try advance()
    let elements = try parseList(until: .rightBrace, what: "} or a comma")
    return .aggregate(elements)
  }

  /// Expressions separated by commas, up to the closing token.
  mutating func parseList(until end: PredicateToken.Kind, what: String) throws(ModelError) -> [Expression] {
    if try skip(end) { return [] }
    var elements: [Expression] = []
    repeat {
      elements.append(try nested { parser throws(ModelError) in try parser.parseExpression() })
    } while try skip(.comma)
    try expect(end, what: what)
    return elements
  }

  /// Parses a parenthesis: a condition, an expression, or a list as in SQL.
  private mutating func parseParenthesis() throws(ModelError) -> Node {
    try advance()
    let inner = try nested { parser throws(ModelError) in try parser.parseNode() }
    if token.kind == .comma {
      // (1, 2), SQL's form of a list.
      let first = try expression(from: inner)
      try advance()
      return .expression(.aggregate([first] + (try parseList(until: .rightParenthesis, what: ") or a comma"))))
    }
    try expect(.rightParenthesis, what: "), AND or OR")
    guard case .expression(let expression) = inner else { return inner }
    return try parsePostfix(expression)
  }
}
