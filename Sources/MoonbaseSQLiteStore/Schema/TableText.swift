import MoonbaseSQL

/// Parses the columns of a table from its `CREATE TABLE` text, where this has the simple form of the format: names,
/// each with one word for its type, and a primary key. A query for the columns of each of a hundred tables would take a
/// third of the time of opening a store.
///
/// SQLite has parsed the same text, so that the text is valid.
///
/// Works on the bytes of SQLite's text and copies only names and types. Comments, quoted names and expressions make it
/// give up, which costs a query but is never wrong.
struct TableText {
  /// The text, owned by SQLite's statement.
  private let text: UnsafeRawBufferPointer
  /// The offset of the next byte.
  private var place = 0

  /// Returns nil for a text of another form; the columns must then be queried. Column names are uppercase, as in
  /// `FileSchema.Table`.
  static func table(_ text: UnsafeRawBufferPointer) -> FileSchema.Table? {
    var reader = TableText(text: text)
    return reader.table()
  }

  /// Begins at the first byte.
  private init(text: UnsafeRawBufferPointer) { self.text = text }

  /// Nil for anything unexpected.
  private mutating func table() -> FileSchema.Table? {
    guard let create = word(), Self.is(create, "CREATE"), let table = word(), Self.is(table, "TABLE"), word() != nil,
      consume(UInt8(ascii: "("))
    else { return nil }
    var (columns, types) = ([String](), [String]())
    columns.reserveCapacity(12)
    types.reserveCapacity(12)
    var hasKey = false
    repeat {
      guard let name = word() else { return nil }
      if Self.is(name, "PRIMARY") {
        // A conflict clause may follow the list of columns.
        guard !hasKey, let key = word(), Self.is(key, "KEY"), passList(), isAtEnd else { return nil }
        return FileSchema.Table(columns: columns, types: types, hasKey: true)
      }
      guard !Self.beginsConstraint(name) else { return nil }
      columns.append(Self.uppercased(name))
      guard let type = word() else {
        types.append("")
        continue
      }
      guard !Self.beginsClause(type) else { return nil }
      types.append(String(decoding: type, as: UTF8.self))
      if next == UInt8(ascii: "(") {
        let start = place
        guard passList() else { return nil }
        types[types.count - 1] += String(decoding: text[start..<place], as: UTF8.self)
      }
      if let clause = word() {
        guard Self.is(clause, "PRIMARY"), !hasKey, let key = word(), Self.is(key, "KEY") else { return nil }
        hasKey = true
      }
    } while consume(UInt8(ascii: ","))
    guard isAtEnd else { return nil }
    return FileSchema.Table(columns: columns, types: types, hasKey: hasKey)
  }

  /// Whether the list of columns ends here, and the text with it.
  private var isAtEnd: Bool {
    mutating get { consume(UInt8(ascii: ")")) && next == nil }
  }

  // MARK: Pieces

  /// The next byte that is not white space.
  private var next: UInt8? {
    mutating get {
      while place < text.count, Self.isBlank(text[place]) { place += 1 }
      return place < text.count ? text[place] : nil
    }
  }

  /// Consumes the byte if it is next.
  private mutating func consume(_ byte: UInt8) -> Bool {
    guard next == byte else { return false }
    place += 1
    return true
  }

  /// A name or keyword without quotes, of ASCII letters. Nil, and no change, if another byte is next.
  private mutating func word() -> Slice<UnsafeRawBufferPointer>? {
    guard let first = next, Self.isLetter(first) else { return nil }
    let start = place
    while place < text.count, Self.isLetter(text[place]) || Self.isDigit(text[place]) { place += 1 }
    return text[start..<place]
  }

  /// Skips words and numbers between parentheses, as in `(Z_1A, Z_2B)` and `(255)`. Returns false for anything else
  /// inside.
  private mutating func passList() -> Bool {
    guard consume(UInt8(ascii: "(")) else { return false }
    repeat {
      guard let first = next, Self.isLetter(first) || Self.isDigit(first) else { return false }
      while place < text.count, Self.isLetter(text[place]) || Self.isDigit(text[place]) { place += 1 }
    } while consume(UInt8(ascii: ","))
    return consume(UInt8(ascii: ")"))
  }

  /// SQLite's white space: space, tab, line feed, form feed and carriage return.
  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0d).contains(byte) && byte != 0x0b }
  /// ASCII digits.
  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
  /// ASCII letters and the underscore.
  private static func isLetter(_ byte: UInt8) -> Bool {
    (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte) || byte == 0x5f
  }

  /// Compares without letter case. `keyword` is uppercase.
  private static func `is`(_ word: Slice<UnsafeRawBufferPointer>, _ keyword: StaticString) -> Bool {
    guard word.count == keyword.utf8CodeUnitCount else { return false }
    return zip(word, UnsafeBufferPointer(start: keyword.utf8Start, count: keyword.utf8CodeUnitCount)).allSatisfy {
      ($0 & 0xdf) == $1
    }
  }

  /// Whether a word begins a table constraint instead of a column.
  private static func beginsConstraint(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
    `is`(word, "CONSTRAINT") || `is`(word, "UNIQUE") || `is`(word, "CHECK") || `is`(word, "FOREIGN")
  }

  /// Whether a word begins a column constraint instead of a type.
  private static func beginsClause(_ word: Slice<UnsafeRawBufferPointer>) -> Bool {
    beginsConstraint(word) || `is`(word, "PRIMARY") || `is`(word, "NOT") || `is`(word, "NULL")
      || `is`(word, "DEFAULT") || `is`(word, "COLLATE") || `is`(word, "REFERENCES") || `is`(word, "GENERATED")
      || `is`(word, "AS")
  }

  /// Converted only if a lowercase letter is there.
  private static func uppercased(_ name: Slice<UnsafeRawBufferPointer>) -> String {
    let isUpper = !name.contains { (0x61...0x7a).contains($0) }
    return isUpper ? String(decoding: name, as: UTF8.self) : String(decoding: name, as: UTF8.self).uppercased()
  }
}
