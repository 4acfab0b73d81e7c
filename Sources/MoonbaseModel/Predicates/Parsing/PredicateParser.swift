import MoonbasePlatform

/// Parses predicate and expression text by recursive descent.
///
/// A parenthesis may open a condition or an expression, and only the following text decides. So the functions return a
/// `Node`, which is either, and each operator requires the kind that it accepts. No text is parsed twice.
///
/// The parser is made for one text and used once. Errors are `.invalidPredicate` with the column
/// and the expected text. Parsing is linear in the length of the text, and charged to a running
/// script.
struct PredicateParser: ~Copyable {
  /// A condition or an expression, before it is known which is needed.
  enum Node {
    /// An expression.
    case expression(Expression)
    /// A condition.
    case predicate(Predicate)
  }

  /// The deepest nesting allowed, so that no later recursion over the tree exhausts the stack.
  static let greatestDepth = 200
  /// The most operators in a row without parentheses, because such a chain nests to the left.
  static let greatestChain = 500
  /// The memory charged for a token, in addition to its bytes.
  private static let tokenBytes = 64
  /// The number of tokens charged together.
  private static let countingStride = 64

  /// The source of tokens.
  var lexer: PredicateLexer
  /// The current token.
  var token: PredicateToken
  /// The arguments of the placeholders.
  let arguments: [Value]
  /// The number of arguments used so far.
  var usedArguments = 0
  /// The depth of nesting.
  private var depth = 0
  /// The memory charged for tokens and arguments.
  private var memory = HostMemory()
  /// The number of tokens not yet charged, and the position up to which the text is charged.
  private var uncounted = 0
  /// The position in bytes.
  private var counted = 0

  /// A parser at the first token.
  init(_ text: String, arguments: [Value]) throws(ModelError) {
    lexer = PredicateLexer(text)
    self.arguments = arguments
    token = PredicateToken(kind: .end, start: 0, end: 0)
    try memory.holdForModel(lexer.bytes.count)
    try advance()
  }

  /// Parses a whole text as a condition.
  static func predicate(_ text: String, arguments: [Value]) throws(ModelError) -> Predicate {
    var parser = try PredicateParser(text, arguments: arguments)
    if parser.token.kind == .end { throw parser.failure("expected a condition, but the text is empty") }
    let predicate = try parser.predicate(from: try parser.parseNode())
    try parser.finish()
    return predicate
  }

  /// Parses a whole text as an expression.
  static func expression(_ text: String, arguments: [Value]) throws(ModelError) -> Expression {
    var parser = try PredicateParser(text, arguments: arguments)
    if parser.token.kind == .end { throw parser.failure("expected an expression, but the text is empty") }
    let expression = try parser.parseExpression()
    try parser.finish()
    return expression
  }

  /// Throws if tokens or arguments are left.
  private mutating func finish() throws(ModelError) {
    try count()
    guard token.kind == .end else { throw unexpected("expected AND, OR or the end", hint: wordsHint) }
    guard usedArguments == arguments.count else {
      let given = arguments.count == 1 ? "1 argument was" : "\(arguments.count) arguments were"
      let places =
        usedArguments == 0 ? "no placeholder" : usedArguments == 1 ? "1 placeholder" : "\(usedArguments) placeholders"
      throw failure("\(given) given, but the text has \(places)")
    }
  }

  // MARK: Tokens

  /// Proceeds to the next token.
  @inline(__always)
  mutating func advance() throws(ModelError) {
    token = try lexer.next()
    uncounted &+= 1
    if uncounted == Self.countingStride { try count() }
  }

  /// Charges the tokens since the last call.
  private mutating func count() throws(ModelError) {
    let (tokens, length) = (uncounted, token.end - counted)
    (uncounted, counted) = (0, token.end)
    try ModelError.charge(tokens + length >> 4)
    try memory.holdForModel(tokens * Self.tokenBytes + length)
  }

