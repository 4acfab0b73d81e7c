import MoonbasePlatform

/// Numbers and quoted text.
extension PredicateParser {
  /// Consumes a number. Integers beyond 64 bits become decimals, as do numbers whose digits a Double would not keep.
  mutating func parseNumber(isNegative: Bool) throws(ModelError) -> Expression {
    let digits = text(of: token)
    if let date = unquotedDate() {
      let parts = date.split { $0 == "-" || $0 == "/" }
      let day = parts.map { $0.count == 1 ? "0\($0)" : String($0) }.joined(separator: "-")
      throw failure(
        "\(date) would be \(date.contains("/") ? "a division" : "a subtraction"): write '\(day)' for the date, and spaces "
          + "around the signs for the numbers")
    }
    let number = isNegative ? "-" + digits : digits
    guard let value = token.kind == .real ? real(number) : integer(number) else {
      throw failure("\(digits) is no number that can be represented")
    }
    try advance()
    return .constant(value)
  }

  /// A date of year, month and day, separated by `-` or `/` without spaces, that begins at the token.
  private func unquotedDate() -> String? {
    guard token.end - token.start == 4 else { return nil }
    let text = lexer.bytes[token.start...].prefix {
      $0 &- 48 < 10 || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "/")
    }
    let date = String(decoding: text, as: UTF8.self)
    return date.wholeMatch(of: /\d{4}(?:-\d\d?-|\/\d\d?\/)\d\d?/) == nil ? nil : date
  }

  /// The attribute on the other side is not known yet; a floating-point attribute rounds the number later.
  ///
  /// The value of a number with a point or an exponent; nil if it is out of range.
  private func real(_ text: String) -> Value? {
    guard let number = Double(text), number.isFinite else { return nil }
    // A Double keeps all digits of a number with up to 15 digits.
    guard text.utf8.count > 16, let decimal = Self.decimal(text, near: number),
      decimal != Decimal(literal: number.description)
    else {
      return .double(number)
    }
    return .decimal(decimal)
  }

  /// The decimal with all digits, or with the first 38; nil if the number is out of a decimal's range.
  private static func decimal(_ text: String, near number: Double) -> Decimal? {
    if let decimal = Decimal(literal: text) { return decimal }
    guard text.utf8.count <= Decimal.longestNumeral, let rounded = Decimal(string: text, locale: nil),
      Value.decimal(rounded).asDouble == number
    else { return nil }
    return rounded
  }

  /// The value of an integer literal; nil if it is out of range.
  private func integer(_ text: String) -> Value? {
    if let value = Int64(text) { return .int(value) }
    let unsigned = text.hasPrefix("-") ? text.dropFirst() : text[...]
    if let radix = Self.radix(of: unsigned) {
      return Int64((text.hasPrefix("-") ? "-" : "") + unsigned.dropFirst(2), radix: radix).map(Value.int)
    }
    return Decimal(literal: text).map(Value.decimal)
  }

  /// 16 for `0x1F`, 8 for `0o17`, 2 for `0b101`; nil for decimal digits.
  private static func radix(of digits: Substring) -> Int? {
    switch digits.prefix(2) {
    case "0x", "0X": 16
    case "0o": 8
    case "0b": 2
    default: nil
    }
  }

  /// The text between two quotation marks. An unknown escape keeps its backslash, so that regular expressions need no
  /// double backslashes.
  func string(_ start: Int, _ end: Int) throws(ModelError) -> String {
    let body = lexer.bytes[(start + 1)..<(end - 1)]
    guard body.contains(UInt8(ascii: "\\")) else { return String(decoding: body, as: UTF8.self) }
    var result: [UInt8] = []
    var index = body.startIndex
    while index < body.endIndex {
      guard body[index] == UInt8(ascii: "\\") else {
        result.append(body[index])
        index += 1
        continue
      }
      index += 1
      try appendEscape(at: &index, of: body, to: &result)
    }
    return String(decoding: result, as: UTF8.self)
  }

  /// Appends the character of an escape such as `\n` or `\u00e9`. Throws for an incomplete number.
  private func appendEscape(
    at index: inout Int, of body: ArraySlice<UInt8>, to result: inout [UInt8]
  ) throws(ModelError) {
    let letter = body[index]
    index += 1
    switch letter {
    case UInt8(ascii: "n"): result.append(10)
    case UInt8(ascii: "r"): result.append(13)
    case UInt8(ascii: "t"): result.append(9)
    case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "'"): result.append(letter)
    case UInt8(ascii: "u"):
      let digits = String(decoding: body[index..<min(index + 4, body.endIndex)], as: UTF8.self)
      guard digits.utf8.count == 4, let code = UInt32(digits, radix: 16), let scalar = UnicodeScalar(code) else {
        throw lexer.error("expected four hexadecimal digits behind \\u", at: index)
      }
      result.append(contentsOf: Array(String(Character(scalar)).utf8))
      index += 4
    default: result.append(contentsOf: [UInt8(ascii: "\\"), letter])
    }
  }
}
