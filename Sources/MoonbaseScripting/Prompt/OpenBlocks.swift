import MoonbaseLua

/// Finds the lines after a wrong input that belong to it: lines within its open blocks and brackets, indented lines,
/// and lines that begin with a token that ends a block.
///
/// Without this, the rest of a pasted function with a mistake would run line by line.
package struct OpenBlocks {
  /// The number of open blocks and brackets, never negative.
  private var depth = 0
  /// Whether the next `do` belongs to a `for` or a `while`.
  private var awaitsDo = false

  /// The open blocks of an input. A wrong input: the parser has refused it.
  package init(of input: [UInt8]) { count(input) }

  /// Whether the next line belongs to the input. If so, its blocks are counted. `line` is without its line break. An
  /// empty line outside of blocks does not belong to the input.
  package mutating func accepts(_ line: [UInt8]) -> Bool {
    guard depth > 0 || Self.goesOn(line) else { return false }
    count(line)
    return true
  }

  /// Counts the blocks and brackets of some lines.
  private mutating func count(_ bytes: [UInt8]) {
    var lexer = LuaLexer(bytes)
    while true {
      switch lexer.next().token {
      case .end: return
      case .name(let word): count(word)
      case .symbol(let sign) where "({[".utf8.contains(sign): depth += 1
      case .symbol(let sign) where ")}]".utf8.contains(sign): depth = max(0, depth - 1)
      default: break
      }
    }
  }

  /// Counts a keyword.
  private mutating func count(_ word: String) {
    switch word {
    case "function", "if", "repeat": depth += 1
    case "for", "while": (depth, awaitsDo) = (depth + 1, true)
    case "do":
      if !awaitsDo { depth += 1 }
      awaitsDo = false
    case "end", "until": depth = max(0, depth - 1)
    default: break
    }
  }

  /// Whether a line is indented, or begins with `end`, `else`, `elseif`, `until` or a closing bracket.
  private static func goesOn(_ line: [UInt8]) -> Bool {
    guard let first = line.first(where: { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }) else { return false }
    if line[0] != first { return true }
    var lexer = LuaLexer(line)
    switch lexer.next().token {
    case .name(let word): return ["end", "else", "elseif", "until"].contains(word)
    case .symbol(let sign): return ")}]".utf8.contains(sign)
    default: return false
    }
  }
}
