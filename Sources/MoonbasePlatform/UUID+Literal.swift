extension UUID {
  /// A random UUID. Foundation's `UUID()` opens a file, and returns zeros if no descriptor is free.
  package static func random() -> UUID {
    var random = SystemRandomNumberGenerator()
    let (high, low) = (random.next() as UInt64, random.next() as UInt64)
    func byte(_ word: UInt64, _ place: UInt64) -> UInt8 { UInt8(truncatingIfNeeded: word >> (56 - 8 * place)) }
    return UUID(
      uuid: (
        byte(high, 0), byte(high, 1), byte(high, 2), byte(high, 3), byte(high, 4), byte(high, 5),
        byte(high, 6) & 0x0F | 0x40, byte(high, 7), byte(low, 0) & 0x3F | 0x80, byte(low, 1), byte(low, 2),
        byte(low, 3), byte(low, 4), byte(low, 5), byte(low, 6), byte(low, 7)
      ))
  }

  /// Parses a whole text as a UUID; nil for other texts. Foundation ignores text after a zero byte.
  package init?(literal text: String) {
    guard text.utf8.count == 36 else { return nil }
    self.init(uuidString: text)
  }
}
