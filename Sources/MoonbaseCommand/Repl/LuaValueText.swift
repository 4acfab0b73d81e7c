import MoonbaseGraph
import MoonbaseLua
import MoonbaseModel
import MoonbasePlatform
import MoonbaseScripting

/// A Lua value as text for display. A table takes one line if it fits, otherwise a line for each element. The depth,
/// the number of elements and the length of texts are limited.
///
/// The text is created in two steps. First, values become pieces, which reads the tables. Then the
/// pieces are laid out in lines, which only depends on the width.
struct LuaValueText {
  /// The maximum depth of tables. Deeper tables are abbreviated.
  private static let greatestDepth = 5
  /// The maximum number of elements of one table.
  private static let greatestCount = 50
  /// The maximum number of elements of all tables.
  private static let greatestTotal = 1000
  /// The maximum number of characters of a text that is shown alone.
  private static let greatestText = 2000
  /// The maximum number of characters of a text in a table.
  private static let greatestInnerText = 200

  /// A table, or the text of another value.
  private indirect enum Piece {
    /// The text of a value on one line.
    case leaf(String)
    /// The elements of a table. The elements of its list part have no key.
    case table([(key: String?, piece: Piece)])
  }

  /// The Lua state of the value.
  private let domain: ScriptDomain
  /// The number of terminal columns.
  private let width: Int
  /// The number of elements so far.
  private var count = 0
  /// The tables that contain the current value, from the outermost to the innermost.
  private var path: [UnsafeRawPointer] = []

  /// `width` is the number of terminal columns.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - domain: The Lua state of the value.
  ///   - width: The number of terminal columns.
  /// - Returns: The text, which may have several lines.
  /// - Throws: The errors of metamethods such as `__tostring`, and of a limit or an interruption.
  static func text(of value: LuaValue, in domain: ScriptDomain, width: Int) throws -> String {
    var text = LuaValueText(domain, width)
    return try text.layOut(text.piece(value, isInner: false), indent: 0, after: 0)
  }

  /// Prepares the conversion of one value.
  private init(_ domain: ScriptDomain, _ width: Int) { (self.domain, self.width) = (domain, width) }

  // MARK: Pieces

  /// The piece for a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - isInner: Whether the value is in a table.
  private mutating func piece(_ value: LuaValue, isInner: Bool = true) throws -> Piece {
    switch value {
    case .string(let string):
      return .leaf(Self.quoted(string, most: isInner ? Self.greatestInnerText : Self.greatestText))
    case .table(let table): return try piece(table)
    case .object(let object):
      if let object = object.object as? ManagedObject { return .leaf(object.objectID.nameForPeople) }
      return .leaf(try domain.text(of: value))
    case .number: return .leaf(try domain.text(of: value))
    default: return .leaf(value.description)
    }
  }

  /// For a table of the host, which scripts see as a proxy, the fields are shown.
  ///
  /// A table with the metamethod `__tostring` becomes its text. A table inside itself is not
  /// followed.
  private mutating func piece(_ shown: LuaTable) throws -> Piece {
    let table = try shown.behindProxy
    if table.isSame(as: shown), let metatable = try table.metatable, try metatable.get("__tostring").isPresent {
      return .leaf(try domain.text(of: .table(table)))
    }
    guard let address = try table.address, !path.contains(address) else { return .leaf("{ … the table itself }") }
    guard try table.size > 0 else { return .leaf("{}") }
    guard path.count < Self.greatestDepth else { return .leaf("{ … }") }
    path.append(address)
    defer { path.removeLast() }
    return .table(try elements(of: table))
  }

  /// The elements of a table up to the limits. A last element says how many are missing.
  private mutating func elements(of table: LuaTable) throws -> [(key: String?, piece: Piece)] {
    let (length, size) = (try table.count, try table.size)
    var elements: [(key: String?, piece: Piece)] = []
    func isFull() -> Bool { elements.count >= Self.greatestCount || count >= Self.greatestTotal }
    for index in 0..<length where !isFull() {
      count += 1
      elements.append((nil, try piece(table.get(index + 1))))
    }
    if size > length, !isFull() {
      for (key, value) in try Self.fields(of: table, behind: length) where !isFull() {
        count += 1
        elements.append((try self.key(key), try piece(value)))
      }
    }
    if elements.count < size { elements.append((nil, .leaf("… \(size - elements.count) more"))) }
    return elements
  }

