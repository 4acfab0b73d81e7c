import MoonbasePlatform

/// The notation of a number: `-12.50e3`. Notations such as `007`, `+49` and `.5` are texts, because a number would not
/// restore them.
///
/// `ColumnProfile` uses the notation to find a type that keeps each text as it is. For `-12.50e3`:
/// `whole` is 2, `fraction` 2, `exponent` 3, `significant` 3, and `endsWithZero` is true.
struct NumberForm {
  /// Whether the text begins with a minus sign.
  let isNegative: Bool
  /// The number of digits before and after the point.
  let whole: Int
  /// The number of digits after the point.
  let fraction: Int
  /// The power of ten behind `e`; nil for a plain number.
  let exponent: Int?
  /// The number of digits from the first to the last nonzero digit.
  let significant: Int
  /// Whether the last digit after the point is a zero.
  let endsWithZero: Bool

  /// Returns nil for a text that is no number, or a number in another notation.
  init?(_ bytes: UnsafeRawBufferPointer) {
    var place = 0
    isNegative = bytes.first == UInt8(ascii: "-")
    if isNegative { place = 1 }
    let start = place
    var (first, last) = (-1, -1)
    func consumeDigits() {
      while place < bytes.count, bytes[place] &- 48 < 10 {
        if bytes[place] != 48 {
          if first < 0 { first = place }
          last = place
        }
        place += 1
      }
    }
    consumeDigits()
    whole = place - start
    guard whole > 0, whole == 1 || bytes[start] != 48 else { return nil }
    let point = place
    if place < bytes.count, bytes[place] == UInt8(ascii: ".") {
      place += 1
      consumeDigits()
      fraction = place - point - 1
      guard fraction > 0 else { return nil }
    } else {
      fraction = 0
    }
    endsWithZero = fraction > 0 && bytes[place - 1] == 48
    // The point is not counted as a digit.
    significant = first < 0 ? 0 : last - first + (first < point && last > point ? 0 : 1)
    guard place < bytes.count else {
      exponent = nil
      return
    }
    guard bytes[place] | 0x20 == UInt8(ascii: "e") else { return nil }
    place += 1
    let isDivided = place < bytes.count && bytes[place] == UInt8(ascii: "-")
    if place < bytes.count, isDivided || bytes[place] == UInt8(ascii: "+") { place += 1 }
    let digits = bytes[place...]
    guard (1...4).contains(digits.count), digits.allSatisfy({ $0 &- 48 < 10 }) else { return nil }
    let power = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
    exponent = isDivided ? -power : power
  }

  /// Whether the number has no exponent and is not a negative zero.
  private var isPlain: Bool { exponent == nil && (significant > 0 || !isNegative) }

  /// Whether a 64-bit integer has exactly this text.
  func isInteger(_ text: UnsafeRawBufferPointer) -> Bool {
    guard isPlain, fraction == 0 else { return false }
    return whole <= 18 || Int64(String(decoding: text, as: UTF8.self)) != nil
  }

  /// Whether a decimal holds all digits, except trailing zeros.
  ///
  /// The limit is 38 digits, which the coefficient of `Decimal` holds.
  var isDecimal: Bool { isPlain && whole + fraction <= 38 }

  /// Whether a double is written exactly like the text.
  func isWrittenAsDouble(_ text: UnsafeRawBufferPointer) -> Bool {
    guard fraction > 0 || exponent != nil, text.count <= 32 else { return false }
    let text = String(decoding: text, as: UTF8.self)
    return Double(text).map { "\($0)" } == text
  }

  /// Whether a double in its shortest notation is the same number.
  ///
  /// Numbers with up to 15 significant digits always are. For more digits, the text of the double
  /// is compared digit by digit.
  func isDouble(_ text: UnsafeRawBufferPointer) -> Bool {
    let power = exponent ?? 0
    if significant <= 15, (-250...250).contains(power), whole + fraction <= 40 { return true }
    guard significant <= 17, let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
      return false
    }
    return "\(number)".utf8.withContiguousStorageIfAvailable {
      Self.digits(UnsafeRawBufferPointer($0)) == Self.digits(text)
    } == true
  }

  /// The digits from the first to the last nonzero digit, and the power of ten of the last.
  private static func digits(_ text: UnsafeRawBufferPointer) -> [Int] {
    var digits: [Int] = []
    var (power, isFraction) = (0, false)
    var rest = text[...]
    while let letter = rest.first, letter | 0x20 != UInt8(ascii: "e") {
      if letter == UInt8(ascii: ".") { isFraction = true }
      if letter &- 48 < 10 {
        if letter != 48 || !digits.isEmpty { digits.append(Int(letter - 48)) }
        if isFraction { power -= 1 }
      }
      rest.removeFirst()
    }
    while digits.last == 0 {
      digits.removeLast()
      power += 1
    }
    power += Int(String(decoding: rest.dropFirst(), as: UTF8.self)) ?? 0
    return digits.isEmpty ? [] : digits + [power]
  }
}
