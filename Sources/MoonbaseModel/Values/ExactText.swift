/// A text compared by code points, as in SQLite and Lua. Swift's `String` treats a composed and a decomposed é as
/// equal.
///
/// The type serves as a key of dictionaries and sets. Equality first compares the two words of the
/// string, which decides most cases.
package struct ExactText: Hashable, Sendable {
  /// The text.
  private let text: String

  /// A text as a key.
  init(_ text: String) { self.text = text }

  /// Whether both texts have the same code points.
  package static func == (left: ExactText, right: ExactText) -> Bool { areSame(left.text, right.text) }

  /// Hashes the bytes, in one step if they are contiguous.
  package func hash(into hasher: inout Hasher) {
    let bytes = text.utf8
    if bytes.withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { hasher.combine(byte) }
    }
    // A separator, so that adjacent texts do not hash like their concatenation.
    hasher.combine(0xff as UInt8)
  }

  /// Whether two texts have the same code points.
  package static func areSame(_ left: String, _ right: String) -> Bool {
    let count = left.utf8.count
    guard count == right.utf8.count else { return false }
    if haveSameWords(left, right) { return true }
    // Swift stores such short texts inline in these words, and `!=` is faster than comparing bytes.
    if count < 16, left != right { return false }
    return Value.compareBytes(left, right) == .same
  }

  /// Whether both strings have the same two-word representation, as is usual when a value is assigned again. Equal
  /// words always mean equal text.
  @inline(__always)
  private static func haveSameWords(_ left: String, _ right: String) -> Bool {
    withUnsafeBytes(of: left) { left in
      withUnsafeBytes(of: right) { right in
        left.loadUnaligned(as: UInt64.self) == right.loadUnaligned(as: UInt64.self)
          && left.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            == right.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
      }
    }
  }
}

extension [String: Value] {
  /// The value of a key with exactly these code points.
  func value(exactly key: String) -> Value? {
    guard let index = index(forKey: key), ExactText.areSame(self[index].key, key) else { return nil }
    return self[index].value
  }
}
