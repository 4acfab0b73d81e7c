import MoonbaseLua
import MoonbasePlatform

/// Reads a Lua file that returns a table of plain data, without running it. Plain data consists of texts, numbers,
/// `true`, `false`, `nil` and tables. Comments are allowed. Everything else is an error with its line and column.
///
/// A project file is read by every command, so it must not be able to run code. The reader takes
/// its tokens from `LuaLexer`, and has a parser of its own.
struct LuaDataReader {
  /// The reason why a file is refused, with the position.
  ///
  /// `Project` adds the name of the file.
  struct Failure: Error, Equatable {
    /// The reason with advice.
    let message: String
    /// The position of the mistake.
    let place: LuaData.Place
  }

  /// The maximum depth of tables.
  private static let deepest = 50
  /// The source.
  private let bytes: [UInt8]
  /// The offsets at which lines start.
  private let lines: [Int]
  /// The lexer, which is one token ahead.
  private var lexer: LuaLexer
  /// The next token, and its bytes.
  private var token = LuaLexer.Token.end
  /// The bytes of the next token.
  private var range = 0..<0
  /// The current depth of tables.
  private var depth = 0

  /// Prepares the source and reads the first token.
  private init(_ bytes: [UInt8]) {
    self.bytes = bytes
    lines = [0] + bytes.indices.filter { bytes[$0] == UInt8(ascii: "\n") }.map { $0 + 1 }
    lexer = LuaLexer(bytes)
    advance()
  }

  /// The value that the file returns.
  ///
  /// - Parameter bytes: The contents of the file.
  /// - Throws: A `Failure` with a position.
  static func read(_ bytes: [UInt8]) throws(Failure) -> LuaData {
    guard bytes.withUnsafeBytes({ $0.isUTF8 }) else {
      throw Failure(message: "the file is no UTF-8 text", place: LuaData.Place())
    }
    var reader = LuaDataReader(withoutFirstLine(bytes))
    return try reader.readFile()
  }

  /// The bytes without a byte order mark. If the first line names a system program that runs the file, it is replaced
  /// by an empty line.
  private static func withoutFirstLine(_ bytes: [UInt8]) -> [UInt8] {
    let rest = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    guard rest.first == UInt8(ascii: "#") else { return Array(rest) }
    return Array(rest.drop { $0 != UInt8(ascii: "\n") })
  }

  // MARK: Tokens

  /// Moves to the next token.
  private mutating func advance() {
    token = lexer.next().token
    range = lexer.start..<max(lexer.start, min(lexer.at, bytes.count))
  }

  /// Consumes a symbol if it is the next token. Returns whether it was.
  private mutating func consume(_ symbol: Unicode.Scalar) -> Bool {
    guard token == .symbol(UInt8(ascii: symbol)) else { return false }
    advance()
    return true
  }

  /// The token after the next one.
  private var tokenBehind: LuaLexer.Token {
    var ahead = lexer
    return ahead.next().token
  }

  /// The position of the next token.
  private var place: LuaData.Place { place(of: range.lowerBound) }

  /// The position of a byte. Columns are counted in characters.
  private func place(of offset: Int) -> LuaData.Place {
    let line = lines.partitioningIndex { $0 > offset } - 1
    let count = bytes[lines[line]..<min(offset, bytes.count)].count { $0 & 0xC0 != 0x80 }
    return LuaData.Place(line: line + 1, column: count + 1)
  }

  // MARK: Values

  /// Reads `return`, the value and the end of the file.
  private mutating func readFile() throws(Failure) -> LuaData {
    guard token == .name("return") else { throw failure("the file is plain data and begins with 'return {'") }
    advance()
    let value = try readValue()
    _ = consume(";")
    guard token == .end else { throw unexpected("behind the table") }
    return value
  }

  /// Reads a value with its position.
  private mutating func readValue() throws(Failure) -> LuaData {
    let place = place
    return LuaData(content: try readContent(), place: place)
  }

  /// Reads a value: a text, a number, a word or a table.
  private mutating func readContent() throws(Failure) -> LuaData.Content {
    switch token {
    case .string: return .string(try readText())
    case .number: return try readNumber(isNegative: false)
    case .symbol(UInt8(ascii: "-")):
      advance()
      return try readNumber(isNegative: true)
    case .symbol(UInt8(ascii: "{")): return .table(try readTable())
    case .name("true"): return word(.boolean(true))
    case .name("false"): return word(.boolean(false))
    case .name("nil"): return word(.none)
    default: throw unexpected("where a value belongs")
    }
  }

