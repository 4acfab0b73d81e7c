import MoonbaseLua

/// A token with its range.
///
/// A wrapper of the lexer's token, for looking backwards and forwards in arrays of tokens. Two tokens are equal if
/// their kinds and texts are equal, wherever they stand; literals such as `"="` and `"end"` are compared with tokens.
struct CodeToken: Equatable, ExpressibleByStringLiteral {
  /// The kind of token, with its text.
  let token: LuaLexer.Token
  /// The bytes in the source.
  var range = 0..<0

  /// Whether it is a quoted string without its closing quote.
  var isOpenText = false

  /// The symbol as text; nil for other tokens.
  var sign: String? {
    guard case .symbol(let byte) = token, byte < 128 else { return nil }
    return String(UnicodeScalar(byte))
  }

  /// The tokens of a text, without comments and the final end.
  static func all(of text: String) -> [CodeToken] { all(of: Array(text.utf8)) }

  /// The tokens of a source's bytes.
  static func all(of bytes: [UInt8]) -> [CodeToken] {
    var lexer = LuaLexer(bytes)
    var tokens: [CodeToken] = []
    while true {
      let next = lexer.next().token
      if next == .end { return tokens }
      var read = CodeToken(next, lexer.start..<min(lexer.at, bytes.count))
      // For a missing quote the lexer's position is beyond the end.
      if case .string = next { read.isOpenText = lexer.at > bytes.count && bytes[lexer.start] != UInt8(ascii: "[") }
      tokens.append(read)
    }
  }

  /// A token at a place.
  init(_ token: LuaLexer.Token, _ range: Range<Int>) { (self.token, self.range) = (token, range) }

  /// A symbol of one character, or a name or keyword.
  init(_ text: String) {
    let first = text.utf8.first ?? 0
    let isSymbol = text.utf8.count == 1 && !Character(UnicodeScalar(first)).isLetter && first != UInt8(ascii: "_")
    token = isSymbol ? .symbol(first) : .name(text)
  }

  /// A token without a place, for comparison.
  init(stringLiteral text: String) { self.init(text) }

  /// Compares without the places.
  static func == (one: CodeToken, other: CodeToken) -> Bool { one.token == other.token }
}

extension ArraySlice<CodeToken> {
  /// Whether `count` adjacent dots begin at an index.
  func areDots(at index: Int, count: Int) -> Bool {
    guard index >= startIndex, index + count <= endIndex else { return false }
    return self[index..<(index + count)].allSatisfy { $0 == "." }
      && self[index + count - 1].range.upperBound - self[index].range.lowerBound == count
  }

  /// Whether a single dot is at an index, which accesses a field.
  func isAccess(at index: Int) -> Bool {
    indices.contains(index) && self[index] == "." && !areDots(at: index, count: 2) && !areDots(at: index - 1, count: 2)
  }

  /// Whether the name at an index is the name of a field or a method.
  func isField(at index: Int) -> Bool {
    index > startIndex && (self[index - 1] == ":" || isAccess(at: index - 1))
  }

  /// The end of the expression that begins at an index; nil if it has none.
  ///
  /// For example, in `a + f(b) c = 1` the expression from index 0 ends before `c`. Functions are not recognised.
  func endOfExpression(from start: Int) -> Int? {
    var (index, wantsOperand) = (start, true)
    while index < endIndex {
      switch self[index].token {
      case .symbol(let symbol) where Self.opening.contains(symbol):
        // After an operand a bracket is a call, an index or a table argument.
        guard let end = endOfBrackets(from: index) else { return nil }
        (index, wantsOperand) = (end, false)
        continue
      case .name("function"): return nil
      case .name("nil"), .name("true"), .name("false"):
        guard wantsOperand else { return index }
        wantsOperand = false
      case .name("not") where wantsOperand: break
      case .name("and"), .name("or"):
        if wantsOperand { return nil }
        wantsOperand = true
      case .name(let word) where LuaLexer.keywords.contains(word): return wantsOperand ? nil : index
      case .name, .number:
        if !wantsOperand, !isField(at: index) { return index }
        wantsOperand = false
      case .string: wantsOperand = false
      case .symbol(let symbol) where Self.unary.contains(symbol) && wantsOperand: break
      case .symbol(let symbol):
        // A comma, an assignment, a closing bracket or a semicolon ends the expression.
        guard !wantsOperand || symbol == UInt8(ascii: ".") || Self.doubled.contains(symbol) else { return nil }
        guard Self.binary.contains(symbol) || symbol > 127 else { return index }
        wantsOperand = true
      case .end: return nil
      }
      index += 1
    }
    return wantsOperand ? nil : index
  }

