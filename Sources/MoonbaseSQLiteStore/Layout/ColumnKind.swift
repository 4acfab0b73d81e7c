import MoonbaseModel

/// How an attribute's value lies in its column.
enum ColumnKind: Sendable {
  case integer, boolean, double, decimal, string, date, data, uuid, uri
  /// Bytes behind a prefix that says whether they are inline or in a file beside the store.
  case externalData

  /// The kind for an attribute; nil for types that no column can hold.
  init?(_ attribute: AttributeDescription) {
    switch attribute.type {
    case .integer16, .integer32, .integer64: self = .integer
    case .boolean: self = .boolean
    case .double, .float: self = .double
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .binaryData, .transformable: self = attribute.allowsExternalBinaryDataStorage ? .externalData : .data
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// The type that Core Data declares in `CREATE TABLE`.
  var declaredType: String {
    switch self {
    case .integer, .boolean: "INTEGER"
    case .date: "TIMESTAMP"
    case .double: "FLOAT"
    case .decimal: "DECIMAL"
    case .string, .uri: "VARCHAR"
    case .uuid, .data, .externalData: "BLOB"
    }
  }

  /// Core Data's order of columns within a table.
  var rank: Int {
    switch self {
    case .integer, .boolean: 0
    case .date, .double: 2
    case .decimal: 3
    case .string, .uri: 4
    case .uuid: 5
    case .data, .externalData: 6
    }
  }
}
