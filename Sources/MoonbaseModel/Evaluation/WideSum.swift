/// A sum of integers that does not overflow.
///
/// `Reduction` sums integers with it, so that the order of the elements does not matter: an
/// intermediate sum beyond 64 bits is no error.
struct WideSum {
  /// The sum is `high * 2^32 + low`.
  private var high: Int64 = 0
  /// The lower part, from 0 to `2^32 - 1`.
  private var low: Int64 = 0

  /// Adds a number. Up to 2^31 numbers of any size can be added.
  mutating func add(_ number: Int64) {
    high += number >> 32
    low += number & 0xffff_ffff
    if low > 0xffff_ffff {
      high += low >> 32
      low &= 0xffff_ffff
    }
  }

  /// The sum as an integer if it fits in 64 bits, else as the nearest double.
  var value: Value {
    if let whole = Int32(exactly: high) { return .int(Int64(whole) << 32 | low) }
    return .double(Double(high) * 0x1p32 + Double(low))
  }
}
