import MoonbasePlatform

/// Parses a write-ahead log.
///
/// SQLite's locks are on the store's file and on the log's index, so opening and closing the log itself releases none
/// of them.
///
/// SQLite's format: a header of 32 bytes, then frames of 24 bytes and a page each. A frame is valid if its salts equal
/// those of the header and the checksum continues that of the frame before. Used for two checks only: whether the log
/// has pages that the file lacks, and whether saves in the log are unreadable.
package final class WriteAheadLog {
  /// In bytes.
  private static let headSize = 32
  /// In bytes.
  private static let frameHeadSize = 24
  /// The first four bytes. With the lowest bit set, checksums are computed over big-endian words.
  private static let mark: UInt32 = 0x377f_0682

  /// The header of a frame: page number, number of pages of the database if the frame ends a transaction, and the salts
  /// of the log's header.
  struct FrameHead {
    /// The number of the page, from 1.
    let page: UInt32
    /// 0 for a frame within a transaction.
    let commit: UInt32
    /// Both salts in one number.
    let salts: UInt64
    /// The checksum after this frame.
    let sum: LogSum

    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
      (page, commit) = (bytes.bigEndian(at: 0), bytes.bigEndian(at: 4))
      salts = bytes.salts(at: 8)
      sum = LogSum(bytes, at: 16)
    }
  }

  /// Saved frames that SQLite does not read.
  package struct Loss: Equatable {
    /// The number of frames.
    package let frames: Int
    /// The bytes of these frames.
    package let bytes: Int
    /// Whether the header is damaged, so that SQLite reads nothing of the log.
    package let isAll: Bool
  }

  /// Open until the object is released.
  private let descriptor: Int32
  /// In bytes, from the header.
  private let pageSize: Int
  /// The order of bytes for checksums.
  private let isBigEndian: Bool
  /// The salts of the header.
  private let salts: UInt64
  /// The checksum of the header.
  private let sum: LogSum
  /// Whether SQLite accepts the header.
  private let isSound: Bool
  /// Whether the header consists of zeros, as after a checkpoint that keeps the file.
  private let isBlank: Bool

  /// Returns nil if there is no log, or an empty one.
  package init?(of file: StoreFile) {
    descriptor = open(file.truePath + "-wal", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    let head = Self.read(descriptor, at: 0, count: Self.headSize)
    guard head.count == Self.headSize else {
      close(descriptor)
      return nil
    }
    (pageSize, isBigEndian, salts, sum, isSound, isBlank) = head.withUnsafeBytes { bytes in
      let mark: UInt32 = bytes.bigEndian(at: 0)
      let size = Int(bytes.bigEndian(at: 8) as UInt32)
      var sum = LogSum()
      sum.add(UnsafeRawBufferPointer(rebasing: bytes[..<24]), isBigEndian: mark & 1 == 1)
      let isSound =
        mark & ~1 == Self.mark && (512...65_536).contains(size) && size & (size - 1) == 0
        && sum == LogSum(bytes, at: 24)
      return (size, mark & 1 == 1, bytes.salts(at: 16), sum, isSound, bytes.allSatisfy { $0 == 0 })
    }
  }

  /// SQLite's locks are not on this file, so closing it releases none.
  deinit { close(descriptor) }

  /// The bytes at an offset; fewer at the end of the file.
  private static func read(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
      size = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
    }
  }

  /// The offset of a frame.
  private func offset(_ index: Int) -> Int { Self.headSize + index * (Self.frameHeadSize + pageSize) }

  /// The header of a frame; nil after the last frame.
  private func head(_ index: Int) -> FrameHead? {
    let bytes = Self.read(descriptor, at: offset(index), count: Self.frameHeadSize)
    return bytes.count == Self.frameHeadSize ? bytes.withUnsafeBytes(FrameHead.init) : nil
  }

  // MARK: Pages

  /// The pages that the log provides to current readers. Only frame headers are read. A page of an unfinished
  /// transaction does not count. Empty for a damaged header.
  func committedPages() -> Set<UInt32> {
    guard isSound else { return [] }
    var committed: Set<UInt32> = [], waiting: [UInt32] = []
    var index = 0
    while let head = head(index), head.salts == salts {
      waiting.append(head.page)
      if head.commit > 0 {
        committed.formUnion(waiting)
        waiting = []
      }
      index += 1
    }
    return committed
  }

  // MARK: Damage

  /// The frames of transactions that SQLite does not read because of an invalid checksum in these or earlier frames.
  ///
  /// Frames from before a checkpoint have other salts, and an unfinished transaction has no commit frame; neither
  /// counts.
  ///
  /// Nil if nothing is lost. All checksums are computed, so the whole log is read.
  package func loss() throws -> Loss? {
    guard isSound else { return isBlank ? nil : wholeLoss() }
    let (readable, first) = try readableFrames()
    var last = readable
    var index = first
    while let head = head(index) {
      try HostWork.charge()
      index += 1
      if head.salts == salts, head.commit > 0 { last = index }
    }
    guard last > readable else { return nil }
    return Loss(frames: last - readable, bytes: offset(last) - offset(readable), isAll: false)
  }

  /// The loss of a whole log because of a damaged header.
  private func wholeLoss() -> Loss? {
    var status = stat()
    guard fstat(descriptor, &status) == 0, Int(status.st_size) > Self.headSize + Self.frameHeadSize else { return nil }
    let isSize = (512...65_536).contains(pageSize)
    let frames = isSize ? (Int(status.st_size) - Self.headSize) / (Self.frameHeadSize + pageSize) : 0
    return Loss(frames: frames, bytes: Int(status.st_size), isAll: true)
  }

  /// The number of frames that SQLite reads, and the index of the first frame that it rejects. The rejected frame has
  /// another salt or a wrong checksum, or is missing.
  private func readableFrames() throws -> (readable: Int, first: Int) {
    var running = sum
    var (readable, index) = (0, 0)
    while true {
      try HostWork.charge(1 + pageSize >> 6)
      let frame = Self.read(descriptor, at: offset(index), count: Self.frameHeadSize + pageSize)
      guard frame.count == Self.frameHeadSize + pageSize else { return (readable, index) }
      let head = frame.withUnsafeBytes { bytes in
        running.add(UnsafeRawBufferPointer(rebasing: bytes[..<8]), isBigEndian: isBigEndian)
        running.add(UnsafeRawBufferPointer(rebasing: bytes[Self.frameHeadSize...]), isBigEndian: isBigEndian)
        return FrameHead(UnsafeRawBufferPointer(rebasing: bytes[..<Self.frameHeadSize]))
      }
      guard head.salts == salts, head.page > 0, head.sum == running else { return (readable, index) }
      index += 1
      if head.commit > 0 { readable = index }
    }
  }
}

/// The running checksum in the header and the frames, each over everything before. Two sums that depend on each other,
/// as SQLite's documentation of the file format describes them.
struct LogSum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  /// The sum of nothing.
  init() {}

  /// A stored sum.
  init(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
    (first, second) = (bytes.bigEndian(at: offset), bytes.bigEndian(at: offset + 4))
  }

  /// Continues the checksum over further bytes.
  mutating func add(_ bytes: UnsafeRawBufferPointer, isBigEndian: Bool) {
    for offset in stride(from: 0, to: bytes.count - 7, by: 8) {
      let one = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
      let other = bytes.loadUnaligned(fromByteOffset: offset + 4, as: UInt32.self)
      first &+= (isBigEndian ? one.bigEndian : one.littleEndian) &+ second
      second &+= (isBigEndian ? other.bigEndian : other.littleEndian) &+ first
    }
  }
}

extension UnsafeRawBufferPointer {
  /// A 32-bit number in big-endian order.
  fileprivate func bigEndian(at offset: Int) -> UInt32 {
    loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian
  }

  /// Both salts as one number.
  fileprivate func salts(at offset: Int) -> UInt64 {
    UInt64(bigEndian(at: offset)) << 32 | UInt64(bigEndian(at: offset + 4))
  }
}
