extension String {
  /// The text of UTF-8 bytes; nil if they are none.
  ///
  /// Most texts are ASCII, which is seen at a glance; `String(validating:as:)` decodes every byte by generic code.
  package init?(validUTF8 bytes: UnsafeBufferPointer<UInt8>) {
    if bytes.isASCII {
      self.init(decoding: bytes, as: UTF8.self)
    } else {
      self.init(validating: bytes, as: UTF8.self)
    }
  }
}

extension UnsafeBufferPointer<UInt8> {
  fileprivate var isASCII: Bool {
    let raw = UnsafeRawBufferPointer(self)
    var place = 0
    while count - place >= 8 {
      if raw.loadUnaligned(fromByteOffset: place, as: UInt64.self) & 0x8080_8080_8080_8080 != 0 { return false }
      place += 8
    }
    return self[place...].allSatisfy { $0 < 0x80 }
  }
}
