/// Numbers of single precision in columns of double precision.
///
/// Another program may have written 1.7 where a float attribute keeps the float that is next to it: such a number is read as that
/// float, and conditions find it by ranges of all that are.
package enum Single {
  /// The float that a column's number is read as. What single precision would make infinite or zero stays as it is.
  package static func value(of number: Double) -> Double {
    let single = Double(Float(number))
    return single.isFinite && (single != 0 || number == 0) ? single : number
  }

  /// The least and the greatest number that are read as this one; nil for one that is no float.
  static func range(of number: Double) -> ClosedRange<Double>? {
    let single = Float(number)
    guard single.isFinite, Double(single) == number, single != 0 else { return nil }
    let (below, above) = (Double(single.nextDown), Double(single.nextUp))
    guard below.isFinite, above.isFinite else { return nil }
    // What lies in the middle belongs to the neighbour whose last bit is zero.
    let (lower, upper) = ((below + number) / 2, (number + above) / 2)
    return (value(of: lower) == number ? lower : lower.nextUp)...(value(of: upper) == number ? upper : upper.nextDown)
  }
}
