import ArgumentParser

/// A number of bytes. The suffixes K, M and G stand for 1024, its square and its cube.
///
/// Example: `64M` is 67108864 bytes.
struct ByteCount: ExpressibleByArgument {
  /// The number.
  let bytes: UInt64

  /// Returns nil for a text that is no whole number, and for a number that is too large.
  init?(argument text: String) {
    let powers: [Character: Int] = ["K": 1, "M": 2, "G": 3]
    let power = text.last.flatMap { powers[Character($0.uppercased())] } ?? 0
    let digits = power == 0 ? text : String(text.dropLast())
    guard let number = UInt64(digits) ?? Double(digits).flatMap(UInt64.init(exactly:)) else { return nil }
    let (bytes, isTooLarge) = number.multipliedReportingOverflow(by: 1 << (10 * UInt64(power)))
    guard !isTooLarge else { return nil }
    self.bytes = bytes
  }
}
