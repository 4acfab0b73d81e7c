/// A source with its name in messages.
///
/// ```swift
/// let source = LuaSource("return 1", name: "colors.lua")
/// try state.load(source)()
/// ```
///
/// A value without a state: it can be loaded any number of times. Messages use `name` as the script's name.
public struct LuaSource: Sendable {
  /// The most bytes of a file read as a source without a limit.
  package static let greatestSize = 256 << 20

  /// The name, such as "colors.lua".
  public let name: String
  /// The bytes, without a byte order mark. A first line that begins with # is removed.
  public let bytes: [UInt8]
  /// The number of the first line, if the source is a part of a longer source.
  package private(set) var firstLine = 1
  /// Whether the source consists of expressions, whose values are returned.
  package private(set) var isExpression = false
  /// The lines shown in messages, if the parsed text differs from the source.
  private var shownBytes: [UInt8]?

  /// Creates a source from a text.
  public init(_ text: String, name: String) { self.init(bytes: Array(text.utf8), name: name) }

  /// Creates a source from the bytes of a file. The removed first line leaves its line feed, so that line numbers stay.
  public init(bytes: [UInt8], name: String) {
    self.name = name
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    if rest.first == UInt8(ascii: "#") { rest = rest.drop { $0 != UInt8(ascii: "\n") } }
    self.bytes = Array(rest)
  }

  /// Creates a source from a part of a longer source, such as an input of a prompt. The bytes are used unchanged.
  /// Messages show the lines of `shown` instead, if given.
  package init(
    part bytes: [UInt8], name: String, firstLine: Int, isExpression: Bool = false, shown: [UInt8]? = nil
  ) {
    (self.name, self.bytes, self.firstLine, self.isExpression) = (name, bytes, firstLine, isExpression)
    shownBytes = shown
  }

  /// The text of a line, counted from 1; nil if there is no such line.
  public func line(_ number: Int) -> String? {
    let number = number - firstLine + 1
    guard number > 0 else { return nil }
    let lines = (shownBytes ?? bytes).split(
      separator: UInt8(ascii: "\n"), maxSplits: number, omittingEmptySubsequences: false)
    guard number <= lines.count else { return nil }
    return String(decoding: lines[number - 1], as: UTF8.self)
  }

  /// The name of a source in stack frames, which show only its last bytes. Lua limits the name in frames to 59 bytes.
  package static func nameInFrames(_ name: String) -> String {
    let greatest = 59
    return name.utf8.count <= greatest ? name : "..." + String(decoding: name.utf8.suffix(greatest - 3), as: UTF8.self)
  }

  /// Bytecode begins with an escape character.
  var isBytecode: Bool { bytes.first == 0x1B }

  /// Lua takes a name without `@` or `=` for the source itself.
  var chunkName: String { name.hasPrefix("=") || name.hasPrefix("@") ? name : "@\(name)" }
}
