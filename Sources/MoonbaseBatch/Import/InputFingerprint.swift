import MoonbasePlatform

/// By what a later run recognises an input: what is in it, and not when it was written.
package struct InputFingerprint {
  /// Size and digest.
  let content: String
  /// What was noted before contents were: size and time.
  let former: String?
  /// A digest of what stands before a place.
  let before: (Int64) -> String?

  /// What agrees with what an earlier run noted.
  enum Agreement { case same, changed, unknown }

  init(content: String, former: String? = nil, before: @escaping (Int64) -> String? = { _ in nil }) {
    (self.content, self.former, self.before) = (content, former, before)
  }

  /// Whether two looks saw one file that nobody wrote to meanwhile.
  package static func isSame(_ one: InputFingerprint?, _ other: InputFingerprint?) -> Bool {
    one?.content == other?.content && one?.former == other?.former
  }

  /// Compares it with what was noted, at a place up to which all was read.
  func agreement(with noted: String, before digest: String?, at offset: Int64) -> Agreement {
    if noted == former { return .same }
    if Self.isContent(content), !Self.isContent(noted) {
      // A run of before noted the time, which tells nothing where it is another one.
      return former?.split(separator: " ").first == noted.split(separator: " ").first ? .unknown : .changed
    }
    // What was read decides where the next record begins.
    return noted == content && (digest == nil || digest == before(offset)) ? .same : .changed
  }

  private static func isContent(_ text: String) -> Bool { text.hasPrefix("content ") }
}

extension InputFingerprint {
  private static let wholeSize: Int64 = 512 << 10
  private static let edge = 64 << 10
  private static let part = 4 << 10
  private static let parts: Int64 = 62

  /// Of a file of so many bytes that is open: all of a small one; of a large one the beginning, the end and parts in between.
  static func content(of descriptor: Int32, size: Int64) -> String {
    var bytes = Data()
    if size <= wholeSize {
      append(descriptor, at: 0, Int(size), to: &bytes)
    } else {
      append(descriptor, at: 0, edge, to: &bytes)
      for number in 1...parts { append(descriptor, at: size / (parts + 1) * number, part, to: &bytes) }
      append(descriptor, at: size - Int64(edge), edge, to: &bytes)
    }
    return "content \(size) \(SHA2.shortText(bytes))"
  }

  /// Of the bytes before a place, so many that a record begins behind them as it did.
  static func digest(of descriptor: Int32, before offset: Int64) -> String {
    var bytes = Data()
    let count = min(offset, Int64(part))
    append(descriptor, at: offset - count, Int(count), to: &bytes)
    return SHA2.shortText(bytes)
  }

  private static func append(_ descriptor: Int32, at offset: Int64, _ count: Int, to bytes: inout Data) {
    var buffer = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let step = buffer.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + Int64(done)))
      }
      if step < 0, errno == EINTR { continue }
      // A file that ends before is another one, and has another digest.
      guard step > 0 else { break }
      done += step
    }
    bytes.append(contentsOf: buffer[..<done])
  }
}
