package import MoonbasePlatform

extension Decimal {
  /// The least power of ten of a decimal.
  private static let leastExponent = -128

  /// The product. Foundation's operator traps if the sum of the exponents is below a decimal's least exponent. Here
  /// digits below it are rounded off, and a product too small for a decimal is 0.
  package func product(_ other: Decimal) -> Decimal {
    if isNaN || other.isNaN { return .nan }
    let scale = exponent + other.exponent
    if scale >= Self.leastExponent { return self * other }
    return Self.rounded(
      significand.magnitude * other.significand.magnitude, scale: scale, isNegative: isSignMinus != other.isSignMinus)
  }

  /// The quotient by a number other than 0. Foundation's operator returns NaN if its 38 digits reach below the least
  /// exponent. Here those digits are rounded off, and a quotient too small for a decimal is 0.
  package func quotient(_ other: Decimal) -> Decimal {
    let plain = self / other
    let scale = exponent - other.exponent
    guard plain.isNaN, scale < 0, !isNaN, !other.isNaN, !other.isZero else { return plain }
    return Self.rounded(
      significand.magnitude / other.significand.magnitude, scale: scale, isNegative: isSignMinus != other.isSignMinus)
  }

  /// The number scaled by a power of ten, rounded to a decimal's least exponent.
  private static func rounded(_ exact: Decimal, scale: Int, isNegative: Bool) -> Decimal {
    var digits = exact
    let excess = leastExponent - scale - digits.exponent
    if excess > 0 {
      var rounded = Decimal()
      NSDecimalRound(&rounded, &digits, -(digits.exponent + excess), .plain)
      digits = rounded
    }
    return digits.isZero ? 0 : Decimal(sign: isNegative ? .minus : .plus, exponent: scale, significand: digits)
  }
}
