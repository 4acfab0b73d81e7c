import MoonbaseModel

extension ModelTree {
  /// The source of a Lua file that returns the tree. Each named entry of the outer levels has its own line.
  ///
  /// Reading the file gives an equal tree. Comments are written above their entries.
  public var luaSource: String {
    var writer = LuaTableWriter()
    writer.write(self, depth: 0)
    return "return \(writer.text)\n"
  }

  /// The tree as a Lua expression on as few lines as possible.
  ///
  /// `AspectTable` shows values in this form.
  var luaText: String {
    var writer = LuaTableWriter()
    writer.write(self, depth: 3)
    return writer.text
  }
}

/// Writes tables as Lua source, short tables on a single line.
///
/// The writer appends to one text. Levels 0 to 2 are the model, its entities and their properties,
/// which are always written on several lines.
private struct LuaTableWriter {
  /// The greatest length of a table on a single line.
  private static let lineLength = 100
  /// The text so far.
  private(set) var text = ""

  /// Writes a node at a level of nesting.
  mutating func write(_ tree: ModelTree, depth: Int) {
    guard case .table(let list, let entries) = tree.content else { return text += Self.scalar(tree) }
    if let short = Self.short(tree), short.utf8.count + 2 * depth <= Self.lineLength, depth > 2 || entries.isEmpty {
      text += short
      return
    }
    text += "{\n"
    for element in list { line(depth + 1) { $0.write(element, depth: depth + 1) } }
    for entry in entries {
      for comment in entry.tree.comment { text += "\(String(repeating: "  ", count: depth + 1))-- \(comment)\n" }
      line(depth + 1) {
        $0.text += "\(Self.key(entry.key)) = "
        $0.write(entry.tree, depth: depth + 1)
      }
    }
    text += String(repeating: "  ", count: depth) + "}"
  }

  /// Writes an indented line that ends with a comma.
  private mutating func line(_ depth: Int, _ content: (inout Self) -> Void) {
    text += String(repeating: "  ", count: depth)
    content(&self)
    text += ",\n"
  }

  /// A table on a single line; nil if it contains a table with named entries, which is more readable on several lines.
  private static func short(_ tree: ModelTree) -> String? {
    guard case .table(let list, let entries) = tree.content else { return scalar(tree) }
    var parts: [String] = []
    for element in list {
      guard let part = short(element) else { return nil }
      parts.append(part)
    }
    for entry in entries {
      if !entry.tree.comment.isEmpty { return nil }
      if case .table(_, let inner) = entry.tree.content, !inner.isEmpty { return nil }
      guard let part = short(entry.tree) else { return nil }
      parts.append("\(key(entry.key)) = \(part)")
    }
    return parts.isEmpty ? "{}" : "{ \(parts.joined(separator: ", ")) }"
  }

  /// The key of an entry: a plain name, or `["quoted"]`.
  private static func key(_ name: String) -> String {
    let isName =
      !name.isEmpty && !reserved.contains(name) && !(name.utf8.first.map { (0x30...0x39).contains($0) } ?? true)
      && name.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
      }
    return isName ? name : "[\(name.luaText)]"
  }

  /// Lua's keywords.
  private static let reserved: Set<String> = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil",
    "not",
    "or", "repeat", "return", "then", "true", "until", "while",
  ]

  /// The literal of a scalar.
  private static func scalar(_ tree: ModelTree) -> String {
    switch tree.scalar {
    case .bool(let bool): bool ? "true" : "false"
    case .int(.min): "math.mininteger"
    case .int(let integer): "\(integer)"
    case .double(let double): number(double)
    case .string(let string): string.luaText
    default: "nil"
    }
  }

  /// The literal of a double, with Lua's expressions for infinities and NaN.
  private static func number(_ double: Double) -> String {
    if double.isNaN { return "0/0" }
    if double.isInfinite { return double < 0 ? "-math.huge" : "math.huge" }
    return "\(double)"
  }
}
