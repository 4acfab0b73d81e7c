import MoonbasePlatform

/// A format of `file:read` and `file:lines`.
///
/// Scripts write formats as in Lua's manual, with or without `*`.
enum LuaReadFormat {
  /// A line, with or without its line feed (`L`, `l`).
  case line(keepingEnd: Bool)
  /// A numeral (`n`).
  case number
  /// The rest of the file (`a`), empty at the end.
  case all
  /// At most this number of bytes.
  case bytes(Int)
}

/// Reading by formats, over the buffer of the file.
extension LuaFile {
  /// Reads by a format and passes the bytes to `body`. Returns false at the end of the file. The bytes are valid only
  /// during `body`. Throws `LuaFile.Failure`, and the limits of a run.
  func read(_ format: LuaReadFormat, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    switch format {
    case .line(let keepingEnd): return try readLine(keepingEnd: keepingEnd, body)
    case .all:
      try readAll(body)
      return true
    case .bytes(let count): return try readBytes(count, body)
    case .number: return try readNumeral(body)
    }
  }

  /// Whether bytes can be read; fills the buffer if it is empty.
  private func atHand() throws -> Bool { try !available.isEmpty || fill() }

  /// Most lines lie within the buffer and are not copied.
  private func readLine(keepingEnd: Bool, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    guard try atHand() else { return false }
    var parts: [UInt8] = []
    var memory = HostMemory()
    repeat {
      let bytes = available
      if let base = bytes.baseAddress, let end = memchr(base, 10, bytes.count) {
        let length = UnsafeRawPointer(end) - base
        let line = UnsafeRawBufferPointer(rebasing: bytes[..<(keepingEnd ? length + 1 : length)])
        if parts.isEmpty {
          body(line)
        } else {
          parts += line
          parts.withUnsafeBytes(body)
        }
        consume(length + 1)
        return true
      }
      try append(bytes, to: &parts, memory: &memory)
    } while try fill()
    parts.withUnsafeBytes(body)
    return true
  }

  /// Never the end of the file: an empty rest is a result.
  private func readAll(_ body: (UnsafeRawBufferPointer) -> Void) throws {
    var parts: [UInt8] = []
    var memory = HostMemory()
    while try atHand() { try append(available, to: &parts, memory: &memory) }
    parts.withUnsafeBytes(body)
  }

  /// Fewer bytes at the end of the file.
  private func readBytes(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    guard try atHand() else { return false }
    if available.count >= count {
      body(UnsafeRawBufferPointer(rebasing: available[..<count]))
      consume(count)
      return true
    }
    var parts: [UInt8] = []
    var memory = HostMemory()
    while parts.count < count, try atHand() {
      try append(UnsafeRawBufferPointer(rebasing: available.prefix(count - parts.count)), to: &parts, memory: &memory)
    }
    parts.withUnsafeBytes(body)
    return true
  }

  /// Reads the characters of a numeral after white space, at most two hundred, for `tonumber` to parse. False if no
  /// numeral begins there.
  private func readNumeral(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    var text: [UInt8] = []
    let space = Set(" \t\n\r\u{0B}\u{0C}".utf8)
    let allowed = Set("+-.0123456789abcdefABCDEFxXpP".utf8)
    while try atHand() {
      let byte = available[0]
      if text.isEmpty, space.contains(byte) {
        consume(1)
        continue
      }
      guard allowed.contains(byte), text.count < 200 else { break }
      text.append(byte)
      consume(1)
    }
    text.withUnsafeBytes(body)
    return !text.isEmpty
  }

  /// Charges the bytes to the run. Throws `.tooLarge` beyond `LuaFile.greatest`.
  private func append(
    _ bytes: UnsafeRawBufferPointer, to parts: inout [UInt8], memory: inout HostMemory
  ) throws {
    guard parts.count + bytes.count <= Self.greatest else { throw Failure.tooLarge }
    try memory.hold(bytes.count)
    parts += bytes
    consume(bytes.count)
  }
}
