/// A value in a Lua table of plain data, with its position in the file.
///
/// `LuaDataReader` creates it, and `ProjectReader` interprets it. The positions allow errors with
/// line and column.
struct LuaData: Equatable {
  /// The kind of a value with its contents.
  indirect enum Content: Equatable {
    /// A text.
    case string(String)
    /// A whole number.
    case integer(Int64)
    /// A number with a fraction or an exponent.
    case number(Double)
    /// `true` or `false`.
    case boolean(Bool)
    /// The value `nil`.
    case none
    /// A table with its entries in the order of the source.
    case table([Entry])
  }

  /// An entry of a table. Entries of the list part have no key.
  struct Entry: Equatable {
    /// The key, or nil in the list part.
    var key: String?
    /// The position of the key, or of a value without a key.
    var place: Place
    /// The value of the entry.
    var value: LuaData
  }

  /// A position in a file. Lines and columns start at 1.
  struct Place: Equatable {
    /// The line.
    var line = 1
    /// The column in characters.
    var column = 1
  }

  /// The content.
  var content: Content
  /// The position of the first byte.
  var place: Place

  /// The value itself if it is short, for messages.
  var valuePhrase: String {
    switch content {
    case .string(let text) where text.count <= 40: "'\(text)'"
    case .integer(let number): "\(number)"
    case .number(let number): "\(number)"
    default: phrase
    }
  }

  /// The kind of the content in words, for messages.
  var phrase: String {
    switch content {
    case .string: "a text"
    case .integer, .number: "a number"
    case .boolean: "true or false"
    case .none: "nil"
    case .table: "a table"
    }
  }
}
