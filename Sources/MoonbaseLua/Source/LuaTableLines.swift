/// Where the keys of the table that a source returns are written, so that a wrong one can be named by file and line.
///
/// Only literal constructors are read: `return { ... }`, or `return name` after `name = { ... }`. Elements without a key have
/// their place in the list, from 1.
public struct LuaTableLines: Sendable {
  private var lines: [[String]: Int] = [:]

  /// Reads a source; what is not Lua gives what could be read of it.
  public init(_ source: LuaSource) {
    var tables: [String: [[String]: Int]] = [:]
    var reader = Reader(source.bytes)
    reader.readAll(into: &lines, named: &tables)
  }

  /// The line of a key, by the keys that lead to it; without one of its own, that of the nearest key around it.
  public func line(of path: [String]) -> Int? {
    var path = path
    while true {
      if let line = lines[path] { return line }
      guard !path.isEmpty else { return nil }
      path.removeLast()
    }
  }

  /// The line of exactly this key.
  public func exactLine(of path: [String]) -> Int? { lines[path] }

  private struct Reader {
    private var lexer: LuaLexer
    private var token: LuaLexer.Token
    private var line: Int
    private var ahead: (token: LuaLexer.Token, line: Int)
    private static let deepest = 100

    init(_ bytes: [UInt8]) {
      lexer = LuaLexer(bytes)
      (token, line) = lexer.next()
      ahead = lexer.next()
    }

    private mutating func advance() {
      (token, line) = ahead
      ahead = lexer.next()
    }

    private func isSymbol(_ symbol: Unicode.Scalar) -> Bool { token == .symbol(UInt8(ascii: symbol)) }

    mutating func readAll(into lines: inout [[String]: Int], named: inout [String: [[String]: Int]]) {
      while token != .end {
        if case .name(let name) = token {
          if name == "return" {
            advance()
            if isSymbol("{") {
              lines = [:]
              readTable([], 0, &lines)
            } else if case .name(let result) = token, let known = named[result] {
              lines = known
            }
            continue
          }
          if ahead.token == .symbol(UInt8(ascii: "=")) {
            advance()
            advance()
            if isSymbol("{") {
              var inner: [[String]: Int] = [:]
              readTable([], 0, &inner)
              named[name] = inner
            }
            continue
          }
        }
        advance()
      }
    }

    private mutating func readTable(_ path: [String], _ depth: Int, _ lines: inout [[String]: Int]) {
      lines[path] = line
      advance()
      var place = 0
      while token != .end, !isSymbol("}") {
        let key = readKey(&place)
        let inner = path + [key.name]
        lines[inner] = key.line
        if isSymbol("{"), depth < Self.deepest {
          readTable(inner, depth + 1, &lines)
          lines[inner] = key.line
        }
        skipValue()
        if isSymbol(",") || isSymbol(";") { advance() }
      }
      if token != .end { advance() }
    }

    private mutating func readKey(_ place: inout Int) -> (name: String, line: Int) {
      let start = line
      if case .name(let name) = token, ahead.token == .symbol(UInt8(ascii: "=")) {
        advance()
        advance()
        return (name, start)
      }
      if isSymbol("[") {
        advance()
        let name: String
        switch token {
        case .string(let text), .number(let text): name = text
        default: name = "?"
        }
        while token != .end, !isSymbol("]") { advance() }
        advance()
        if isSymbol("=") { advance() }
        return (name, start)
      }
      place += 1
      return (String(place), start)
    }

    /// To the comma or brace that ends the value, past calls, tables and functions.
    private mutating func skipValue() {
      var brackets = 0
      var blocks = 0
      while token != .end {
        switch token {
        case .symbol(UInt8(ascii: ",")), .symbol(UInt8(ascii: ";")):
          if brackets == 0, blocks == 0 { return }
        case .symbol(UInt8(ascii: "}")):
          if brackets == 0, blocks == 0 { return }
          brackets -= 1
        case .symbol(UInt8(ascii: ")")), .symbol(UInt8(ascii: "]")): brackets -= 1
        case .symbol(UInt8(ascii: "{")), .symbol(UInt8(ascii: "(")), .symbol(UInt8(ascii: "[")): brackets += 1
        case .name("function"), .name("if"), .name("do"), .name("repeat"): blocks += 1
        case .name("end"), .name("until"): blocks -= 1
        default: break
        }
        advance()
      }
    }
  }
}
