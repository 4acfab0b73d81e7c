extension Decimal {
  /// The bytes of a numeral at most: a decimal has 38 digits, and each zero more is gone through many times.
  package static let longestNumeral = 1000

  /// Reads a whole text as a decimal number, with a point whatever the locale; nil for anything else, and for a number that does not
  /// fit with all of its digits.
  package init?(literal text: String) {
    guard let value = DecimalNumeral(text)?.value else { return nil }
    self = value
  }

  /// The text for `NSDecimalNumber.notANumber` in a store's column and in output.
  package static let notANumberText = "NaN"

  /// Reads what stores and files have of a decimal: a numeral, or `NaN`.
  package init?(stored text: String) {
    if text == Self.notANumberText { self = .nan } else { self.init(literal: text) }
  }

  /// What is wrong with a number in text that does not fit; nil for a text that is no number.
  package static func misfit(_ text: String) -> String? {
    DecimalNumeral(text).map { _ in
      "does not fit exactly: a decimal keeps 38 digits, and powers of ten from -128 to 127"
    }
  }
}

/// A number in text, taken apart: its digits from the first that is not zero, and the power of ten that the last one counts.
///
/// Foundation stops at what it does not understand, and rounds off digits that do not fit.
private struct DecimalNumeral {
  private let isNegative: Bool
  private var digits: [UInt8]
  private var exponent: Int

  /// Nil for what is no number.
  init?(_ text: String) {
    guard text.utf8.count <= Decimal.longestNumeral else { return nil }
    var rest = text.utf8[...]
    isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    digits = Self.takeDigits(&rest)
    let fraction = Self.takeFraction(&rest)
    guard !(digits.isEmpty && fraction.isEmpty), let power = Self.power(rest) else { return nil }
    digits += fraction
    exponent = power - fraction.count
    trim()
  }

  private static func takeDigits(_ rest: inout Substring.UTF8View) -> [UInt8] {
    let digits = rest.prefix { $0 &- 0x30 < 10 }
    rest = rest.dropFirst(digits.count)
    return Array(digits)
  }

  private static func takeFraction(_ rest: inout Substring.UTF8View) -> [UInt8] {
    guard rest.first == UInt8(ascii: ".") else { return [] }
    rest.removeFirst()
    return takeDigits(&rest)
  }

  /// What stands behind the digits as a power of ten; one that no decimal has is cut off.
  private static func power(_ text: Substring.UTF8View) -> Int? {
    guard let sign = text.first else { return 0 }
    guard sign | 0x20 == UInt8(ascii: "e") else { return nil }
    var rest = text.dropFirst()
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    let digits = takeDigits(&rest)
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
    // Written out again where the power of ten alone is too great.
    while exponent > 127, !digits.isEmpty, digits.count < 39 {
      digits.append(0x30)
      exponent -= 1
    }
  }

  /// Nil where digits would be lost.
  var value: Decimal? {
    if digits.isEmpty { return 0 }
    let text = String(decoding: digits, as: UTF8.self)
    // The digits lie in 128 bits.
    guard digits.count < 39 || UInt128(text) != nil, (-128...127).contains(exponent) else { return nil }
    guard let value = Decimal(string: "\(isNegative ? "-" : "")\(text)e\(exponent)", locale: nil), !value.isNaN else {
      return nil
    }
    return value
  }
}
