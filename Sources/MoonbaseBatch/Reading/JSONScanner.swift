import MoonbaseModel
import MoonbasePlatform

/// Finds the parts of a JSON text, strictly by RFC 8259, without making values.
///
/// A scanner is a value with a position in bytes that it does not own. `JSONReader` scans records
/// with it, and `init(json:)` of `Value` makes values. Nesting is limited to
/// `TreeLimits.greatestDepth`.
///
/// With `isWhole` false, a text that ends too early throws `Problem.short`, and the caller scans
/// again with more bytes.
struct JSONScanner {
  /// The reason why a text cannot be scanned.
  enum Problem: Error {
    /// The bytes end before the text does.
    case short
    /// A mistake in words, at a position in the bytes.
    case wrong(String, at: Int)
  }

  /// The bytes, which the caller keeps valid.
  private let start: UnsafeRawBufferPointer
  /// The number of bytes.
  private var count: Int { start.count }
  /// Whether the bytes are complete, so that an unfinished text is a mistake.
  private let isWhole: Bool
  /// The position of the next byte to scan.
  private(set) var place: Int

  /// A scanner that begins at a position of these bytes.
  init(_ bytes: UnsafeRawBufferPointer, from place: Int = 0, isWhole: Bool) {
    (start, self.isWhole, self.place) = (bytes, isWhole, place)
  }

  /// The next byte that is not white space; nil at the end.
  mutating func peek() throws -> UInt8? {
    while place < count {
      switch start[place] {
      case 0x20, 0x0a, 0x0d, 0x09: place += 1
      default: return start[place]
      }
    }
    if !isWhole { throw Problem.short }
    return nil
  }

  /// Consumes a character, or throws `Problem.wrong` if the next byte differs.
  mutating func consume(_ letter: Character) throws {
    guard try peek() == letter.asciiValue else { throw try expected("'\(letter)'") }
    place += 1
  }

  /// Consumes a character if it is next. Returns whether it was.
  mutating func passOver(_ letter: Character) throws -> Bool {
    guard try peek() == letter.asciiValue else { return false }
    place += 1
    return true
  }

  /// The problem that something else stands at the position.
  private mutating func expected(_ what: String) throws -> Problem {
    guard let found = try peek() else { return .wrong("\(what) is expected, found the end", at: place) }
    let shown = (0x21...0x7e).contains(found) ? "'\(Character(UnicodeScalar(found)))'" : "byte \(found)"
    return .wrong("\(what) is expected, found \(shown)", at: place)
  }

  /// The bytes of a quoted text, with its escapes, and whether it has any.
  ///
  /// The result refers to the bytes within the quotes. Control characters are refused, as the
  /// standard requires; escapes are checked only by `unescape`.
  mutating func string() throws -> (bytes: Range<Int>, isEscaped: Bool) {
    guard try peek() == UInt8(ascii: "\"") else { throw try expected("a text in quotes") }
    let from = place + 1
    var at = from
    var isEscaped = false
    while at < count {
      switch start[at] {
      case UInt8(ascii: "\""):
        place = at + 1
        return (from..<at, isEscaped)
      case UInt8(ascii: "\\"):
        isEscaped = true
        at += 2
      case 0..<0x20: throw Problem.wrong("a control character in a text: it has to be escaped", at: at)
      default: at += 1
      }
    }
    throw isWhole ? Problem.wrong("a text does not end", at: from - 1) : Problem.short
  }

  /// A value: its kind and its bytes, for a text those within the quotes.
  ///
  /// Objects and lists are scanned to their end, but not kept. Their kind is `nested`.
  mutating func value(depth: Int = 0) throws -> (kind: InputField.Kind, bytes: Range<Int>, isEscaped: Bool) {
    guard let letter = try peek() else { throw try expected("a value") }
    let from = place
    switch letter {
    case UInt8(ascii: "\""):
      let (bytes, isEscaped) = try string()
      return (.text, bytes, isEscaped)
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      guard depth < TreeLimits.greatestDepth else {
        throw Problem.wrong("more than \(TreeLimits.greatestDepth) levels", at: place)
      }
      try nested(letter == UInt8(ascii: "{"), depth: depth)
      return (.nested, from..<place, false)
    case UInt8(ascii: "t"): return try word("true", .bool)
    case UInt8(ascii: "f"): return try word("false", .bool)
    case UInt8(ascii: "n"): return try word("null", .none)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return try number()
    default: throw try expected("a value")
    }
  }

