/// The static type of an expression, as far as the model determines it.
enum CheckedType: Equatable {
  case number, date, string, boolean, binary, uuid, uri
  /// An object of the entity with this name; nil stands for any entity.
  case object(String?)
  /// A composite attribute as a whole.
  case composite
  /// The literal `NULL`.
  case null
  /// A type that only evaluation shows. Checks accept it.
  case unknown

  /// The type of an attribute's values.
  init(_ attribute: AttributeDescription) {
    switch attribute.type {
    case .integer16, .integer32, .integer64, .decimal, .double, .float: self = .number
    case .string: self = .string
    case .boolean: self = .boolean
    case .date: self = .date
    case .binaryData: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .objectID: self = .object(nil)
    case .composite: self = .composite
    case .undefined, .transformable: self = .unknown
    }
  }

  /// The type of a literal.
  init(_ value: Value) {
    switch value {
    case .null: self = .null
    case .bool: self = .boolean
    case .int, .double, .decimal: self = .number
    case .string: self = .string
    case .date: self = .date
    case .data: self = .binary
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .objectID: self = .object(nil)
    case .list, .map, .object: self = .unknown
    }
  }

  /// Whether values of both types can be equal. Numbers, booleans and dates are all numbers in SQL.
  func isComparable(with other: CheckedType) -> Bool {
    switch (self, other) {
    case (.unknown, _), (_, .unknown), (.null, _), (_, .null), (.object, .object): true
    case (.number, .boolean), (.boolean, .number), (.number, .date), (.date, .number): true
    default: self == other
    }
  }

  /// The type with its article, for messages.
  var phrase: String {
    switch self {
    case .number: "a number"
    case .date: "a date"
    case .string: "a string"
    case .boolean: "a boolean"
    case .binary: "binary data"
    case .uuid: "a UUID"
    case .uri: "a URI"
    case .object(let entity): entity.map { "an object of \($0)" } ?? "an object"
    case .composite: "a composite"
    case .null: "NULL"
    case .unknown: "a value"
    }
  }
}
