import MoonbaseLua

/// Parses Lua code that reads and sets attributes of a single object.
///
/// The parser recognises a subset: attribute accesses on the object, locals, and functions of the standard library
/// without side effects. Any other construct gives nil, and the caller runs the code over objects. A wrong acceptance
/// would change results, therefore unknown names are always refused.
struct CodeParser {
  /// The bytes of the code, from which pieces are cut.
  private let source: [UInt8]
  /// The name of the variable with the object.
  private let object: String
  /// The names that the code declares itself.
  private let locals: Set<String>
  /// The attributes that are set, in the order of their first assignment.
  private(set) var attributes: [String] = []
  /// The attributes that are read or set, in the order of their first access.
  private(set) var inputs: [String] = []

  /// Collects the locals first, because they may hide functions of the library.
  init(_ tokens: ArraySlice<CodeToken>, in source: [UInt8], object: String) {
    (self.source, self.object, locals) = (source, object, Self.locals(of: tokens))
  }

  /// The names declared by `local` and `for`, and the parameters. Scopes are not tracked: a name that is local anywhere
  /// counts as local everywhere.
  private static func locals(of tokens: ArraySlice<CodeToken>) -> Set<String> {
    var names: Set<String> = []
    var isDeclaring = false
    for (index, token) in zip(tokens.indices, tokens) {
      switch token.token {
      case .name("local"), .name("for"): isDeclaring = true
      case .name("function"): isDeclaring = true
      case .name(let name) where !LuaLexer.keywords.contains(name): if isDeclaring { names.insert(name) }
      case .symbol(UInt8(ascii: ",")), .symbol(UInt8(ascii: "(")): break
      default: isDeclaring = false
      }
      // Two names without a comma between them belong to different statements.
      if isDeclaring, case .name(let name) = token.token, !LuaLexer.keywords.contains(name),
        index + 1 < tokens.endIndex, case .name = tokens[index + 1].token
      {
        isDeclaring = false
      }
    }
    return names
  }

  /// Returns nil for code with other constructs. `tokens` may be a part of the code.
  ///
  /// Each piece is a text to copy, an attribute that is read, or an attribute that is set. A part of the code is the
  /// right side of an assignment.
  mutating func pieces(of tokens: ArraySlice<CodeToken>) -> [CodePiece]? {
    guard !tokens.indices.contains(where: { tokens[$0] == "=" && tokens.assignsSeveral(at: $0) }) else { return nil }
    var pieces: [CodePiece] = []
    var index = tokens.startIndex
    var end = index < tokens.endIndex ? tokens[index].range.lowerBound : 0
    func add(_ place: Range<Int>, mayRepeat: Bool = false) {
      pieces.append(.text(String(decoding: source[end..<place.upperBound], as: UTF8.self), mayRepeat: mayRepeat))
      end = place.upperBound
    }
    while index < tokens.endIndex {
      let token = tokens[index]
      index += 1
      guard case .name(let name) = token.token, !tokens.isField(at: index - 1) else {
        guard isPlain(tokens, at: index - 1) else { return nil }
        add(token.range)
        continue
      }
      guard name == object else {
        guard isKnown(name, in: tokens, at: index - 1) else { return nil }
        add(token.range, mayRepeat: CodeWords.repeating.contains(name))
        continue
      }
      guard tokens.isAccess(at: index), index + 1 < tokens.endIndex,
        case .name(let attribute) = tokens[index + 1].token,
        !LuaLexer.keywords.contains(attribute), let piece = piece(attribute, in: tokens, at: &index)
      else { return nil }
      let space = source[end..<token.range.lowerBound]
      pieces.append(.text(String(decoding: space, as: UTF8.self), mayRepeat: false))
      pieces.append(piece)
      end = tokens[index - 1].range.upperBound
    }
    return pieces
  }

  /// The access to an attribute whose dot is at `index`. Advances `index` past the access. Nil if the value is indexed
  /// or a field is accessed, and for several variables in an assignment.
  private mutating func piece(_ attribute: String, in tokens: ArraySlice<CodeToken>, at index: inout Int) -> CodePiece?
  {
    index += 2
    note(attribute, in: &inputs)
    guard index < tokens.endIndex else { return .attribute(attribute) }
    // Only methods may be called on a value.
    if tokens.isAccess(at: index) || tokens[index] == "[" { return nil }
    guard tokens[index] == "=" else { return .attribute(attribute) }
    guard let end = tokens.endOfExpression(from: index + 1),
      end == tokens.endIndex || tokens[end] != ",", let value = pieces(of: tokens[(index + 1)..<end])
    else { return nil }
    note(attribute, in: &attributes)
    index = end
    return .assignment(attribute, value)
  }

  /// Adds a name, without duplicates.
  private func note(_ name: String, in names: inout [String]) { if !names.contains(name) { names.append(name) } }

  /// Whether a token other than a variable has the same meaning with values in place of the object. Random numbers,
  /// varargs and labels do not.
  private func isPlain(_ tokens: ArraySlice<CodeToken>, at index: Int) -> Bool {
    switch tokens[index].token {
    case .name(let field): !CodeWords.random.contains(field)
    // The varargs of the code, and labels.
    case .symbol(UInt8(ascii: ".")): !tokens.areDots(at: index, count: 3)
    case .symbol(UInt8(ascii: ":")): !(index + 1 < tokens.endIndex && tokens[index + 1] == ":")
    default: true
    }
  }

  /// Whether a name is a keyword, a local, a key of a table constructor, or a known function.
  private func isKnown(_ name: String, in tokens: ArraySlice<CodeToken>, at index: Int) -> Bool {
    // A named function is global unless it is local.
    if name == "function", index + 1 < tokens.endIndex, case .name = tokens[index + 1].token {
      return index > tokens.startIndex && tokens[index - 1] == "local"
    }
    if LuaLexer.keywords.contains(name) { return name != "goto" }
    guard !name.hasPrefix("__") else { return false }
    if locals.contains(name) { return name != object }
    let next = index + 1
    if next < tokens.endIndex, tokens[next] == "=" {
      // A key in a table constructor, or a global.
      return index > tokens.startIndex && (tokens[index - 1] == "{" || tokens[index - 1] == ",")
        && tokens.isInTable(at: index)
    }
    if CodeWords.functions.contains(name) { return true }
    return CodeWords.libraries.contains(name) && tokens.isAccess(at: next)
      && !(next + 2 < tokens.endIndex && tokens[next + 2] == "=")
  }
}