  /// Consumes a word such as `true`.
  private mutating func word(_ content: LuaData.Content) -> LuaData.Content {
    advance()
    return content
  }

  /// Reads a text with its escapes.
  private mutating func readText() throws(Failure) -> String {
    let text = LuaDataText(bytes[range], isWhole: lexer.at <= bytes.count)
    do throws(LuaDataText.Mistake) {
      let decoded = try text.decoded()
      advance()
      return decoded
    } catch {
      throw Failure(message: error.message, place: place(of: error.offset))
    }
  }

  /// Reads a number after an optional minus sign.
  private mutating func readNumber(isNegative: Bool) throws(Failure) -> LuaData.Content {
    guard case .number(let text) = token else { throw unexpected("where a number belongs") }
    guard let number = Self.number((isNegative ? "-" : "") + text) else { throw failure("'\(text)' is no number") }
    advance()
    return number
  }

  /// The value of a number. Hexadecimal numbers wrap around as in Lua.
  ///
  /// Example: `0xFF` is 255.
  private static func number(_ text: String) -> LuaData.Content? {
    let isNegative = text.hasPrefix("-")
    let digits = isNegative ? text.dropFirst() : text[...]
    if digits.lowercased().hasPrefix("0x"), let whole = UInt64(digits.dropFirst(2), radix: 16) {
      let value = Int64(bitPattern: whole)
      return .integer(isNegative ? 0 &- value : value)
    }
    if let whole = Int64(text) { return .integer(whole) }
    return Double(text).flatMap { $0.isFinite ? .number($0) : nil }
  }

  /// Reads a table. A key that occurs twice is an error.
  private mutating func readTable() throws(Failure) -> [LuaData.Entry] {
    guard depth < Self.deepest else { throw failure("tables stand in tables more than \(Self.deepest) deep") }
    depth += 1
    advance()
    var entries: [LuaData.Entry] = []
    var names: [String: LuaData.Place] = [:]
    while !consume("}") {
      let entry = try readEntry()
      if let key = entry.key, let first = names.updateValue(entry.place, forKey: key) {
        throw Failure(message: "'\(key)' is given twice, first in line \(first.line)", place: entry.place)
      }
      entries.append(entry)
      guard consume(",") || consume(";") || token == .symbol(UInt8(ascii: "}")) else { throw missingComma() }
    }
    depth -= 1
    return entries
  }

  /// Reads an entry: `key = value`, `["key"] = value`, or a value.
  private mutating func readEntry() throws(Failure) -> LuaData.Entry {
    let place = place
    if consume("[") {
      let key = try readValue()
      guard consume("]") else { throw unexpected("where ']' belongs") }
      guard consume("=") else { throw unexpected("where '=' belongs") }
      guard case .string(let name) = key.content else {
        throw Failure(message: "a key is a text, not \(key.phrase)", place: key.place)
      }
      return LuaData.Entry(key: name, place: place, value: try readValue())
    }
    if case .name(let name) = token, tokenBehind == .symbol(UInt8(ascii: "=")) {
      advance()
      advance()
      return LuaData.Entry(key: name, place: place, value: try readValue())
    }
    return LuaData.Entry(key: nil, place: place, value: try readValue())
  }

  // MARK: Failures

  /// The error at the next token.
  private func failure(_ message: String) -> Failure { Failure(message: message, place: place) }

  /// The error for an entry without a comma after it.
  private func missingComma() -> Failure {
    guard case .name(let name) = token, tokenBehind == .symbol(UInt8(ascii: "=")) else {
      return unexpected("where a comma or '}' belongs")
    }
    return failure("a comma is missing before '\(name)'")
  }

  /// The error for the next token, which depends on its kind.
  private func unexpected(_ position: String) -> Failure {
    let advice = "the file is plain data and is never run"
    switch token {
    case .end: return failure("the file ends \(position)")
    case .name("function"): return failure("a function cannot stand here: \(advice)")
    case .name(let name):
      return failure("\(isCall ? "a call of '\(name)'" : "the name '\(name)'") cannot stand here: \(advice)")
    case .symbol(UInt8(ascii: "(")): return failure("a call cannot stand here: \(advice)")
    default:
      return failure("'\(String(decoding: bytes[range], as: UTF8.self))' stands \(position): \(advice)")
    }
  }

  /// Whether a name is called. An argument, or a field that may be called, follows it.
  private var isCall: Bool {
    switch tokenBehind {
    case .string: true
    case .symbol(let symbol): "({.:".utf8.contains(symbol)
    default: false
    }
  }
}
