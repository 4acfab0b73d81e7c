/// A value in a Lua table of plain data, with its position in the file.
struct LuaData: Equatable {
  indirect enum Content: Equatable {
    case string(String)
    case integer(Int64)
    case number(Double)
    case boolean(Bool)
    case none
    case table([Entry])
  }

  /// An entry of a table. Entries of the list part have no key.
  struct Entry: Equatable {
    var key: String?
    /// The position of the key, or of a value without a key.
    var place: Place
    var value: LuaData
  }

  /// A position in a file. Lines and columns start at 1.
  struct Place: Equatable {
    var line = 1
    var column = 1
  }

  var content: Content
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
