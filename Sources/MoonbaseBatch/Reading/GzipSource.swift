import MoonbaseCZlib
import MoonbasePlatform

/// Unpacks data with a gzip header, and passes other data through.
///
/// The first two bytes decide: `1f 8b` begins a gzip member (RFC 1952). A file may consist of
/// several members, one behind the other, as `cat a.gz b.gz` writes them.
final class GzipSource: ByteSource {
  /// Unknown until the first read, which looks at the first bytes.
  private enum State { case unknown, plain, packed }

  /// The size of the buffer of packed data, in bytes.
  private static let capacity = 1 << 16
  /// A window of 15 bits, with a gzip header.
  private static let window: Int32 = 15 + 16

  /// The source of the packed or plain data.
  private let base: any ByteSource
  private var state = State.unknown
  /// Data from `base` that is not returned or unpacked yet.
  private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
  /// The beginning of the data in `buffer`.
  private var start = 0
  /// The end of the data in `buffer`.
  private var end = 0
  /// At a fixed address, because zlib identifies the stream by it.
  private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
  /// Whether a gzip member has ended, so that the file may end.
  private var isBetweenParts = false

  /// A source that detects by itself whether `base` is packed.
  init(_ base: any ByteSource) {
    self.base = base
    stream.initialize(to: z_stream())
  }

  deinit {
    if state == .packed { inflateEnd(stream) }
    stream.deallocate()
    buffer.deallocate()
  }

  /// Whether positions in the output differ from those in the file.
  var isPacked: Bool { state == .packed }

  /// Reads unpacked bytes. Throws `InputError.unreadable` for data that is damaged or cut off.
  func read(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int {
    if state == .unknown { try begin() }
    if state == .packed { return try unpack(to: target, count) }
    guard start < end else { return try base.read(target, count) }
    let kept = min(count, end - start)
    memcpy(target, buffer + start, kept)
    start += kept
    return kept
  }

  /// Detects the form of the data, and prepares zlib for packed data.
  private func begin() throws {
    while end < 2 {
      let count = try base.read(buffer + end, Self.capacity - end)
      if count == 0 { break }
      end += count
    }
    state = .plain
    guard end >= 2, buffer[0] == 0x1f, buffer[1] == 0x8b else { return }
    guard inflateInit2_(stream, Self.window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
      throw InputError.unreadable("zlib cannot begin to unpack it")
    }
    state = .packed
  }

  /// Unpacks until there is output or the data ends.
  private func unpack(to target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int {
    while true {
      if start == end {
        (start, end) = (0, try base.read(buffer, Self.capacity))
        if end == 0 {
          guard isBetweenParts else { throw InputError.unreadable("its gzip data is cut off") }
          return 0
        }
      }
      let count = try step(target, count)
      if count > 0 { return count }
    }
  }

  /// Calls zlib once. Returns the number of bytes written, which may be 0.
  private func step(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int {
    let room = UInt32(clamping: count)
    (stream.pointee.next_in, stream.pointee.avail_in) = (buffer + start, UInt32(end - start))
    (stream.pointee.next_out, stream.pointee.avail_out) = (target, room)
    let status = inflate(stream, Z_NO_FLUSH)
    start = end - Int(stream.pointee.avail_in)
    switch status {
    // A file may be a concatenation of gzip files.
    case Z_STREAM_END:
      isBetweenParts = true
      inflateReset(stream)
    case Z_OK, Z_BUF_ERROR: isBetweenParts = false
    default: throw InputError.unreadable("its gzip data is damaged")
    }
    return Int(room - stream.pointee.avail_out)
  }
}
