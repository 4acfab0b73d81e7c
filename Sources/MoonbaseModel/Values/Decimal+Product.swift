package import MoonbasePlatform

extension Decimal {
  private static let leastExponent = -128

  /// The product. Foundation's own operator traps where the exponents add up to less than a decimal can have; here the digits
  /// that are too small for it are rounded off, and a product that is smaller than all is 0.
  package func product(_ other: Decimal) -> Decimal {
    if isNaN || other.isNaN { return .nan }
    let scale = exponent + other.exponent
    if scale >= Self.leastExponent { return self * other }
    var digits = significand.magnitude * other.significand.magnitude
    let excess = Self.leastExponent - scale - digits.exponent
    if excess > 0 {
      var rounded = Decimal()
      NSDecimalRound(&rounded, &digits, -(digits.exponent + excess), .plain)
      digits = rounded
    }
    let isNegative = isSignMinus != other.isSignMinus
    return digits.isZero ? 0 : Decimal(sign: isNegative ? .minus : .plus, exponent: scale, significand: digits)
  }
}
