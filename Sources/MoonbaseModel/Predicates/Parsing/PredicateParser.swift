import MoonbasePlatform

/// Reads predicate and expression text by recursive descent.
///
/// A parenthesis may open a condition or an expression and only what follows tells which, so the levels return a `Node` that
/// is one or the other; each operator asks for the kind it needs. Nothing is ever read twice.
struct PredicateParser: ~Copyable {
  enum Node {
    case expression(Expression)
    case predicate(Predicate)
  }

  /// Trees deeper than this are refused, so that no later walk over a tree can run out of stack.
  static let greatestDepth = 200
  /// Operators in a row without parentheses nest to the left as deeply.
  static let greatestChain = 500
  /// What a token makes in the tree takes, beside its own bytes.
  private static let tokenBytes = 64
  /// So many tokens are counted together.
  private static let countingStride = 64

  var lexer: PredicateLexer
  var token: PredicateToken
  let arguments: [Value]
  var usedArguments = 0
  private var depth = 0
  private var memory = HostMemory()
  /// Tokens that are not counted yet, and the place in the text up to which they are.
  private var uncounted = 0
  private var counted = 0

  init(_ text: String, arguments: [Value]) throws(ModelError) {
    lexer = PredicateLexer(text)
    self.arguments = arguments
    token = PredicateToken(kind: .end, start: 0, end: 0)
    try memory.holdForModel(lexer.bytes.count)
    try advance()
  }

  static func predicate(_ text: String, arguments: [Value]) throws(ModelError) -> Predicate {
    var parser = try PredicateParser(text, arguments: arguments)
    if parser.token.kind == .end { throw parser.failure("expected a condition, but the text is empty") }
    let predicate = try parser.predicate(from: try parser.parseNode())
    try parser.finish()
    return predicate
  }

  static func expression(_ text: String, arguments: [Value]) throws(ModelError) -> Expression {
    var parser = try PredicateParser(text, arguments: arguments)
    if parser.token.kind == .end { throw parser.failure("expected an expression, but the text is empty") }
    let expression = try parser.parseExpression()
    try parser.finish()
    return expression
  }

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

  @inline(__always)
  mutating func advance() throws(ModelError) {
    token = try lexer.next()
    uncounted &+= 1
    if uncounted == Self.countingStride { try count() }
  }

  /// Counts the tokens that came since it was called last.
  private mutating func count() throws(ModelError) {
    let (tokens, length) = (uncounted, token.end - counted)
    (uncounted, counted) = (0, token.end)
    try ModelError.charge(tokens + length >> 4)
    try memory.holdForModel(tokens * Self.tokenBytes + length)
  }

  /// Counts an argument that comes into the tree: a list does so element by element.
  mutating func take(_ argument: Value) throws(ModelError) {
    let bytes = 4 * argument.weight
    try ModelError.charge(bytes >> 6)
    try memory.holdForModel(bytes)
  }

  /// Consumes a token of this kind, if it is next.
  @inline(__always)
  mutating func skip(_ kind: PredicateToken.Kind) throws(ModelError) -> Bool {
    guard token.kind == kind else { return false }
    try advance()
    return true
  }

  mutating func expect(_ kind: PredicateToken.Kind, what: String) throws(ModelError) {
    guard try skip(kind) else { throw unexpected("expected \(what)") }
  }

  func text(of token: PredicateToken) -> String {
    String(decoding: lexer.bytes[token.start..<token.end], as: UTF8.self)
  }

  // MARK: Depth

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

  /// Operators in a row make a tree as deep as they are many, so that inside of others there can be fewer: all together stay
  /// far below what recursion can walk.
  func checkChain(_ length: Int) throws(ModelError) {
    let greatest = depth == 0 ? Self.greatestChain : max(4, 200 / (depth + 1))
    guard length < greatest else { throw failure("more than \(greatest) operators in a row; split the expression") }
  }

  func checkPath(_ length: Int) throws(ModelError) {
    guard length <= PredicateLimits.greatestPathLength else {
      throw failure("the key path has more than \(PredicateLimits.greatestPathLength) keys; no store can follow it")
    }
  }

  // MARK: Errors

  func failure(_ problem: String) -> ModelError { lexer.error(problem, at: token.start) }

  /// An error about the current token.
  func unexpected(_ expectation: String, hint: String = "") -> ModelError {
    token.kind == .end
      ? failure("\(expectation), but the text ends here\(hint)")
      : failure("\(expectation), but found \(text(of: token))\(hint)")
  }

  /// Words beside each other, as in `name == Ann Bo`, are mostly a text without quotes.
  private var wordsHint: String {
    guard token.kind == .identifier, let last = lastByte, (0x61...0x7a).contains(last | 0x20) else { return "" }
    return "; a text stands in quotes"
  }

  /// A pattern without quotes, as in `name LIKE Ann*`, ends with an operator.
  var patternHint: String {
    token.kind == .end && lastByte == UInt8(ascii: "*") ? "; a pattern stands in quotes" : ""
  }

  /// What stands before the current token.
  private var lastByte: UInt8? { lexer.bytes[..<token.start].last { $0 != UInt8(ascii: " ") } }

  // MARK: Kinds

  // Both mutate nothing, but only a mutating method's receiver is taken after its argument was parsed, with the token behind
  // it.

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

  mutating func expression(from node: Node) throws(ModelError) -> Expression {
    switch node {
    case .expression(let expression): return expression
    case .predicate:
      throw unexpected("expected an expression, not a condition (TERNARY makes a value of one)")
    }
  }
}
