/// A sum of integers that does not overflow.
struct WideSum {
  /// The sum is `high * 2^32 + low`.
  private var high: Int64 = 0
  private var low: Int64 = 0

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
