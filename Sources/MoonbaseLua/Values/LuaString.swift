import MoonbasePlatform

/// A Lua string: any bytes, usually text in UTF-8.
///
/// ```swift
/// LuaString("é").count                        // 2, since Lua counts bytes
/// LuaString(bytes: [0xFF]).text               // nil, since that is not UTF-8
/// LuaString(bytes: [0xFF]).description        // "\u{FFFD}"
/// ```
public struct LuaString: Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Text is kept as a string, so that it need not be validated again.
  private enum Storage: Sendable {
    /// Valid UTF-8.
    case text(String)
    /// Bytes that are not UTF-8.
    case bytes([UInt8])
  }

  /// The contents.
  private let storage: Storage

  /// A string of a text's UTF-8 bytes.
  public init(_ text: String) { storage = .text(text) }

  /// A string of any bytes.
  public init(bytes: some Sequence<UInt8>) {
    let bytes = Array(bytes)
    storage = bytes.withUnsafeBufferPointer { Self.store($0) }
  }

  /// A string of copied bytes.
  public init(bytes: UnsafeRawBufferPointer) {
    storage = Self.store(bytes.assumingMemoryBound(to: UInt8.self))
  }

  /// A string of a literal's UTF-8 bytes.
  public init(stringLiteral value: String) { self.init(value) }

  /// Validates the bytes once.
  private static func store(_ bytes: UnsafeBufferPointer<UInt8>) -> Storage {
    if let text = String(validUTF8: bytes) { return .text(text) }
    return .bytes(Array(bytes))
  }

  /// The text if the bytes are UTF-8; nil otherwise.
  public var text: String? {
    if case .text(let text) = storage { text } else { nil }
  }

  /// The text, with invalid UTF-8 replaced.
  public var description: String {
    switch storage {
    case .text(let text): text
    case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// The bytes.
  public var bytes: [UInt8] {
    switch storage {
    case .text(let text): Array(text.utf8)
    case .bytes(let bytes): bytes
    }
  }

  /// The number of bytes.
  public var count: Int {
    switch storage {
    case .text(let text): text.utf8.count
    case .bytes(let bytes): bytes.count
    }
  }

  /// Calls `body` with the bytes, which are valid during the call.
  public func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
    switch storage {
    case .text(var text): try text.withUTF8(body)
    case .bytes(let bytes): try bytes.withUnsafeBufferPointer(body)
    }
  }
}

extension LuaString: Hashable {
  /// Compares bytes, as Lua does: composed and decomposed forms of a letter differ.
  public static func == (first: LuaString, second: LuaString) -> Bool {
    first.withBytes { a in second.withBytes { b in a.elementsEqual(b) } }
  }

  /// Hashes the bytes.
  public func hash(into hasher: inout Hasher) {
    withBytes { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }
}
