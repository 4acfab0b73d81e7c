package import MoonbasePlatform

extension Decimal {
  private static let leastExponent = -128

  /// The product. Foundation's own operator traps where the exponents add up to less than a decimal can have; here the digits
  /// that are too small for it are rounded off, and a product that is smaller than all is 0.
  package func product(_ other: Decimal) -> Decimal {
    if isNaN || other.isNaN { return .nan }
    let scale = exponent + other.exponent
    if scale >= Self.leastExponent { return self * other }
    return Self.rounded(
      significand.magnitude * other.significand.magnitude, scale: scale, isNegative: isSignMinus != other.isSignMinus)
  }

  /// The quotient by a number that is not 0. Foundation's own operator has none where the 38 digits that it computes reach below the
  /// least exponent; here those digits are rounded off, and a quotient that is smaller than all is 0.
  package func quotient(_ other: Decimal) -> Decimal {
    let plain = self / other
    let scale = exponent - other.exponent
    guard plain.isNaN, scale < 0, !isNaN, !other.isNaN, !other.isZero else { return plain }
    return Self.rounded(
      significand.magnitude / other.significand.magnitude, scale: scale, isNegative: isSignMinus != other.isSignMinus)
  }

  /// Digits with their point moved left, as far as a decimal has them.
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
