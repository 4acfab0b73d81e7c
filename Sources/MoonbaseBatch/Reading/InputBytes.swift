import MoonbasePlatform

/// A window on the bytes of a file or a pipe: what a record needs stands in it as a whole, and nothing else is kept.
final class InputBytes {
  /// The beginning of the record that is being read, and the end of what was read so far, in `base`.
  private(set) var start = 0
  private(set) var end = 0
  /// Whether nothing follows `end`.
  private(set) var isAtEnd = false
  private(set) var base: UnsafeMutablePointer<UInt8>
  /// The place of `start` in the input.
  private(set) var offset: Int64 = 0

  private let source: any ByteSource
  private var capacity = 1 << 18

  /// Longer records are refused: what looks like one is a file in another form, or a quote without an end.
  static let greatestRecord = 64 << 20

  /// The descriptor is closed at the end where `closes` says so.
  convenience init(_ descriptor: Int32, closes: Bool, _ wait: InputWait? = nil) {
    self.init(FileSource(descriptor, closes: closes, wait))
  }

  init(_ source: any ByteSource) {
    self.source = source
    base = .allocate(capacity: capacity)
  }

  deinit { base.deallocate() }

  /// How many bytes of the record there are.
  var count: Int { end - start }

  /// Goes on to the byte behind so many.
  func advance(by count: Int) {
    start += count
    offset += Int64(count)
  }

  /// Reads more behind what there is; false at the end. Places are relative to `start`, and stay what they were.
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

  /// A mark of UTF-8 at the beginning is passed over; text in UTF-16 is none that could be read.
  func skipMark() throws {
    while count < 3, try more() {}
    let first = Array(UnsafeBufferPointer(start: base + start, count: min(3, count)))
    if first == [0xef, 0xbb, 0xbf] { return advance(by: 3) }
    let form: String? =
      switch (first.first, first.dropFirst().first) {
      case (0xff, 0xfe), (0xfe, 0xff): "UTF-16"
      // Without a mark each second byte of plain letters is zero.
      case (0, let second?) where second != 0: "UTF-16BE"
      case (let first?, 0) where first != 0: "UTF-16LE"
      default: nil
      }
    guard let form else { return }
    throw InputError.malformed("the file is UTF-16: give --encoding \(form.lowercased())", line: 1)
  }

  private func grow() throws {
    guard capacity < Self.greatestRecord else { throw InputError.recordTooLong }
    let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity * 2)
    memcpy(larger, base, end)
    base.deallocate()
    (base, capacity) = (larger, capacity * 2)
  }

  /// Passes over so many bytes of the input, as a run that goes on does.
  func skip(to wanted: Int64) throws {
    while offset < wanted {
      if count == 0, try !more() { throw InputError.unreadable("it ends before the place to go on from") }
      advance(by: Int(min(Int64(count), wanted - offset)))
    }
  }
}

/// What is wrong with an input as a whole, or with a record of it.
enum InputError: Error {
  case unreadable(String)
  case recordTooLong
  /// All is to end, and nothing came by then.
  case interrupted
  /// The record cannot be understood; it begins in the line that the reader stands in.
  case malformed(String, line: Int64)
}
