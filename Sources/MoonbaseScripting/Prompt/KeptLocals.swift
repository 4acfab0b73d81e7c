import MoonbaseLua

/// Keeps the variables of a prompt, because a `local` outside of blocks would end with its input. So `local x = 1` runs
/// as `x = 1`.
///
/// For example:
///
/// ```text
/// local x = 1; local function f() end      becomes
///       x = 1;       function f() end
/// ```
enum KeptLocals {
  /// The source with these `local` keywords replaced by blanks. A declaration without a value, or with an attribute,
  /// stays local.
  ///
  /// Only declarations outside of blocks, brackets and functions are changed. Lengths and lines stay, so that errors
  /// name the right columns.
  static func source(of bytes: [UInt8]) -> [UInt8] {
    var lexer = LuaLexer(bytes)
    var result = bytes
    var depth = 0
    while true {
      switch lexer.next().token {
      case .end: return result
      case .name("local") where depth == 0 && hasValue(lexer):
        for place in lexer.start..<lexer.at { result[place] = UInt8(ascii: " ") }
      case .name(let word) where InputNesting.openers.contains(word): depth += 1
      case .name(let word) where InputNesting.closers.contains(word): depth -= 1
      case .symbol(let sign) where "({[".utf8.contains(sign): depth += 1
      case .symbol(let sign) where ")}]".utf8.contains(sign): depth -= 1
      default: break
      }
    }
  }

  /// Whether a function follows, or names with values.
  private static func hasValue(_ lexer: LuaLexer) -> Bool {
    var lexer = lexer
    guard case .name(let first) = lexer.next().token else { return false }
    if first == "function" { return true }
    while true {
      switch lexer.next().token {
      case .symbol(UInt8(ascii: "=")): return true
      case .symbol(UInt8(ascii: ",")): guard case .name = lexer.next().token else { return false }
      default: return false
      }
    }
  }
}
