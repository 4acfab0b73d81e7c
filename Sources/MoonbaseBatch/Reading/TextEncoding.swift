import MoonbasePlatform

/// A text encoding other than UTF-8, by name.
///
/// The name comes from the option `--encoding`. Names are compared without case and punctuation, so
/// `ISO-8859-1`, `iso8859_1` and `latin1` are the same encoding.
package struct TextEncoding: Sendable, Hashable {
  /// The name as given by the caller.
  package let name: String
  /// Foundation's encoding.
  private let encoding: String.Encoding
  /// The number of bytes of the smallest unit.
  private let width: Int
  /// Whether the first byte of a unit is the most significant.
  private let isBigEndian: Bool
  /// Whether each byte is a character, so that a text may be split anywhere.
  private let isOfBytes: Bool

  /// The names without punctuation.
  ///
  /// These encodings have one byte for each character.
  private static let ofBytes: [(String, String.Encoding)] = [
    ("iso88591", .isoLatin1), ("latin1", .isoLatin1), ("iso88592", .isoLatin2), ("latin2", .isoLatin2),
    ("windows1250", .windowsCP1250), ("cp1250", .windowsCP1250), ("windows1251", .windowsCP1251),
    ("cp1251", .windowsCP1251), ("windows1252", .windowsCP1252), ("cp1252", .windowsCP1252),
    ("windows1253", .windowsCP1253), ("cp1253", .windowsCP1253), ("windows1254", .windowsCP1254),
    ("cp1254", .windowsCP1254), ("macintosh", .macOSRoman), ("macroman", .macOSRoman), ("ascii", .ascii),
    ("usascii", .ascii),
  ]
  /// The encodings with units or characters of several bytes. UTF-16 without a byte order is
  /// little-endian unless `marked(by:)` finds another order.
  private static let ofSeveral: [(String, String.Encoding, width: Int, isBigEndian: Bool)] = [
    ("utf16", .utf16, 2, false), ("utf16le", .utf16LittleEndian, 2, false), ("utf16be", .utf16BigEndian, 2, true),
    ("utf32le", .utf32LittleEndian, 4, false), ("utf32be", .utf32BigEndian, 4, true), ("shiftjis", .shiftJIS, 1, false),
    ("sjis", .shiftJIS, 1, false), ("iso2022jp", .iso2022JP, 1, false),
  ]

  /// The available names, for messages.
  package static let names = [
    "utf-8", "utf-16", "utf-16le", "utf-16be", "utf-32le", "utf-32be", "iso-8859-1", "iso-8859-2", "windows-1250",
    "windows-1251", "windows-1252", "windows-1253", "windows-1254", "macintosh", "ascii", "shift_jis", "iso-2022-jp",
  ]

  /// The name without case and punctuation.
  private static func plain(_ name: String) -> String { name.lowercased().filter { $0.isLetter || $0.isNumber } }

  /// Whether the name means UTF-8, which needs no conversion.
  package static func isUTF8(_ name: String) -> Bool { plain(name) == "utf8" }

  /// Returns nil for an unknown name.
  package init?(_ name: String) {
    let plain = Self.plain(name)
    self.name = name
    if let found = Self.ofBytes.first(where: { $0.0 == plain }) {
      (encoding, width, isBigEndian, isOfBytes) = (found.1, 1, false, true)
    } else if let found = Self.ofSeveral.first(where: { $0.0 == plain }) {
      (encoding, width, isBigEndian, isOfBytes) = (found.1, found.width, found.isBigEndian, false)
    } else {
      return nil
    }
  }

  /// For UTF-16, the encoding with the byte order that a byte order mark or a zero byte at the
  /// start of a text shows. Any other encoding is returned unchanged.
  func marked(by bytes: [UInt8]) -> TextEncoding {
    guard encoding == .utf16, bytes.count >= 2 else { return self }
    let isBig = bytes[0] == 0xfe && bytes[1] == 0xff || bytes[0] == 0 && bytes[1] != 0
    return TextEncoding(isBig ? "utf-16be" : "utf-16le") ?? self
  }

  /// The number of bytes that form whole lines or whole characters.
  ///
  /// A whole line ends with a line feed in the width of the encoding. Returns 0 if there is no
  /// whole line yet.
  func wholeCount(of bytes: [UInt8]) -> Int {
    if isOfBytes { return bytes.count }
    var place = bytes.count - bytes.count % width
    while place >= width {
      let unit = bytes[(place - width)..<place]
      let last = isBigEndian ? unit.last : unit.first
      let rest = isBigEndian ? unit.dropLast() : unit.dropFirst()
      if last == 10, rest.allSatisfy({ $0 == 0 }) { return place }
      place -= width
    }
    return 0
  }

  /// Returns nil for bytes that are invalid in this encoding.
  func text(of bytes: ArraySlice<UInt8>) -> String? { String(data: Data(bytes), encoding: encoding) }
}

/// Converts text of another encoding to UTF-8.
///
/// Whole lines are converted, so that no character is cut. Throws `InputError.unreadable` for bytes
/// that are invalid in the encoding, and `.recordTooLong` for a line without an end.
final class EncodedSource: ByteSource {
  /// The number of bytes to read at a time.
  private static let capacity = 1 << 16

  /// The source of the encoded bytes.
  private let base: any ByteSource
  /// The encoding, whose byte order is known after the first bytes.
  private var encoding: TextEncoding
  /// The bytes that are not converted yet.
  private var raw: [UInt8] = []
  /// The converted text, as UTF-8.
  private var text: [UInt8] = []
  /// The position in `text` up to which it was returned.
  private var place = 0
  /// Whether `base` has no more bytes.
  private var isAtEnd = false
  /// Whether the byte order was determined.
  private var hasBegun = false

  /// A source of the text of `base`.
  init(_ base: any ByteSource, _ encoding: TextEncoding) { (self.base, self.encoding) = (base, encoding) }

  /// Reads UTF-8 text.
  func read(_ target: UnsafeMutablePointer<UInt8>, _ count: Int) throws -> Int {
    while place == text.count {
      if isAtEnd, raw.isEmpty { return 0 }
      try convert()
    }
    let kept = min(count, text.count - place)
    for (offset, byte) in text[place..<place + kept].enumerated() { target[offset] = byte }
    place += kept
    return kept
  }

  /// Converts the whole lines of `raw` into `text`.
  private func convert() throws {
    try fill()
    let whole = isAtEnd ? raw.count : encoding.wholeCount(of: raw)
    guard whole > 0 else {
      if raw.count > InputBytes.greatestRecord { throw InputError.recordTooLong }
      return
    }
    guard let converted = encoding.text(of: raw[..<whole]) else {
      throw InputError.unreadable("it is no text in \(encoding.name): name its encoding with --encoding")
    }
    (text, place) = (Array(converted.utf8), 0)
    raw.removeFirst(whole)
  }

  /// Reads more bytes into `raw`.
  private func fill() throws {
    let former = raw.count
    var chunk = [UInt8](repeating: 0, count: Self.capacity)
    let count = try chunk.withUnsafeMutableBufferPointer { buffer in
      try buffer.baseAddress.map { try base.read($0, buffer.count) } ?? 0
    }
    raw += chunk[..<count]
    isAtEnd = count == 0
    if !hasBegun, raw.count >= 2 || isAtEnd {
      encoding = encoding.marked(by: raw)
      hasBegun = true
    }
    if isAtEnd, former == 0 { raw = [] }
  }
}
