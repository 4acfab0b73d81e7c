extension String {
  /// The text of UTF-8 bytes; nil if they are none.
  ///
  /// What is not UTF-8 comes out repaired, which is another text. `String(validating:as:)` decodes every byte by generic code.
  package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    self.init(decoding: bytes, as: UTF8.self)
    guard let start = bytes.baseAddress else { return }
    let isSame = utf8.withContiguousStorageIfAvailable { own in
      guard own.count == bytes.count, let first = own.baseAddress else { return bytes.isEmpty }
      return memcmp(first, start, own.count) == 0
    }
    if isSame != true { return nil }
  }
}