  /// Charges an argument that enters the tree. A list is charged by its elements.
  mutating func charge(_ argument: Value) throws(ModelError) {
    let bytes = 4 * argument.weight
    try ModelError.charge(bytes >> 6)
    try memory.holdForModel(bytes)
  }

  /// Consumes the next token if it has this kind.
  @inline(__always)
  mutating func skip(_ kind: PredicateToken.Kind) throws(ModelError) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  /// Consumes a token of this kind, or throws. `what` names the expected text.
  mutating func expect(_ kind: PredicateToken.Kind, what: String) throws(ModelError) {
    guard try skip(kind) else { throw unexpected("expected \(what)") }
  }

  /// The text of a token.
  func text(of token: PredicateToken) -> String {
    String(decoding: lexer.bytes[token.start..<token.end], as: UTF8.self)
  }

  // MARK: Depth

  /// Runs a body one level deeper. Throws beyond `greatestDepth`.
  mutating func nested<Result>(
    _ body: (inout Self) throws(ModelError) -> Result
  ) throws(ModelError) -> Result {
    depth += 1
    guard depth <= Self.greatestDepth else {
      throw failure("the predicate is nested more than \(Self.greatestDepth) levels deep; split it")
    }
    let result = try body(&self)
    depth -= 1
    return result
  }

  /// A chain of operators makes a tree of that depth. Nested chains must be shorter, so that the total depth stays far
  /// below the limit of recursion.
  func checkChain(_ length: Int) throws(ModelError) {
    let greatest = depth == 0 ? Self.greatestChain : max(4, 200 / (depth + 1))
    guard length < greatest else { throw failure("more than \(greatest) operators in a row; split the expression") }
  }

  /// Throws for a key path with too many keys.
  func checkPath(_ length: Int) throws(ModelError) {
    guard length <= PredicateLimits.greatestPathLength else {
      throw failure("the key path has more than \(PredicateLimits.greatestPathLength) keys; no store can follow it")
    }
  }

  // MARK: Errors

  /// An error at the current token.
  func failure(_ problem: String) -> ModelError { lexer.error(problem, at: token.start) }

  /// An error about the current token.
  func unexpected(_ expectation: String, hint: String = "") -> ModelError {
    token.kind == .end
      ? failure("\(expectation), but the text ends here\(hint)")
      : failure("\(expectation), but found \(text(of: token))\(hint)")
  }

  /// Adjacent words, as in `name == Ann Bo`, are usually a text without quotes.
  private var wordsHint: String {
    guard token.kind == .identifier, let last = lastByte, (0x61...0x7a).contains(last | 0x20) else { return "" }
    return "; a text stands in quotes"
  }

  /// An unquoted pattern, as in `name LIKE Ann*`, ends with an operator.
  var patternHint: String {
    token.kind == .end && lastByte == UInt8(ascii: "*") ? "; a pattern stands in quotes" : ""
  }

  /// The last byte before the current token, spaces excepted.
  private var lastByte: UInt8? { lexer.bytes[..<token.start].last { $0 != UInt8(ascii: " ") } }

  // MARK: Kinds

  // Mutating although neither function mutates: a mutating method's receiver is accessed after its argument was parsed,
  // so that it sees the following token.

  /// The condition of a node. Throws for an expression, with advice.
  mutating func predicate(from node: Node) throws(ModelError) -> Predicate {
    switch node {
    case .predicate(let predicate): return predicate
    case .expression(let expression):
      guard token.kind == .end || token.kind == .rightParenthesis, case .keyPath = expression else {
        throw unexpected("expected a comparison such as =, <, CONTAINS or IN")
      }
      throw unexpected("expected a comparison, for example \(expression) == TRUE")
    }
  }

  /// The expression of a node. Throws for a condition.
  mutating func expression(from node: Node) throws(ModelError) -> Expression {
    switch node {
    case .expression(let expression): return expression
    case .predicate:
      throw unexpected("expected an expression, not a condition (TERNARY makes a value of one)")
    }
  }
}
