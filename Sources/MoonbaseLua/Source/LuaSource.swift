/// A source text with the name by which messages know it.
public struct LuaSource: Sendable {
  /// The most bytes of a file that is read as a source where no limit says less.
  package static let greatestSize = 256 << 20

  /// Its name, such as "colors.lua".
  public let name: String
  /// Its bytes, without byte order mark; a first line that begins with # is emptied.
  public let bytes: [UInt8]

  /// A text.
  public init(_ text: String, name: String) { self.init(bytes: Array(text.utf8), name: name) }

  /// The bytes of a file.
  public init(bytes: [UInt8], name: String) {
    self.name = name
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    if rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != UInt8(ascii: "\n") } }
    self.bytes = Array(rest)
  }

  /// The text of a line, from 1.
  public func line(_ number: Int) -> String? {
    guard number > 0 else { return nil }
    let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
    guard number <= lines.count else { return nil }
    return String(decoding: lines[number - 1], as: UTF8.self)
  }

  var isBytecode: Bool { bytes.first == 0x1B }

  var chunkName: String { name.hasPrefix("=") || name.hasPrefix("@") ? name : "@\(name)" }
}
