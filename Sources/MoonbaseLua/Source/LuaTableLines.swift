/// Finds the lines of the keys of a returned table, so that an error about a key can name file and line.
///
/// ```swift
/// let lines = LuaTableLines(LuaSource("return {\n  a = 1,\n  b = { c = 2 } }", name: "t.lua"))
/// lines.line(of: ["b", "c"])      // 3
/// ```
///
/// Only literal constructors are read: `return { ... }`, or `return name` after `name = { ... }`. The key of an element
/// without one is its index in the list, from 1.
///
/// Used by readers of model and mapping files. Keys are paths of names from the outermost table; the path without a
/// name is the table itself.
public struct LuaTableLines: Sendable {
  /// A key that a table constructor contains twice. Lua silently uses the last value.
  public struct Duplicate: Sendable, Hashable {
    /// The path of the key, including the key.
    public let path: [String]
    /// The line of the second occurrence.
    public let line: Int
    /// The line of the first occurrence.
    public let firstLine: Int
  }

  /// The keys of one table constructor.
  private struct Table {
    /// The lines of keys by path.
    var lines: [[String]: Int] = [:]
    /// The positions of the keys in the source order.
    var places: [[String]: Int] = [:]
    /// In source order.
    var duplicates: [Duplicate] = []
  }

  /// The returned table.
  private var table = Table()

  /// The duplicate keys, in source order.
  public var duplicates: [Duplicate] { table.duplicates }

  /// Reads a source. Invalid Lua is read as far as possible.
  public init(_ source: LuaSource) {
    var tables: [String: Table] = [:]
    var reader = Reader(source.bytes)
    reader.readAll(into: &table, named: &tables)
  }

  /// The line of a key, given by its path. A key that is not in the source has the line of its nearest ancestor. Nil
  /// only if no table was found.
  public func line(of path: [String]) -> Int? {
    var path = path
    while true {
      if let line = table.lines[path] { return line }
      guard !path.isEmpty else { return nil }
      path.removeLast()
    }
  }

  /// The line of a key; nil if it is not in the source.
  public func exactLine(of path: [String]) -> Int? { table.lines[path] }

  /// The position of a key among all keys, in source order; nil if it is not in the source.
  public func place(of path: [String]) -> Int? { table.places[path] }

  /// Reads tokens with one token ahead.
  private struct Reader {
    /// Behind `ahead`.
    private var lexer: LuaLexer
    /// The current token.
    private var token: LuaLexer.Token
    /// The line of the current token.
    private var line: Int
    /// The next token.
    private var ahead: (token: LuaLexer.Token, line: Int)
    /// Tables beyond this depth are skipped as values.
    private static let deepest = 100

    /// Reads the first two tokens.
    init(_ bytes: [UInt8]) {
      lexer = LuaLexer(bytes)
      (token, line) = lexer.next()
      ahead = lexer.next()
    }

    /// Moves to the next token.
    private mutating func advance() {
      (token, line) = ahead
      ahead = lexer.next()
    }

    /// Whether the current token is this character.
    private func isSymbol(_ symbol: Unicode.Scalar) -> Bool { token == .symbol(UInt8(ascii: symbol)) }

    /// Finds the assignments of tables to names, and the returned table. The last `return` counts.
    mutating func readAll(into table: inout Table, named: inout [String: Table]) {
      while token != .end {
        if case .name(let name) = token {
          if name == "return" {
            advance()
            if isSymbol("{") {
              table = Table()
              readTable([], depth: 0, into: &table)
            } else if case .name(let result) = token, let known = named[result] {
              table = known
            }
            continue
          }
          if ahead.token == .symbol(UInt8(ascii: "=")) {
            advance()
            advance()
            if isSymbol("{") {
              var inner = Table()
              readTable([], depth: 0, into: &inner)
              named[name] = inner
            }
            continue
          }
        }
        advance()
      }
    }

    /// The current token is the opening brace. Ends behind the closing one.
    private mutating func readTable(_ path: [String], depth: Int, into table: inout Table) {
      table.lines[path] = line
      advance()
      var place = 0
      var names: [String: Int] = [:]
      while token != .end, !isSymbol("}") {
        let key = readKey(&place)
        let inner = path + [key.name]
        if key.isName, let first = names.updateValue(key.line, forKey: key.name) {
          table.duplicates.append(Duplicate(path: inner, line: key.line, firstLine: first))
        }
        table.lines[inner] = key.line
        table.places[inner] = table.places.count
        if isSymbol("{"), depth < Self.deepest {
          readTable(inner, depth: depth + 1, into: &table)
          table.lines[inner] = key.line
        }
        skipValue()
        if isSymbol(",") || isSymbol(";") { advance() }
      }
      if token != .end { advance() }
    }

    /// Returns the name, its line, and whether the name was written as a name or string. `place` counts the elements
    /// without a key.
    private mutating func readKey(_ place: inout Int) -> (name: String, line: Int, isName: Bool) {
      let start = line
      if case .name(let name) = token, ahead.token == .symbol(UInt8(ascii: "=")) {
        advance()
        advance()
        return (name, start, true)
      }
      if isSymbol("[") {
        advance()
        var name = "?"
        var isName = false
        switch token {
        // An operator may follow, which makes another key: ["a" .. "b"].
        case .string(let text): (name, isName) = (text, ahead.token == .symbol(UInt8(ascii: "]")))
        case .number(let text): name = text
        default: break
        }
        while token != .end, !isSymbol("]") { advance() }
        advance()
        if isSymbol("=") { advance() }
        return (name, start, isName)
      }
      place += 1
      return (String(place), start, false)
    }

    /// Skips to the comma or brace that ends the value, past calls, tables and functions.
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
