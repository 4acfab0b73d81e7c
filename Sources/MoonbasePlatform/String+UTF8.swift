extension String {
  /// The text of UTF-8 bytes; nil if they are none.
  ///
  /// What is not UTF-8 comes out repaired, which is another text. `String(validating:as:)` decodes every byte by generic code.
  package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    guard bytes.mayBeUTF8 else { return nil }
    self.init(decoding: bytes, as: UTF8.self)
    guard let start = bytes.baseAddress else { return }
    let isSame = utf8.withContiguousStorageIfAvailable { own in
      guard own.count == bytes.count, let first = own.baseAddress else { return bytes.isEmpty }
      return memcmp(first, start, own.count) == 0
    }
    if isSame != true { return nil }
  }
}

extension UnsafeBufferPointer<UInt8> {
  /// Whether the first character beyond ASCII begins as one of UTF-8 does. Packed numbers seldom do, and to repair them all
  /// takes long.
  fileprivate var mayBeUTF8: Bool {
    let raw = UnsafeRawBufferPointer(self)
    var place = 0
    while count - place >= 8, raw.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 == 0 {
      place += 8
    }
    guard let first = self[place...].firstIndex(where: { $0 >= 0x80 }) else { return true }
    return (0xC2...0xF4).contains(self[first]) && first + 1 < count && (0x80...0xBF).contains(self[first + 1])
  }
}
