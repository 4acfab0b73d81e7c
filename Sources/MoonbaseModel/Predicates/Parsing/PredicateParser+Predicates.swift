/// Conditions: OR, AND, NOT and comparisons, in order of precedence.
extension PredicateParser {
  /// A condition or an expression.
  ///
  /// From the weakest to the strongest: `OR`, `AND`, `NOT`, comparisons. So `a OR NOT b AND c = 1`
  /// means `a OR ((NOT b) AND (c = 1))`.
  mutating func parseNode() throws(ModelError) -> Node {
    let first = try parseConjunction()
    guard isOr else { return first }
    var parts = [try predicate(from: first)]
    while isOr {
      try advance()
      parts.append(try predicate(from: try parseConjunction()))
    }
    return .predicate(.or(parts))
  }

  /// Whether the token is `OR` or `||`.
  private var isOr: Bool { token.kind == .keyword(.or) || token.kind == .orSign }
  /// Whether the token is `AND` or `&&`.
  private var isAnd: Bool { token.kind == .keyword(.and) || token.kind == .andSign }

  /// Parses conditions joined by `AND`.
  private mutating func parseConjunction() throws(ModelError) -> Node {
    let first = try parseNegation()
    guard isAnd else { return first }
    var parts = [try predicate(from: first)]
    while isAnd {
      try advance()
      parts.append(try predicate(from: try parseNegation()))
    }
    return .predicate(.and(parts))
  }

  /// Parses a condition with any number of `NOT` before it.
  private mutating func parseNegation() throws(ModelError) -> Node {
    guard token.kind == .keyword(.not) || token.kind == .bang else { return try parseComparison() }
    try advance()
    let inner = try nested { parser throws(ModelError) in
      try parser.predicate(from: try parser.parseNegation())
    }
    return .predicate(.not(inner))
  }

  // MARK: Comparisons

  /// Parses a comparison, a quantified comparison, or an expression alone.
  private mutating func parseComparison() throws(ModelError) -> Node {
    switch token.kind {
    case .keyword(.truePredicate):
      try advance()
      return .predicate(.constant(true))
    case .keyword(.falsePredicate):
      try advance()
      return .predicate(.constant(false))
    case .keyword(.any): return .predicate(try parseQuantified(.any))
    case .keyword(.all): return .predicate(try parseQuantified(.all))
    case .keyword(.none): return .predicate(.not(try parseQuantified(.any)))
    default: break
    }
    let left = try parseOperation()
    guard case .expression(let expression) = left else { return left }
    guard let found = try parseOperator() else { return left }
    return .predicate(try parseRight(expression, found: found, modifier: .direct))
  }

  /// Parses the comparison behind `ANY`, `ALL` or `NONE`.
  private mutating func parseQuantified(_ modifier: Predicate.Comparison.Modifier) throws(ModelError) -> Predicate {
    try advance()
    let left = try expression(from: try parseOperation())
    guard let found = try parseOperator() else {
      throw unexpected("expected a comparison such as =, <, CONTAINS or IN")
    }
    return try parseRight(left, found: found, modifier: modifier)
  }

  /// Parses the right side of a comparison, and makes the predicate.
  private mutating func parseRight(
    _ left: Expression, found: FoundOperator, modifier: Predicate.Comparison.Modifier
  ) throws(ModelError) -> Predicate {
    let start = token
    let right = try expression(from: try parseOperation())
    if found.operator == .between { try checkRange(right, at: start) }
    if isComparison { throw unexpected("comparisons cannot be chained; expected AND, OR or the end") }
    let comparison = Predicate.comparison(
      .init(left, found.operator, right, modifier: modifier, options: found.options))
    return found.isNegated ? .not(comparison) : comparison
  }

  /// Whether the token is an operator of a comparison.
  private var isComparison: Bool {
    switch token.kind {
    case .compare, .keyword(.in), .keyword(.between), .keyword(.contains), .keyword(.beginsWith), .keyword(.endsWith),
      .keyword(.like), .keyword(.matches):
      true
    default: false
    }
  }

  /// Throws if the right side of `BETWEEN` cannot be a range.
  private func checkRange(_ range: Expression, at start: PredicateToken) throws(ModelError) {
    let isRange =
      switch range {
      case .aggregate(let bounds): bounds.count == 2
      case .constant(.list(let bounds)): bounds.count == 2
      case .constant: false
      default: true
      }
    guard !range.holdsList else { throw lexer.error("a bound of BETWEEN is one value and no list", at: start.start) }
    if !isRange { throw lexer.error("BETWEEN expects two bounds, for example {1, 10}", at: start.start) }
  }

  // MARK: Operators

  /// An operator of a comparison, as it was parsed.
  struct FoundOperator {
    /// The operator.
    var `operator`: Predicate.Comparison.Operator
    /// The options in brackets.
    var options: Predicate.Comparison.Options = []
    /// Whether the operator is negated, as in `NOT IN`.
    var isNegated = false
  }

  /// Parses an operator with its options; nil if the token is none.
  private mutating func parseOperator() throws(ModelError) -> FoundOperator? {
    var found: FoundOperator
    switch token.kind {
    case .compare(let sign): found = FoundOperator(operator: sign)
    case .keyword(.in): found = FoundOperator(operator: .in)
    case .keyword(.between): found = FoundOperator(operator: .between)
    case .keyword(.contains): found = FoundOperator(operator: .contains)
    case .keyword(.beginsWith): found = FoundOperator(operator: .beginsWith)
    case .keyword(.endsWith): found = FoundOperator(operator: .endsWith)
    case .keyword(.like): found = FoundOperator(operator: .like)
    case .keyword(.matches): found = FoundOperator(operator: .matches)
    case .keyword(.not):
      try advance()
      guard case .keyword = token.kind, let inner = try parseOperator() else {
        throw unexpected("expected IN, LIKE, CONTAINS or another operator behind NOT")
      }
      found = inner
      found.isNegated.toggle()
      return found
    case .identifier where text(of: token).uppercased() == "UTI":
      throw failure("UTI-CONFORMS-TO and UTI-EQUALS are not known here; compare with = or IN")
    case .identifier where ["IS", "ILIKE", "STARTSWITH", "REGEXP", "GLOB"].contains(text(of: token).uppercased()):
      throw unexpected("expected a comparison; write = NULL, LIKE[c], BEGINSWITH or MATCHES")
    default: return nil
    }
    try advance()
    if token.kind == .leftBracket { found.options = try parseOptions(of: found.operator) }
    return found
  }

  /// Parses options such as `[cd]`. Throws for unknown letters.
  private mutating func parseOptions(
    of operator: Predicate.Comparison.Operator
  ) throws(ModelError) -> Predicate.Comparison.Options {
    guard `operator` != .between else { throw unexpected("BETWEEN takes no options") }
    try advance()
    guard token.kind == .identifier else { throw unexpected("expected options such as [c] or [cd]") }
    var options: Predicate.Comparison.Options = []
    for letter in text(of: token).lowercased() {
      switch letter {
      case "c": options.insert(.caseInsensitive)
      case "d": options.insert(.diacriticInsensitive)
      case "n": options.insert(.normalized)
      case "l": options.insert(.localeSensitive)
      default: throw failure("there is no option [\(letter)]; the options are c, d, n and l")
      }
    }
    try advance()
    try expect(.rightBracket, what: "] behind the options")
    return options
  }
}
