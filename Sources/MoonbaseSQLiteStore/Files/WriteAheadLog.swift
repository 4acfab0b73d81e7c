import MoonbasePlatform

/// Parses a write-ahead log.
///
/// SQLite's locks are on the store's file and on the log's index, so opening and closing the log itself releases none
/// of them.
final class WriteAheadLog {
  private static let headSize = 32
  private static let frameHeadSize = 24
  /// The first four bytes. With the lowest bit set, checksums are computed over big-endian words.
  private static let mark: UInt32 = 0x377f_0682

  /// The header of a frame: page number, number of pages of the database if the frame ends a transaction, and the salts
  /// of the log's header.
  struct FrameHead {
    let page: UInt32
    let commit: UInt32
    let salts: UInt64
    let sum: LogSum

    fileprivate init(_ bytes: UnsafeRawBufferPointer) {
      (page, commit) = (bytes.bigEndian(at: 0), bytes.bigEndian(at: 4))
      salts = bytes.salts(at: 8)
      sum = LogSum(bytes, at: 16)
    }
  }

  /// Saved frames that SQLite does not read.
  struct Loss: Equatable {
    let frames: Int
    let bytes: Int
    /// Whether the header is damaged, so that SQLite reads nothing of the log.
    let isAll: Bool
  }

  private let descriptor: Int32
  private let pageSize: Int
  private let isBigEndian: Bool
  private let salts: UInt64
  private let sum: LogSum
  /// Whether SQLite accepts the header.
  private let isSound: Bool
  private let isBlank: Bool

  /// Returns nil if there is no log, or an empty one.
  init?(of file: StoreFile) {
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

  deinit { close(descriptor) }

  private static func read(_ descriptor: Int32, at offset: Int, count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, size in
      size = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
    }
  }

  private func offset(_ index: Int) -> Int { Self.headSize + index * (Self.frameHeadSize + pageSize) }

  /// The header of a frame; nil after the last frame.
  private func head(_ index: Int) -> FrameHead? {
    let bytes = Self.read(descriptor, at: offset(index), count: Self.frameHeadSize)
    return bytes.count == Self.frameHeadSize ? bytes.withUnsafeBytes(FrameHead.init) : nil
  }

  // MARK: Pages

  /// The pages that the log provides to current readers. Only frame headers are read.
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
  func loss() throws -> Loss? {
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

  /// The number of frames that SQLite reads, and the index of the first frame that it rejects.
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

/// The running checksum in the header and the frames, each over everything before.
struct LogSum: Equatable {
  private var first: UInt32 = 0
  private var second: UInt32 = 0

  init() {}

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
  fileprivate func bigEndian(at offset: Int) -> UInt32 {
    loadUnaligned(fromByteOffset: offset, as: UInt32.self).bigEndian
  }

  fileprivate func salts(at offset: Int) -> UInt64 {
    UInt64(bigEndian(at: offset)) << 32 | UInt64(bigEndian(at: offset + 4))
  }
}
