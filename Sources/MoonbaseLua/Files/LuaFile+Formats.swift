import MoonbasePlatform

/// A format of `file:read` and `file:lines`.
enum LuaReadFormat {
  case line(keepingEnd: Bool)
  case number
  case all
  case bytes(Int)
}

extension LuaFile {
  /// Reads by a format and passes the bytes to `body`. Returns false at the end of the file.
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

  private func atHand() throws -> Bool { try !available.isEmpty || fill() }

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
        take(length + 1)
        return true
      }
      try append(bytes, to: &parts, memory: &memory)
    } while try fill()
    parts.withUnsafeBytes(body)
    return true
  }

  private func readAll(_ body: (UnsafeRawBufferPointer) -> Void) throws {
    var parts: [UInt8] = []
    var memory = HostMemory()
    while try atHand() { try append(available, to: &parts, memory: &memory) }
    parts.withUnsafeBytes(body)
  }

  private func readBytes(_ count: Int, _ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    guard try atHand() else { return false }
    if available.count >= count {
      body(UnsafeRawBufferPointer(rebasing: available[..<count]))
      take(count)
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

  /// Reads the characters of a numeral after white space, at most two hundred, for `tonumber` to parse.
  private func readNumeral(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
    var text: [UInt8] = []
    let space = Set(" \t\n\r\u{0B}\u{0C}".utf8)
    let allowed = Set("+-.0123456789abcdefABCDEFxXpP".utf8)
    while try atHand() {
      let byte = available[0]
      if text.isEmpty, space.contains(byte) {
        take(1)
        continue
      }
      guard allowed.contains(byte), text.count < 200 else { break }
      text.append(byte)
      take(1)
    }
    text.withUnsafeBytes(body)
    return !text.isEmpty
  }

  private func append(
    _ bytes: UnsafeRawBufferPointer, to parts: inout [UInt8], memory: inout HostMemory
  ) throws {
    guard parts.count + bytes.count <= Self.greatest else { throw Failure.tooLarge }
    try memory.hold(bytes.count)
    parts += bytes
    take(bytes.count)
  }
}
