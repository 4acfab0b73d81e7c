import MoonbasePlatform

/// A window on the bytes of a file or a pipe. It contains the current record as a whole, and nothing else is kept.
///
/// A reader looks at `count` bytes from `base + start`, calls `more` if the record does not fit,
/// and `advance` after it. The window doubles up to `greatestRecord`, so the memory is bounded by
/// the longest record. Pointers into the window are invalid after `more`.
final class InputBytes {
  /// The beginning of the current record, and the end of the data read so far, in `base`.
  private(set) var start = 0
  /// The end of the data in the window, relative to `base`.
  private(set) var end = 0
  /// Whether no data follows `end`.
  private(set) var isAtEnd = false
  /// The memory of the window, owned by this object.
  private(set) var base: UnsafeMutablePointer<UInt8>
  /// The position of `start` in the input.
  private(set) var offset: Int64 = 0

  /// The end of the chain of sources.
  private let source: any ByteSource
  /// The size of the memory at `base`, in bytes.
  private var capacity = 1 << 18

  /// The longest record allowed. A longer one indicates a file of another format, or a quote without an end.
  static let greatestRecord = 64 << 20

  /// `closes` says whether the descriptor is closed at the end.
  convenience init(_ descriptor: Int32, closes: Bool, _ wait: InputWait? = nil) {
    self.init(FileSource(descriptor, closes: closes, wait))
  }

  /// A window on a source.
  init(_ source: any ByteSource) {
    self.source = source
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  /// The number of bytes available from `start` on.
  var count: Int { end - start }

  /// Advances by `count` bytes.
  func advance(by count: Int) {
    start += count
    offset += Int64(count)
  }

  /// Reads more data; returns false at the end. Positions relative to `start` remain valid.
  ///
  /// Throws `InputError.recordTooLong` if the window has its greatest size and is full.
  func more() throws -> Bool {
    if isAtEnd { return false }
    if start > 0 {
      memmove(base, base + start, count)
      (start, end) = (0, count)
    }
    if end == capacity { try grow() }
    let read = try source.read(base + end, capacity - end)
    end += read
    isAtEnd = read == 0
    return read > 0
  }

  /// Skips a byte order mark of UTF-8. Throws for UTF-16.
  func skipMark() throws {
    while count < 3, try more() {}
    let first = Array(UnsafeBufferPointer(start: base + start, count: min(3, count)))
    if first == [0xef, 0xbb, 0xbf] { return advance(by: 3) }
    let form: String? =
      switch (first.first, first.dropFirst().first) {
      case (0xff, 0xfe), (0xfe, 0xff): "UTF-16"
      // Without a mark, every second byte of ASCII text is zero.
      case (0, let second?) where second != 0: "UTF-16BE"
      case (let first?, 0) where first != 0: "UTF-16LE"
      default: nil
      }
    guard let form else { return }
    throw InputError.malformed("the file is UTF-16: give --encoding \(form.lowercased())", line: 1)
  }

  /// Doubles the memory.
  private func grow() throws {
    guard capacity < Self.greatestRecord else { throw InputError.recordTooLong }
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
    memcpy(larger, base, end)
    base.deallocate()
    (base, capacity) = (larger, capacity * 2)
  }

  /// Skips input up to a position, to continue an earlier run.
  ///
  /// Throws `InputError.unreadable` if the input is shorter.
  func skip(to wanted: Int64) throws {
    while offset < wanted {
      if count == 0, try !more() { throw InputError.unreadable("it ends before the place to go on from") }
      advance(by: Int(min(Int64(count), wanted - offset)))
    }
  }
}

/// An error in an input as a whole, or in a record.
enum InputError: Error {
  /// The input cannot be read further: an error of the system, damaged data, or an array that does
  /// not end.
  case unreadable(String)
  /// A record has more than `InputBytes.greatestRecord` bytes.
  case recordTooLong
  /// The run must end before data arrived.
  case interrupted
  /// The record is unreadable; it begins on the reader's line.
  case malformed(String, line: Int64)
}
