import MoonbaseLuaShim
import MoonbasePlatform

/// A script's open file, with a buffer that serves reading and writing in turn, as in C.
///
/// Used by `LuaFileLibrary` for each handle of a script, and freed with it. Not thread-safe; all calls come from the
/// thread of the state. Errors are `Failure`; waiting ends with the run.
final class LuaFile {
  /// Translated to results or errors of Lua by `LuaFileLibrary.reporting`.
  enum Failure: Error {
    /// The system's error number.
    case system(Int32)
    /// A single read exceeds `greatest` bytes.
    case tooLarge
    /// The output limit ended the run.
    case limit
  }

  /// The size of the buffer in bytes.
  static let size = 64 << 10
  /// The most bytes of a single read.
  static let greatest = 256 << 20

  /// The descriptor, owned unless the file is a standard stream.
  let descriptor: Int32
  /// Standard streams are never closed.
  let isStandard: Bool
  /// False after `close`.
  private(set) var isOpen = true
  /// Receives written bytes in place of the descriptor: the output of the state, which counts bytes.
  private let sink: Sink?
  /// Reports whether the program began to use the file itself while the script had it open.
  private let guardian: (any LuaFileGuard)?

  /// Whether reading and writing may block, as for pipes and devices.
  private let mayWait: Bool
  /// Whether unwritten bytes are dropped instead of waiting, because no run limits the wait any more.
  private var isHurried = false

  /// Serves reading and writing in turn.
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 1)
  /// Bytes that were read and not consumed are at `start..<end`.
  private(set) var start = 0
  /// The end of the bytes that were read.
  private(set) var end = 0
  /// Bytes that were written and not flushed are at `0..<pending`.
  private var pending = 0
  /// When written bytes are flushed.
  private var buffering = Buffering.full

  /// Used for the standard streams only.
  struct Sink {
    /// Returns false at the output limit.
    let write: (UnsafeRawBufferPointer) -> Bool
    /// Flushes the receiver.
    let flush: () -> Void
    /// Sets the buffering of the receiver.
    let setBuffering: (Buffering) -> Void
  }

  /// The modes of `file:setvbuf`.
  enum Buffering: String {
    /// When the buffer is full, after each line, or after each write.
    case full, line, no
  }

  /// Asks the system whether the file may block.
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

  /// The system's error number for a failed open.
  struct Refusal: Error {
    /// The `errno`.
    var number: Int32
  }

  /// Opens a file whose path has no links. A link placed there in the meantime is not followed. Never blocks, not even
  /// for the other end of a pipe. Throws a `Refusal` with `EISDIR` for a folder.
  convenience init(path: String, flags: Int32, guardian: (any LuaFileGuard)?) throws(Refusal) {
    let descriptor = UnlinkedPath.open(path, flags | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else { throw Refusal(number: errno) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
      _ = MoonbasePlatform.close(descriptor)
      throw Refusal(number: EISDIR)
    }
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
    self.init(descriptor: descriptor, guardian: guardian)
  }

  deinit {
    isHurried = true
    if isOpen { try? close() }
    buffer.deallocate()
  }

  /// Flushes first; the file counts as closed even if that fails. Throws `Failure`.
  func close() throws {
    defer {
      isOpen = false
      // Closing a descriptor releases all locks of the process on the file, so a guarded file stays open.
      if !isStandard, !isGuarded { _ = MoonbasePlatform.close(descriptor) }
    }
    try flush()
  }

  // MARK: Reading

  /// The bytes read and not consumed.
  var available: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: buffer[start..<end]) }

  /// Consumes bytes of `available`.
  func consume(_ count: Int) { start += count }

  /// Consumes a line that was read ahead, including its end; everything read ahead if no line ends in it.
  func consumeLineAhead() -> [UInt8] {
    let ahead = buffer[start..<end]
    let line = ahead.firstIndex(of: UInt8(ascii: "\n")).map { ahead[...$0] } ?? ahead
    start += line.count
    return Array(line)
  }

  /// Reads more, after all bytes were consumed. Returns false at the end of the file. Throws `Failure.system`, and the
  /// error of a run that must end.
  func fill() throws -> Bool {
    try flush()
    while true {
      let count = try read()
      if count < 0, errno == EINTR, !mbl_run_is_ending() { continue }
      guard count >= 0 else { throw Failure.system(errno) }
      try HostWork.charge(1 + count >> 10)
      if HostWork.isOver { throw HostWork.ending() }
      (start, end) = (0, count)
      return count > 0
    }
  }

  /// Reads into the buffer. Time spent on standard input counts as waiting for the user. Returns the number of bytes;
  /// negative for an error in `errno`.
  private func read() throws -> Int {
    guard descriptor == STDIN_FILENO else {
      try wait(for: POLLIN)
      return MoonbasePlatform.read(descriptor, buffer.baseAddress, buffer.count)
    }
    return try LuaState.waitingForUser {
      // A signal does not reliably end a read, so the run is checked periodically.
      var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      while poll(&request, 1, 50) <= 0 { if HostWork.isOver { throw HostWork.ending() } }
      return MoonbasePlatform.read(descriptor, buffer.baseAddress, buffer.count)
    }
  }

  /// Waits until a pipe or a device is ready. Throws if the run must end meanwhile. Checks the run every 50
  /// milliseconds.
  private func wait(for events: Int32) throws {
    guard mayWait else { return }
    var request = pollfd(fd: descriptor, events: Int16(events), revents: 0)
    while poll(&request, 1, isHurried ? 0 : 50) <= 0 {
      if isHurried { throw Failure.system(EAGAIN) }
      if HostWork.isOver { throw HostWork.ending() }
    }
  }

  // MARK: Writing

  /// Whether written bytes wait for a receiver that may block.
  var isOwing: Bool { isOpen && mayWait && pending > 0 }

  /// Large writes bypass the buffer. Throws `Failure`.
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

  /// Waits for the receiver of a pipe.
  func flush() throws {
    sink?.flush()
    guard pending > 0 else { return }
    let bytes = UnsafeRawBufferPointer(rebasing: buffer[..<pending])
    pending = 0
    try put(bytes)
  }

  /// Whether the program began to use the file.
  private var isGuarded: Bool { guardian?.refuses(descriptor: descriptor) ?? false }

  /// Writes everything, in parts for a pipe.
  private func put(_ bytes: UnsafeRawBufferPointer) throws {
    if isGuarded { throw Failure.system(EBUSY) }
    var rest = bytes[...]
    while !rest.isEmpty {
      try wait(for: POLLOUT)
      // A pipe with room accepts at least `PIPE_BUF` bytes. For more, the system would block until all are accepted.
      let part = UnsafeRawBufferPointer(rebasing: mayWait ? rest.prefix(Int(PIPE_BUF)) : rest)
      let count = MoonbasePlatform.write(descriptor, part.baseAddress, part.count)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw Failure.system(errno) }
      rest = rest.dropFirst(count)
    }
  }

  /// Flushes first.
  func setBuffering(_ mode: Buffering) throws {
    try flush()
    buffering = mode
    sink?.setBuffering(mode)
  }

  // MARK: Place

  /// Bytes that were read ahead do not count. Returns the position from the start.
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

  /// A file that was read and is now written continues behind the last consumed byte.
  private func dropReadAhead() throws {
    if start < end { _ = try seek(0, from: SEEK_CUR) }
    (start, end) = (0, 0)
  }
}