  /// The fields that are not elements of the list. Sorted names come first, followed by other keys.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - length: The length of the list part.
  private static func fields(of table: LuaTable, behind length: Int) throws -> [(key: LuaValue, value: LuaValue)] {
    let fields = try someFields(of: table).filter { pair in
      guard case .integer(let index) = pair.key else { return true }
      return index < 1 || index > length
    }
    return fields.sorted { one, other in
      switch (one.key, other.key) {
      case (.string(let one), .string(let other)): one.description < other.description
      case (.string, _): true
      case (_, .string): false
      default: (one.key.numberValue ?? .infinity) < (other.key.numberValue ?? .infinity)
      }
    }
  }

  /// The maximum number of fields that are sorted. For a larger table, the first fields are shown unsorted.
  private static let greatestSorted = 20_000

  /// Ends the iteration over a large table.
  private struct Enough: Error {}

  /// The first fields in the order of the table.
  private static func someFields(of table: LuaTable) throws -> [(key: LuaValue, value: LuaValue)] {
    var fields: [(key: LuaValue, value: LuaValue)] = []
    do {
      try table.forEach { key, value in
        guard fields.count < greatestSorted else { throw Enough() }
        fields.append((key, value))
      }
    } catch is Enough {}
    return fields
  }

  /// The text of a key: a name as it is, and other keys in brackets.
  private mutating func key(_ key: LuaValue) throws -> String {
    if let name = key.textValue, name.wholeMatch(of: /[A-Za-z_]\w{0,99}/) != nil { return name }
    guard case .leaf(let text) = try piece(key) else { return "[{ … }]" }
    return "[\(text)]"
  }

  // MARK: Lines

  /// `after` is the number of columns that are already used in the first line.
  ///
  /// - Parameters:
  ///   - piece: The value.
  ///   - indent: The number of spaces before further lines.
  ///   - after: The columns in use.
  private func layOut(_ piece: Piece, indent: Int, after: Int) -> String {
    guard case .table(let elements) = piece else { return inLine(piece) }
    let line = inLine(piece)
    if indent + after + DisplayWidth.of(line) <= width { return line }
    let blanks = String(repeating: " ", count: indent + 2)
    let lines = elements.map { element in
      let key = element.key.map { "\($0) = " } ?? ""
      return blanks + key + layOut(element.piece, indent: indent + 2, after: DisplayWidth.of(key) + 1)
    }
    return "{\n" + lines.joined(separator: ",\n") + "\n" + String(repeating: " ", count: indent) + "}"
  }

  /// A piece on one line.
  private func inLine(_ piece: Piece) -> String {
    switch piece {
    case .leaf(let text): text
    case .table(let elements):
      "{ "
        + elements.map { element in (element.key.map { "\($0) = " } ?? "") + inLine(element.piece) }
        .joined(separator: ", ") + " }"
    }
  }

  // MARK: Texts

  /// The text as a Lua string literal. Bytes that are not valid UTF-8 are escaped.
  ///
  /// - Parameters:
  ///   - string: The text of Lua, which may contain any bytes.
  ///   - most: The maximum number of characters or bytes.
  private static func quoted(_ string: LuaString, most: Int) -> String {
    // A text may have hundreds of megabytes, so only its beginning is read.
    let (content, isWhole): (String, Bool)
    if let scalars = string.text?.unicodeScalars {
      let shown = scalars.prefix(most)
      (content, isWhole) = (escaped(shown), shown.endIndex == scalars.endIndex)
    } else {
      (content, isWhole) = string.withBytes { (escaped($0.prefix(most)), $0.count <= most) }
    }
    return "\"\(content)\"" + (isWhole ? "" : "… (\(string.count) bytes in all)")
  }

  /// The characters with control characters escaped.
  private static func escaped(_ scalars: some Collection<Unicode.Scalar>) -> String {
    var text = ""
    for scalar in scalars {
      switch scalar {
      case "\n": text += "\\n"
      case "\t": text += "\\t"
      case "\r": text += "\\r"
      case "\"", "\\": text += "\\\(scalar)"
      case _ where scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value):
        text += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  /// The bytes with all bytes outside of printable ASCII escaped.
  private static func escaped(_ bytes: some Collection<UInt8>) -> String {
    bytes.map { byte in
      let isPlain = (0x20..<0x7f).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
      let digits = String(byte, radix: 16, uppercase: true)
      return isPlain ? String(UnicodeScalar(byte)) : "\\x" + (digits.count < 2 ? "0" : "") + digits
    }.joined()
  }
}

extension ManagedObjectID {
  /// The name for display, such as `Person/12` or `Person (new)`.
  var nameForPeople: String { isTemporaryID ? "\(entityName) (new)" : short }
}
