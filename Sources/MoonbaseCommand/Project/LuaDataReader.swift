import MoonbasePlatform

/// Reads a Lua file that returns a table of plain data, without running it: texts, numbers, `true`, `false`, `nil`,
/// tables and comments. Everything else is an error with its line and column.
struct LuaDataReader {
  /// The reason why a file is refused, and the place.
  struct Failure: Error, Equatable {
    let message: String
    let place: LuaData.Place
  }

  private static let deepest = 50
  private var scanner: LuaDataScanner
  private var depth = 0

  private init(_ bytes: [UInt8]) { scanner = LuaDataScanner(bytes) }

  /// The value that the file returns.
  static func read(_ bytes: [UInt8]) throws(Failure) -> LuaData {
    guard bytes.withUnsafeBytes({ $0.isUTF8 }) else {
      throw Failure(message: "the file is no UTF-8 text", place: LuaData.Place())
    }
    var reader = LuaDataReader(bytes)
    return try reader.readFile()
  }

  private mutating func readFile() throws(Failure) -> LuaData {
    scanner.skipFirstLine()
    try scanner.skipSpace()
    guard scanner.peekName() == "return" else {
      throw scanner.failure("the file is plain data and begins with 'return {'")
    }
    scanner.takeName()
    let value = try readValue()
    try scanner.skipSpace()
    if scanner.take(";") { try scanner.skipSpace() }
    guard scanner.isAtEnd else { throw unexpected("behind the table") }
    return value
  }

  private mutating func readValue() throws(Failure) -> LuaData {
    try scanner.skipSpace()
    let place = scanner.place
    let content: LuaData.Content
    if let text = try scanner.takeText() {
      content = .string(text)
    } else if scanner.peek() == UInt8(ascii: "{") {
      content = .table(try readTable())
    } else if let number = try scanner.takeNumber() {
      content = number
    } else {
      content = try readWord()
    }
    return LuaData(content: content, place: place)
  }

  private mutating func readWord() throws(Failure) -> LuaData.Content {
    switch scanner.peekName() {
    case "true": scanner.takeName(); return .boolean(true)
    case "false": scanner.takeName(); return .boolean(false)
    case "nil": scanner.takeName(); return .none
    default: throw unexpected("where a value belongs")
    }
  }

  private mutating func readTable() throws(Failure) -> [LuaData.Entry] {
    guard depth < Self.deepest else { throw scanner.failure("tables stand in tables more than \(Self.deepest) deep") }
    depth += 1
    _ = scanner.take("{")
    var entries: [LuaData.Entry] = []
    var names: [String: LuaData.Place] = [:]
    while true {
      try scanner.skipSpace()
      if scanner.take("}") { break }
      let entry = try readEntry()
      if let key = entry.key, let first = names.updateValue(entry.place, forKey: key) {
        throw Failure(message: "'\(key)' is given twice, first in line \(first.line)", place: entry.place)
      }
      entries.append(entry)
      try scanner.skipSpace()
      guard scanner.take(",") || scanner.take(";") || scanner.peek() == UInt8(ascii: "}") else {
        throw unexpected("where a comma or '}' belongs")
      }
    }
    depth -= 1
    return entries
  }

  private mutating func readEntry() throws(Failure) -> LuaData.Entry {
    let place = scanner.place
    if scanner.peek() == UInt8(ascii: "["), scanner.longLevel == nil {
      _ = scanner.take("[")
      let key = try readValue()
      try scanner.skipSpace()
      guard scanner.take("]") else { throw unexpected("where ']' belongs") }
      try scanner.skipSpace()
      guard scanner.take("=") else { throw unexpected("where '=' belongs") }
      guard case .string(let name) = key.content else {
        throw Failure(message: "a key is a text, not \(key.phrase)", place: key.place)
      }
      return LuaData.Entry(key: name, place: place, value: try readValue())
    }
    if let name = scanner.peekName(), try scanner.isKey(behind: name) {
      return LuaData.Entry(key: name, place: place, value: try readValue())
    }
    return LuaData.Entry(key: nil, place: place, value: try readValue())
  }

  /// The failure at what stands next, by what it is.
  private func unexpected(_ position: String) -> Failure {
    let advice = "the file is plain data and is never run"
    switch scanner.peekName() {
    case "function": return scanner.failure("a function cannot stand here: \(advice)")
    case let name?:
      let what = scanner.isCall(of: name) ? "a call of '\(name)'" : "the name '\(name)'"
      return scanner.failure("\(what) cannot stand here: \(advice)")
    case nil:
      guard let text = scanner.character else { return scanner.failure("the file ends \(position)") }
      if text == "(" { return scanner.failure("a call cannot stand here: \(advice)") }
      return scanner.failure("'\(text)' stands \(position): \(advice)")
    }
  }
}
