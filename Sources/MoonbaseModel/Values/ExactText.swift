/// A text that equals no other than itself, as SQLite and Lua see text. To Swift a composed and a decomposed é are equal.
package struct ExactText: Hashable, Sendable {
  private let text: String

  init(_ text: String) { self.text = text }

  package static func == (left: ExactText, right: ExactText) -> Bool { areSame(left.text, right.text) }

  package func hash(into hasher: inout Hasher) {
    let bytes = text.utf8
    if bytes.withContiguousStorageIfAvailable({ hasher.combine(bytes: UnsafeRawBufferPointer($0)) }) == nil {
      for byte in bytes { hasher.combine(byte) }
    }
    // So that two texts side by side are not hashed as one.
    hasher.combine(0xff as UInt8)
  }

  /// Whether two texts have the same code points.
  package static func areSame(_ left: String, _ right: String) -> Bool {
    let count = left.utf8.count
    guard count == right.utf8.count else { return false }
    if haveSameWords(left, right) { return true }
    // Swift keeps so short a text in these words themselves, and tells two apart faster than their bytes do.
    if count < 16, left != right { return false }
    return Value.compareBytes(left, right) == .same
  }

  /// Whether both are one text by the two words that make a `String`: most texts that are assigned again are. Whatever the words
  /// mean, the same ones are the same text.
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
  /// The value of a key with these very code points.
  func value(exactly key: String) -> Value? {
    guard let index = index(forKey: key), ExactText.areSame(self[index].key, key) else { return nil }
    return self[index].value
  }
}
