/// Tracks the open brackets, blocks and long strings of an input's lines. Inputs of very many lines are parsed only
/// when nothing is open.
///
/// A quick scan of bytes, linear in the input, that only counts nesting; the parser decides whether the input is right.
/// A pasted file of many lines would otherwise be parsed again after each line.
package struct InputNesting {
  /// The number of open brackets and blocks. May be negative after a wrong input.
  private var depth = 0
  /// The level of the open long bracket; nil if none is open.
  private var level: Int?
  /// The quote of a string that continues in the next line.
  private var quote: UInt8?

  /// An empty input.
  package init() {}

  /// Whether the next line belongs to the input. Prompts show another prefix for such a line.
  package var isOpen: Bool { depth > 0 || level != nil || quote != nil }

  /// Processes the next line, without its line break. Bytes above 127 count as letters.
  package mutating func process(_ line: some Collection<UInt8>) {
    var rest = Array(line)[...]
    while !rest.isEmpty {
      if let level {
        closeLong(level, in: &rest)
      } else if let quote {
        closeText(quote, in: &rest)
      } else {
        consumeToken(from: &rest)
      }
    }
  }

  /// Consumes a token that begins outside of strings and comments.
  private mutating func consumeToken(from rest: inout ArraySlice<UInt8>) {
    guard let byte = rest.popFirst() else { return }
    switch byte {
    case UInt8(ascii: "-") where rest.first == byte: consumeComment(from: &rest)
    case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
    case UInt8(ascii: "["): if !openLong(in: &rest) { depth += 1 }
    case UInt8(ascii: "("), UInt8(ascii: "{"): depth += 1
    case UInt8(ascii: ")"), UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
    case _ where Self.isOfWord(byte): consumeWord(byte, from: &rest)
    default: break
    }
  }

  /// Consumes a comment: to the end of the line, or the start of a long comment.
  private mutating func consumeComment(from rest: inout ArraySlice<UInt8>) {
    rest = rest.dropFirst()
    guard rest.first == UInt8(ascii: "[") else { return rest = [] }
    let behind = rest.dropFirst()
    rest = behind
    if !openLong(in: &rest) { rest = [] }
  }

  /// Opens a long bracket if its second bracket follows.
  private mutating func openLong(in rest: inout ArraySlice<UInt8>) -> Bool {
    let signs = rest.prefix { $0 == UInt8(ascii: "=") }.count
    guard rest.dropFirst(signs).first == UInt8(ascii: "[") else { return false }
    rest = rest.dropFirst(signs + 1)
    level = signs
    return true
  }

  /// Consumes the rest of a long string or comment, or the line if it does not end there.
  private mutating func closeLong(_ signs: Int, in rest: inout ArraySlice<UInt8>) {
    while let place = rest.firstIndex(of: UInt8(ascii: "]")) {
      rest = rest[(place + 1)...]
      let count = rest.prefix { $0 == UInt8(ascii: "=") }.count
      guard count == signs, rest.dropFirst(count).first == UInt8(ascii: "]") else { continue }
      rest = rest.dropFirst(count + 1)
      level = nil
      return
    }
    rest = []
  }

  /// Closes a string. A backslash or `\z` at the end of a line continues it.
  private mutating func closeText(_ quote: UInt8, in rest: inout ArraySlice<UInt8>) {
    self.quote = nil
    while let byte = rest.popFirst() {
      if byte == quote { return }
      guard byte == UInt8(ascii: "\\") else { continue }
      let escaped = rest.popFirst()
      if rest.isEmpty, escaped == nil || escaped == UInt8(ascii: "z") { return self.quote = quote }
    }
  }

  /// Consumes a word and counts it if it opens or closes a block.
  private mutating func consumeWord(_ first: UInt8, from rest: inout ArraySlice<UInt8>) {
    let more = rest.prefix(while: Self.isOfWord)
    rest = rest.dropFirst(more.count)
    let word = String(decoding: [first] + more, as: UTF8.self)
    if Self.openers.contains(word) { depth += 1 }
    if Self.closers.contains(word) { depth -= 1 }
  }

  /// Whether a byte continues a name or keyword.
  private static func isOfWord(_ byte: UInt8) -> Bool {
    byte >= 128 || byte == UInt8(ascii: "_") || Character(UnicodeScalar(byte)).isLetter
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Keywords after which a block is open. `then` counts for `if`, `do` for loops.
  static let openers: Set = ["function", "do", "then", "repeat"]
  /// Keywords that close a block. `elseif` closes one, and its `then` opens the next.
  static let closers: Set = ["end", "until", "elseif"]
}