  /// Brackets that open.
  private static var opening: [UInt8] { [UInt8](#"([{"#.utf8) }
  /// Brackets that close.
  private static var closing: [UInt8] { [UInt8](#")]}"#.utf8) }
  /// Operators before an operand.
  private static var unary: [UInt8] { [UInt8]("-#~".utf8) }
  /// Characters of operators between operands, including accesses.
  private static var binary: [UInt8] { [UInt8]("+-*/%^&|~<>.:".utf8) }
  /// Symbols that may occur doubled in an operator.
  private static var doubled: [UInt8] { [UInt8]("/<>.".utf8) }

  /// The index after the bracket that closes the one at `start`; nil without it.
  private func endOfBrackets(from start: Int) -> Int? {
    var depth = 0
    for index in start..<endIndex {
      guard case .symbol(let symbol) = self[index].token else { continue }
      if Self.opening.contains(symbol) { depth += 1 }
      if Self.closing.contains(symbol) { depth -= 1 }
      if depth == 0 { return index + 1 }
    }
    return nil
  }
}

// MARK: Assignments

extension ArraySlice<CodeToken> {
  /// Whether the assignment at an index sets several existing variables. True for `a, b = 1, 2`, where right sides may
  /// depend on the order of assignment; false for declarations and tables.
  func assignsSeveral(at equals: Int) -> Bool {
    guard var start = startOfVariable(endingAt: equals - 1) else { return false }
    let last = start
    while start > startIndex, self[start - 1] == "," {
      guard let next = startOfVariable(endingAt: start - 2) else { return !isInTable(at: start) }
      start = next
    }
    guard start < last else { return false }
    if start > startIndex, self[start - 1] == "local" { return false }
    return !isInTable(at: start)
  }

  /// The first token of the variable or call that ends at an index. Nil if no variable ends there.
  private func startOfVariable(endingAt last: Int) -> Int? {
    var place = last
    while place >= startIndex {
      switch self[place].token {
      case .name(let name):
        guard !LuaLexer.keywords.contains(name) else { return nil }
        guard isField(at: place) else { return place }
        place -= 2
      case .symbol(let symbol) where Self.closing.contains(symbol):
        guard let open = startOfBrackets(endingAt: place) else { return nil }
        guard symbol != UInt8(ascii: ")") || endsOperand(at: open - 1) else { return open }
        place = open - 1
      case .string:
        guard endsOperand(at: place - 1) else { return place }
        place -= 1
      default: return nil
      }
    }
    return nil
  }

  /// Whether a value can end at an index.
  private func endsOperand(at index: Int) -> Bool {
    guard index >= startIndex else { return false }
    switch self[index].token {
    case .name(let name): return !LuaLexer.keywords.contains(name)
    case .string: return true
    case .symbol(let symbol): return Self.closing.contains(symbol)
    case .number, .end: return false
    }
  }

  /// The index of the bracket that opens the one at `last`; nil without it.
  private func startOfBrackets(endingAt last: Int) -> Int? {
    var depth = 0
    for index in self[...last].indices.reversed() {
      guard case .symbol(let symbol) = self[index].token else { continue }
      if Self.closing.contains(symbol) { depth += 1 }
      if Self.opening.contains(symbol) { depth -= 1 }
      if depth == 0 { return index }
    }
    return nil
  }

  /// Whether a token is directly in a table constructor, outside of nested calls and functions. A key with `=` is then
  /// a field, not a variable.
  func isInTable(at index: Int) -> Bool {
    var (depth, blocks) = (0, 0)
    for place in self[..<index].indices.reversed() {
      switch self[place].token {
      case .symbol(let symbol) where Self.closing.contains(symbol): depth += 1
      case .symbol(let symbol) where Self.opening.contains(symbol):
        if depth == 0 { return symbol == UInt8(ascii: "{") }
        depth -= 1
      case .name("end") where depth == 0, .name("until") where depth == 0: blocks += 1
      case .name(let word) where depth == 0 && CodeWords.blocks.contains(word):
        if blocks == 0 { return false }
        blocks -= 1
      default: break
      }
    }
    return false
  }
}

/// Names with a fixed meaning in all Lua code, besides `LuaLexer.keywords`.
enum CodeWords {
  /// Keywords after which code may run more than once.
  static let repeating: Set<String> = ["for", "while", "repeat", "function"]
  /// Keywords that begin blocks ended by `end` or `until`.
  static let blocks: Set<String> = ["do", "function", "if", "repeat"]
  /// Functions of the standard library whose result depends only on their arguments.
  static let functions: Set<String> = [
    "assert", "error", "ipairs", "next", "pairs", "rawequal", "rawlen", "select", "tonumber", "tostring", "type",
  ]
  /// Libraries whose functions depend only on their arguments, besides the names in `random`.
  static let libraries: Set<String> = ["math", "string", "table", "utf8"]
  /// Fields of libraries with a different result at each call.
  static let random: Set<String> = ["random", "randomseed"]
}