  /// Scans an object or a list, which begins at the position.
  private mutating func nested(_ isObject: Bool, depth: Int) throws {
    place += 1
    let end: Character = isObject ? "}" : "]"
    if try passOver(end) { return }
    repeat {
      if isObject {
        _ = try string()
        try consume(":")
      }
      _ = try value(depth: depth + 1)
    } while try passOver(",")
    try consume(end)
  }

  /// Scans `true`, `false` or `null`.
  private mutating func word(
    _ text: StaticString, _ kind: InputField.Kind
  ) throws -> (InputField.Kind, Range<Int>, Bool) {
    let length = text.utf8CodeUnitCount
    guard place + length <= count else {
      throw isWhole ? Problem.wrong("a value is expected", at: place) : Problem.short
    }
    guard
      UnsafeRawBufferPointer(rebasing: start[place..<place + length]).elementsEqual(
        UnsafeBufferPointer(start: text.utf8Start, count: length))
    else { throw Problem.wrong("a value is expected", at: place) }
    defer { place += length }
    return (kind, place..<place + length, false)
  }

  /// Scans a number: no leading zeros, and digits on both sides of the point.
  private mutating func number() throws -> (InputField.Kind, Range<Int>, Bool) {
    let from = place
    if start[place] == UInt8(ascii: "-") { place += 1 }
    let first = place
    try digits()
    if place - first > 1, start[first] == UInt8(ascii: "0") {
      throw Problem.wrong("a number does not begin with 0", at: from)
    }
    if place < count, start[place] == UInt8(ascii: ".") {
      place += 1
      try digits()
    }
    if place < count, start[place] | 0x20 == UInt8(ascii: "e") {
      place += 1
      if place < count, [UInt8(ascii: "+"), UInt8(ascii: "-")].contains(start[place]) { place += 1 }
      try digits()
    }
    // More digits may follow in later bytes.
    if place == count, !isWhole { throw Problem.short }
    return (.number, from..<place, false)
  }

  /// Scans at least one digit.
  private mutating func digits() throws {
    let from = place
    while place < count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(start[place]) { place += 1 }
    if place == from { throw place == count && !isWhole ? Problem.short : try expected("a digit") }
  }
}

extension JSONScanner {
  /// Appends the unescaped text. Throws for an invalid escape, with its position.
  ///
  /// `\u` escapes of surrogates must form pairs: `\ud83c\udf19` is one character.
  static func unescape(_ bytes: UnsafeRawBufferPointer, into text: inout [UInt8]) throws {
    let plain: [UInt8: UInt8] = [0x22: 0x22, 0x5c: 0x5c, 0x2f: 0x2f, 0x62: 8, 0x66: 12, 0x6e: 10, 0x72: 13, 0x74: 9]
    var place = 0
    while place < bytes.count {
      guard bytes[place] == UInt8(ascii: "\\") else {
        text.append(bytes[place])
        place += 1
        continue
      }
      guard place + 1 < bytes.count else { throw Problem.wrong("an escape does not end", at: place) }
      if let letter = plain[bytes[place + 1]] {
        text.append(letter)
        place += 2
        continue
      }
      guard bytes[place + 1] == UInt8(ascii: "u"), let first = unit(bytes, place + 2) else {
        throw Problem.wrong("'\\' is followed by none of \" \\ / b f n r t u", at: place)
      }
      place += 6
      var scalar = UInt32(first)
      if (0xd800..<0xdc00).contains(first) {
        guard place + 1 < bytes.count, bytes[place] == UInt8(ascii: "\\"), bytes[place + 1] == UInt8(ascii: "u"),
          let second = unit(bytes, place + 2), (0xdc00..<0xe000).contains(second)
        else { throw Problem.wrong("one half of a pair of surrogates", at: place) }
        scalar = 0x10000 + (UInt32(first) - 0xd800) << 10 + (UInt32(second) - 0xdc00)
        place += 6
      }
      guard let character = UnicodeScalar(scalar) else {
        throw Problem.wrong("one half of a pair of surrogates", at: place)
      }
      text.append(contentsOf: Character(character).utf8)
    }
  }

