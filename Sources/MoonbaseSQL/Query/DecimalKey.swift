package import MoonbaseModel
package import MoonbasePlatform

/// A number as bytes that sort in the exact order of the numbers. Decimals are compared by these keys in SQL, because a
/// column stores them as integers, floating-point numbers and text.
///
/// The first byte is the class (negative, zero, positive and so on), followed by the exponent in two bytes and the
/// digits as ASCII. For negative numbers all bytes are inverted. Equal numbers in different forms, as `1`, `1.0` and
/// `1e0`, have the same key. Stores register a function that computes keys (`PredicateFunctions.key(decimal:)`).
package struct DecimalKey {
  /// In the order of the numbers; the raw value is the first byte.
  private enum Class: UInt8 {
    case notANumber, negativeInfinity, negative, zero, positive, infinity
  }

  /// The bytes of the key.
  package let bytes: [UInt8]

  /// The key as the value of a parameter.
  package var data: Data { Data(bytes) }

  /// A key from finished bytes.
  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Makes the key of a number. Returns nil for other values and the NaN of doubles. The NaN of decimals sorts before
  /// all numbers.
  package init?(_ value: Value) {
    switch value.asNumber {
    case .int(let number): self.init(text: number.description)
    case .decimal(let number): self.init(text: number.description)
    case .double(let number) where number.isInfinite:
      self.init(bytes: [(number > 0 ? Class.infinity : .negativeInfinity).rawValue])
    case .double(let number) where !number.isNaN: self.init(text: number.description)
    default: return nil
    }
  }

  /// The key of a numeral in a string.
  private init?(text: String) {
    var copy = text
    guard let key = copy.withUTF8({ DecimalKey(text: $0) }) else { return nil }
    self = key
  }

  /// Parses a numeral such as `-12.5e3`. Returns nil for a text that is no number, or too long.
  ///
  /// Zero has a key of one byte, whatever its sign. Exponents beyond 16 bits are clamped.
  package init?(text: UnsafeBufferPointer<UInt8>) {
    var reader = Reader(text: text)
    if text.elementsEqual(Decimal.notANumberText.utf8) {
      bytes = [Class.notANumber.rawValue]
      return
    }
    guard text.count <= Decimal.longestNumeral, let number = reader.read() else { return nil }
    guard let first = number.digits.firstIndex(where: { $0 != 0x30 }),
      let last = number.digits.lastIndex(where: { $0 != 0x30 })
    else {
      bytes = [Class.zero.rawValue]
      return
    }
    let magnitude = UInt16(clamping: number.point - first + 0x8000)
    var bytes = [UInt8(truncatingIfNeeded: magnitude >> 8), UInt8(truncatingIfNeeded: magnitude)]
    bytes += number.digits[first...last]
    // Of two negative numbers with a common beginning the longer one is the lesser.
    if number.isNegative { bytes = bytes.map { ~$0 } + [0xff] }
    self.bytes = [(number.isNegative ? Class.negative : .positive).rawValue] + bytes
  }
}

/// Parses a numeral.
private struct Reader {
  /// The parts of a numeral.
  struct Number {
    var isNegative = false
    /// The ASCII digits before and after the point.
    var digits: [UInt8] = []
    /// The number of digits before the decimal point, after applying the exponent.
    var point = 0
  }

  /// The whole text.
  let text: UnsafeBufferPointer<UInt8>
  /// The index of the next byte.
  private var position = 0

  /// Begins at the first byte.
  init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

  /// The number; nil if the text is not a numeral to its end.
  mutating func read() -> Number? {
    var number = Number()
    number.isNegative = skip("-")
    if !number.isNegative { _ = skip("+") }
    readDigits(&number.digits)
    number.point = number.digits.count
    if skip(".") { readDigits(&number.digits) }
    if number.digits.isEmpty { return nil }
    if skip("e") || skip("E") {
      guard let exponent = exponent() else { return nil }
      number.point += exponent
    }
    return position == text.count ? number : nil
  }

  /// Skips a character if it is next. Returns whether it was.
  private mutating func skip(_ character: Unicode.Scalar) -> Bool {
    guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  /// Appends the digits that follow.
  private mutating func readDigits(_ digits: inout [UInt8]) {
    while position < text.count, text[position] &- 0x30 < 10 {
      digits.append(text[position])
      position += 1
    }
  }

  /// The digits after `e`, at most five; nil without any.
  private mutating func exponent() -> Int? {
    let isNegative = skip("-")
    if !isNegative { _ = skip("+") }
    var digits: [UInt8] = []
    readDigits(&digits)
    if digits.isEmpty { return nil }
    let magnitude = digits.prefix(5).reduce(0) { $0 * 10 + Int($1 - 0x30) }
    return isNegative ? -magnitude : magnitude
  }
}
