package import MoonbaseModel

/// The form of an attribute's values in a column.
///
/// The kind determines the declared type, how a value is bound and how a column is decoded. Core Data stores dates as
/// seconds since 2001, UUIDs as 16 bytes, URIs as text, and decimals as numbers of any storage class.
package enum ColumnKind: Sendable {
  case integer16, integer32, integer64, boolean, double, float, decimal, string, date, data, uuid, uri
  /// Bytes after a prefix that tells whether they are inline or in an external file.
  case externalData

  /// The kind for an attribute. Nil for types that no column can hold. A transformable attribute is data, since its
  /// transformer makes bytes.
  package init?(_ attribute: AttributeDescription) {
    self.init(attribute.type, isExternal: attribute.allowsExternalBinaryDataStorage)
  }

  /// The kind for an attribute type, for callers without the whole description.
  init?(_ type: AttributeType, isExternal: @autoclosure () -> Bool) {
    switch type {
    case .integer16: self = .integer16
    case .integer32: self = .integer32
    case .integer64: self = .integer64
    case .boolean: self = .boolean
    case .double: self = .double
    case .float: self = .float
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .binaryData, .transformable: self = isExternal() ? .externalData : .data
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .undefined, .objectID, .composite: return nil
    }
  }

  /// The type that Core Data declares in `CREATE TABLE`. SQLite derives the column's affinity from the text. Other
  /// engines have types of their own (`Dialect.type(_:)`).
  package var declaredType: String {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: "INTEGER"
    case .date: "TIMESTAMP"
    case .double, .float: "FLOAT"
    case .decimal: "DECIMAL"
    case .string, .uri: "VARCHAR"
    case .uuid, .data, .externalData: "BLOB"
    }
  }

  /// The name of a value in messages. Used for a value that does not belong in its column.
  package var valueName: String {
    switch self {
    case .integer16: "16-bit integer"
    case .integer32: "32-bit integer"
    case .integer64: "integer"
    case .boolean: "boolean (0 or 1)"
    case .date: "date"
    case .double, .float: "number"
    case .decimal: "decimal"
    case .string: "text"
    case .uri: "URI"
    case .uuid: "UUID (16 bytes)"
    case .data, .externalData: "data"
    }
  }

  /// The rank of the kind in Core Data's order of columns. To-one relationships have rank 1. See
  /// `TableLayout.orderedColumns`.
  package var rank: Int {
    switch self {
    case .integer16, .integer32, .integer64, .boolean: 0
    case .date, .double, .float: 2
    case .decimal: 3
    case .string, .uri: 4
    case .uuid: 5
    case .data, .externalData: 6
    }
  }
}
