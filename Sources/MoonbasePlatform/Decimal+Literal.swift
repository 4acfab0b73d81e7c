extension Decimal {
  /// The longest numeral that is parsed. A decimal has 38 digits, and each further zero costs time.
  package static let longestNumeral = 1000

  /// Parses a whole text as a decimal number, with a point in every locale; nil for other texts, and for a number that
  /// does not fit exactly.
  package init?(literal text: String) {
    guard let value = DecimalNumeral(text)?.value else { return nil }
    self = value
  }

  /// The text for `NSDecimalNumber.notANumber` in a store's column and in output.
  package static let notANumberText = "NaN"

  /// Parses a decimal from stores and files: a numeral, or `NaN`.
  package init?(stored text: String) {
    if text == Self.notANumberText { self = .nan } else { self.init(literal: text) }
  }

  /// The problem of a number that does not fit; nil for a text that is no number.
  package static func misfit(_ text: String) -> String? {
    DecimalNumeral(text).map { _ in
      "does not fit exactly: a decimal keeps 38 digits, and powers of ten from -128 to 127"
    }
  }
}

/// A parsed number: its digits without leading zeros, and the power of ten of the last digit.
///
/// Foundation's parser stops at characters that it does not know, and rounds digits that do not fit.
private struct DecimalNumeral {
  private let isNegative: Bool
  private var digits: [UInt8]
  private var exponent: Int

  /// Returns nil for a text that is no number.
  init?(_ text: String) {
    guard text.utf8.count <= Decimal.longestNumeral else { return nil }
    var rest = text.utf8[...]
    isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    digits = Self.consumeDigits(&rest)
    let fraction = Self.consumeFraction(&rest)
    guard !(digits.isEmpty && fraction.isEmpty), let power = Self.power(rest) else { return nil }
    digits += fraction
    exponent = power - fraction.count
    trim()
  }

  private static func consumeDigits(_ rest: inout Substring.UTF8View) -> [UInt8] {
    let digits = rest.prefix { $0 &- 0x30 < 10 }
    rest = rest.dropFirst(digits.count)
    return Array(digits)
  }

  private static func consumeFraction(_ rest: inout Substring.UTF8View) -> [UInt8] {
    guard rest.first == UInt8(ascii: ".") else { return [] }
    rest.removeFirst()
    return consumeDigits(&rest)
  }

  /// The exponent after the digits, limited to a range beyond that of decimals.
  private static func power(_ text: Substring.UTF8View) -> Int? {
    guard let sign = text.first else { return 0 }
    guard sign | 0x20 == UInt8(ascii: "e") else { return nil }
    var rest = text.dropFirst()
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    let digits = consumeDigits(&rest)
    guard !digits.isEmpty, rest.isEmpty else { return nil }
    let power = digits.reduce(0) { min(100_000, 10 * $0 + Int($1 - 0x30)) }
    return isNegative ? -power : power
  }

  private mutating func trim() {
    digits.removeFirst(digits.prefix { $0 == 0x30 }.count)
    if digits.count > 38 || exponent < -128 {
      while digits.last == 0x30 {
        digits.removeLast()
        exponent += 1
      }
    }
    // Zeros are appended if only the power of ten is too great.
    while exponent > 127, !digits.isEmpty, digits.count < 39 {
      digits.append(0x30)
      exponent -= 1
    }
  }

  /// Nil if digits would be lost.
  var value: Decimal? {
    if digits.isEmpty { return 0 }
    let text = String(decoding: digits, as: UTF8.self)
    // The digits must fit in 128 bits.
    guard digits.count < 39 || UInt128(text) != nil, (-128...127).contains(exponent) else { return nil }
    guard let value = Decimal(string: "\(isNegative ? "-" : "")\(text)e\(exponent)", locale: nil), !value.isNaN else {
      return nil
    }
    return value
  }
}
