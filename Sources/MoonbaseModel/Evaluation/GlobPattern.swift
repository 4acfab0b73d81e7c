import MoonbasePlatform

/// A pattern of LIKE: `?` matches a single character, `*` any number of characters, and a backslash escapes either.
///
/// A pattern is prepared once and then matched in time proportional to text times pattern at worst.
/// Long texts are charged to a running script.
struct GlobPattern: Sendable {
  /// A part of a pattern.
  private enum Part: Equatable, Sendable {
    /// The wildcards `?` and `*`.
    case one, many
    /// A character that must be equal.
    case literal(Character)

    /// Whether this is the character, in the same Unicode form.
    func isLiteral(_ character: Character) -> Bool {
      if case .literal(let own) = self { own.utf8.elementsEqual(character.utf8) } else { false }
    }
  }

  /// The parts, in order.
  private let parts: [Part]
  /// The parts as bytes if all are ASCII: 0 stands for `?` and 1 for `*`.
  private let bytes: [UInt8]?

  /// Parses a pattern. A backslash at the end stands for itself.
  init(_ text: String) {
    var parts: [Part] = []
    var isEscaped = false
    for character in text {
      // Comparing characters normalizes them, in time quadratic in a letter's marks. So non-ASCII characters are not
      // compared here.
      switch character.utf8.count < 2 ? character : "\u{FFFD}" {
      case "\\" where !isEscaped:
        isEscaped = true
        continue
      case "?" where !isEscaped: parts.append(.one)
      case "*" where !isEscaped: if parts.last != .many { parts.append(.many) }
      default: parts.append(.literal(character))
      }
      isEscaped = false
    }
    if isEscaped { parts.append(.literal("\\")) }
    self.parts = parts
    let bytes = parts.map { part -> UInt8? in
      switch part {
      case .one: 0
      case .many: 1
      case .literal(let character): character.utf8.count == 1 ? character.asciiValue.flatMap { $0 > 1 ? $0 : nil } : nil
      }
    }
    self.bytes = bytes.contains(nil) ? nil : bytes.compactMap(\.self)
  }

  /// An array of the characters of a long text would take many times the text's memory, so a long text is iterated.
  ///
  /// Whether the whole text matches.
  func matches(_ text: String) -> Bool {
    guard text.utf8.count > 1 << 16 else {
      return match(Array(text), parts, one: .one, many: .many) { $1.isLiteral($0) }
    }
    return match(text, parts, one: .one, many: .many) { $1.isLiteral($0) }
  }

  /// Matches an ASCII text.
  ///
  /// `isFolding` ignores the case of letters. The pattern must be folded already.
  func matches(_ text: UnsafeBufferPointer<UInt8>, isFolding: Bool) -> Bool {
    guard let bytes else { return matches(String(decoding: text, as: UTF8.self)) }
    return match(text, bytes, one: 0, many: 1) { (isFolding ? $0.lowercasedASCII : $0) == $1 }
  }

  /// Greedy from left to right. On a mismatch the last `*` consumes an element more.
  private func match<Text: Collection, Part: Equatable>(
    _ text: Text, _ parts: [Part], one: Part, many: Part, _ isSame: (Text.Element, Part) -> Bool
  ) -> Bool {
    var index = text.startIndex
    var part = 0
    var retry: (index: Text.Index, part: Int)?
    var steps = 0
    while index < text.endIndex {
      // Many stars over a long text take as many steps as the product of both lengths. The result of an ended run is
      // ignored.
      steps &+= 1
      if steps & 0x3ff == 0, HostWork.mustEnd(after: 32) { return false }
      if part < parts.count, parts[part] == many {
        part += 1
        retry = (index, part)
      } else if part < parts.count, parts[part] == one || isSame(text[index], parts[part]) {
        text.formIndex(after: &index)
        part += 1
      } else if let last = retry {
        index = text.index(after: last.index)
        part = last.part
        retry = (index, part)
      } else {
        return false
      }
    }
    return parts[part...].allSatisfy { $0 == many }
  }
}
