import MoonbaseLuaShim
import MoonbasePlatform

/// An open file of a script, with buffers of its own: one side is read or written at a time, as in C.
final class LuaFile {
  enum Failure: Error {
    /// The system refused; its number.
    case system(Int32)
    /// What is read at once is larger than a script may hold.
    case tooLarge
    /// The output limit ended the run.
    case limit
  }

  static let size = 64 << 10
  /// The most bytes that one read may give.
  static let greatest = 256 << 20

  let descriptor: Int32
  let isStandard: Bool
  private(set) var isOpen = true
  /// Takes what is written instead of the descriptor: the state's output, which counts.
  private let sink: Sink?
  /// Knows whether the program began to use the file itself while it was open here.
  private let guardian: (any LuaFileGuard)?

  /// Whether reading and writing may wait for somebody else.
  private let mayWait: Bool

  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
  /// What was read and not yet taken: `start..<end`.
  private(set) var start = 0
  private(set) var end = 0
  /// What was written and not yet handed on: `0..<pending`.
  private var pending = 0
  private var buffering = Buffering.full

  struct Sink {
    let write: (UnsafeRawBufferPointer) -> Bool
    let flush: () -> Void
  }

  enum Buffering: String {
    case full, line, no
  }

  init(
    descriptor: Int32, isStandard: Bool = false, sink: Sink? = nil, guardian: (any LuaFileGuard)? = nil
  ) {
    self.descriptor = descriptor
    self.guardian = guardian
    self.isStandard = isStandard
    var status = stat()
    mayWait = !isStandard && fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT != S_IFREG
    self.sink = sink
  }

  deinit {
    if isOpen { try? close() }
    buffer.deallocate()
  }

  func close() throws {
    defer {
      isOpen = false
      // To close a descriptor of a file drops all locks that the process has on it: this one stays open.
      if !isStandard, !isGuarded { _ = MoonbasePlatform.close(descriptor) }
    }
    try flush()
  }

  // MARK: Reading

  /// The bytes at hand.
  var available: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start..<end]) }

  func take(_ count: Int) { start += count }

  /// Reads on after everything at hand was taken; false at the end of the file.
  func fill() throws -> Bool {
    try flush()
    while true {
      let count = try read()
      if count < 0, errno == EINTR, !mbl_run_is_ending() { continue }
      guard count >= 0 else { throw Failure.system(errno) }
      (start, end) = (0, count)
      return count > 0
    }
  }

  /// Waiting for standard input is waiting for the user.
  private func read() throws -> Int {
    guard descriptor == STDIN_FILENO else {
      try wait(for: POLLIN)
      return MoonbasePlatform.read(descriptor, buffer.baseAddress, buffer.count)
    }
    return LuaState.waitingForUser { MoonbasePlatform.read(descriptor, buffer.baseAddress, buffer.count) }
  }

  /// Waits until a pipe or a device has something to give, or room; throws where the run must end meanwhile.
  private func wait(for events: Int32) throws {
    guard mayWait else { return }
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while poll(&request, 1, 50) <= 0 {
      if HostWork.isOver { throw HostWork.ending() }
    }
  }

  // MARK: Writing

  func write(_ bytes: UnsafeRawBufferPointer) throws {
    if let sink {
      guard sink.write(bytes) else { throw Failure.limit }
      return
    }
    try dropReadAhead()
    if bytes.count >= buffer.count - pending { try flush() }
    if bytes.count >= buffer.count { return try put(bytes) }
    UnsafeMutableRawBufferPointer(rebasing: buffer[pending...]).copyMemory(from: bytes)
    pending += bytes.count
    if buffering == .no || buffering == .line && bytes.contains(UInt8(ascii: "\n")) { try flush() }
  }

  func flush() throws {
    sink?.flush()
    guard pending > 0 else { return }
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<pending])
    pending = 0
    try put(bytes)
  }

  private var isGuarded: Bool { guardian?.refuses(descriptor: descriptor) ?? false }

  private func put(_ bytes: UnsafeRawBufferPointer) throws {
    if isGuarded { throw Failure.system(EBUSY) }
    var rest = bytes[...]
    while !rest.isEmpty {
      try wait(for: POLLOUT)
      // A pipe that has room has it for so many bytes; of more, the system would wait for the rest.
      let part = UnsafeRawBufferPointer(rebasing: mayWait ? rest.prefix(Int(PIPE_BUF)) : rest)
      let count = MoonbasePlatform.write(descriptor, part.baseAddress, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure.system(errno) }
      rest = rest.dropFirst(count)
    }
  }

  func setBuffering(_ mode: Buffering) throws {
    try flush()
    buffering = mode
  }

  // MARK: Place

  func seek(_ offset: Int64, from whence: Int32) throws -> Int64 {
    try flush()
    let ahead = whence == SEEK_CUR ? Int64(end - start) : 0
    let (target, isTooFar) = offset.subtractingReportingOverflow(ahead)
    guard !isTooFar else { throw Failure.system(EINVAL) }
    let place = lseek(descriptor, off_t(target), whence)
    guard place >= 0 else { throw Failure.system(errno) }
    (start, end) = (0, 0)
    return Int64(place)
  }

  private func dropReadAhead() throws {
    if start < end { _ = try seek(0, from: SEEK_CUR) }
    (start, end) = (0, 0)
  }
}
