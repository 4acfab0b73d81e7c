import MoonbasePlatform

/// The identity by which a later run recognises an input: its content, not its modification time.
///
/// An import records the fingerprint in the ledger. So a file that was copied or touched is
/// accepted, and a file with other content is refused.
package struct InputFingerprint {
  /// The size and the digest.
  let content: String
  /// The identity used by earlier versions: the size and the time.
  let former: String?
  /// A digest of the bytes before a position.
  let before: (Int64) -> String?

  /// The result of comparing with the identity that an earlier run recorded.
  ///
  /// `unknown` means that only the time differs, in an entry of an earlier version.
  enum Agreement { case same, changed, unknown }

  /// A fingerprint with its parts.
  init(content: String, former: String? = nil, before: @escaping (Int64) -> String? = { _ in nil }) {
    (self.content, self.former, self.before) = (content, former, before)
  }

  /// Whether two fingerprints are of the same file, without writes in between.
  package static func isSame(_ one: InputFingerprint?, _ other: InputFingerprint?) -> Bool {
    one?.content == other?.content && one?.former == other?.former
  }

  /// Compares with a recorded identity, at a position up to which the input was read.
  func agreement(with noted: String, before digest: String?, at offset: Int64) -> Agreement {
    if noted == former { return .same }
    if Self.isContent(content), !Self.isContent(noted) {
      // An earlier version recorded the time, which decides nothing if it differs.
      return former?.split(separator: " ").first == noted.split(separator: " ").first ? .unknown : .changed
    }
    // The bytes read so far determine where the next record begins.
    return noted == content && (digest == nil || digest == before(offset)) ? .same : .changed
  }

  /// Whether a recorded identity has the current form.
  private static func isContent(_ text: String) -> Bool { text.hasPrefix("content ") }
}

extension InputFingerprint {
  /// Files up to this size, in bytes, are read as a whole.
  private static let wholeSize: Int64 = 512 << 10
  /// The bytes read at both ends of a large file.
  private static let edge = 64 << 10
  /// The bytes of each part in between, and the bytes before a position.
  private static let part = 4 << 10
  /// The number of parts in between.
  private static let parts: Int64 = 62

  /// The identity of an open file: a digest of a small file; of a large file, its beginning, its end and parts in
  /// between.
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

  /// A digest of the bytes before a position, enough to verify the beginning of the next record.
  static func digest(of descriptor: Int32, before offset: Int64) -> String {
    var bytes = Data()
    let count = min(offset, Int64(part))
    append(descriptor, at: offset - count, Int(count), to: &bytes)
    return SHA2.shortText(bytes)
  }

  /// Appends bytes of a file, or fewer if the file ends before.
  private static func append(_ descriptor: Int32, at offset: Int64, _ count: Int, to bytes: inout Data) {
    var buffer = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let step = buffer.withUnsafeMutableBytes {
        pread(descriptor, $0.baseAddress.map { $0 + done }, count - done, off_t(offset + Int64(done)))
      }
      if step < 0, errno == EINTR { continue }
      // A shorter file is another file with another digest.
      guard step > 0 else { break }
      done += step
    }
    bytes.append(contentsOf: buffer[..<done])
  }
}
