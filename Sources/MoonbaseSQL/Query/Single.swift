/// Single-precision numbers in columns of double precision.
///
/// Another program may have stored 1.7 for a float attribute instead of the nearest float. The number is read as that
/// float, and conditions select the range of all numbers that are read as it.
package enum Single {
  /// The float that a column's number is read as. Numbers that would become infinite or zero are unchanged. Used as a
  /// SQL function (`PredicateFunctions.single`) and when rows are decoded.
  package static func value(of number: Double) -> Double {
    let single = Double(Float(number))
    return single.isFinite && (single != 0 || number == 0) ? single : number
  }

  /// The range of numbers that are read as this float. Nil for a number that is no float. The number 1.7 as a float,
  /// for example, stands for all doubles between the midpoints to the neighbouring floats.
  static func range(of number: Double) -> ClosedRange<Double>? {
    let single = Float(number)
    guard single.isFinite, Double(single) == number, single != 0 else { return nil }
    let (below, above) = (Double(single.nextDown), Double(single.nextUp))
    guard below.isFinite, above.isFinite else { return nil }
    // A number in the middle is rounded to the neighbour whose last bit is zero.
    let (lower, upper) = ((below + number) / 2, (number + above) / 2)
    return (value(of: lower) == number ? lower : lower.nextUp)...(value(of: upper) == number ? upper : upper.nextDown)
  }
}