  /// The number of four hexadecimal digits; nil for other bytes.
  private static func unit(_ bytes: UnsafeRawBufferPointer, _ place: Int) -> UInt16? {
    guard place + 4 <= bytes.count else { return nil }
    let digits = bytes[place..<place + 4]
    guard digits.allSatisfy({ ($0 >= 48 && $0 <= 57) || ($0 | 32 >= 97 && $0 | 32 <= 102) }) else { return nil }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }
}

extension Value {
  /// The value of a JSON text. Integers that fit in 64 bits become integers, other numbers doubles, or decimals if a
  /// double cannot hold all digits.
  ///
  /// For example, `{"a": [1, 2.5]}` becomes a map with a list. Throws `JSONScanner.Problem.wrong`
  /// for a text that is no JSON, and for a name that occurs twice in an object.
  init(json bytes: UnsafeRawBufferPointer) throws {
    var scanner = JSONScanner(bytes, isWhole: true)
    self = try Self.read(&scanner, bytes)
  }

  /// Reads the value at the scanner's position.
  private static func read(_ scanner: inout JSONScanner, _ bytes: UnsafeRawBufferPointer) throws -> Value {
    if try scanner.passOver("[") {
      var list: [Value] = []
      if try scanner.passOver("]") { return .list(list) }
      repeat { list.append(try read(&scanner, bytes)) } while try scanner.passOver(",")
      try scanner.consume("]")
      return .list(list)
    }
    if try scanner.passOver("{") {
      var map: [String: Value] = [:]
      if try scanner.passOver("}") { return .map(map) }
      repeat {
        let (range, isEscaped) = try scanner.string()
        let name = try text(UnsafeRawBufferPointer(rebasing: bytes[range]), isEscaped)
        guard map[name] == nil else {
          throw JSONScanner.Problem.wrong("the name \"\(name)\" comes twice", at: range.lowerBound)
        }
        try scanner.consume(":")
        map[name] = try read(&scanner, bytes)
      } while try scanner.passOver(",")
      try scanner.consume("}")
      return .map(map)
    }
    let (kind, range, isEscaped) = try scanner.value()
    let part = UnsafeRawBufferPointer(rebasing: bytes[range])
    switch kind {
    case .missing, .none, .nested, .binary: return .null
    case .bool: return .bool(part.first == UInt8(ascii: "t"))
    case .text: return .string(try text(part, isEscaped))
    case .number:
      let digits = String(decoding: part, as: UTF8.self)
      if let number = Int64(digits) { return .int(number) }
      if NumberForm(part)?.isDouble(part) != true, let number = Decimal(literal: digits) { return .decimal(number) }
      guard let number = Double(digits), number.isFinite else {
        throw JSONScanner.Problem.wrong("the number \(digits) is too large", at: range.lowerBound)
      }
      return .double(number)
    }
  }

  /// The text of bytes within quotes. Throws `JSONScanner.Problem.wrong` if it is not UTF-8.
  private static func text(_ bytes: UnsafeRawBufferPointer, _ isEscaped: Bool) throws -> String {
    var copy: [UInt8] = []
    if isEscaped { try JSONScanner.unescape(bytes, into: &copy) } else { copy = Array(bytes) }
    guard let text = String(validating: copy, as: UTF8.self) else {
      throw JSONScanner.Problem.wrong("a text is not UTF-8", at: 0)
    }
    return text
  }
}
