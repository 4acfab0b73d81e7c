/// The types of parameters and columns that Moonbase uses, by their PostgreSQL object identifiers (OID).
package enum PostgreSQLType: UInt32, Sendable {
  case bytea = 17
  case bigint = 20
  case text = 25
  case double = 701
  case numeric = 1700
  case uuid = 2950

  /// The identifier of the type's array type.
  var array: UInt32 {
    switch self {
    case .bytea: 1001
    case .bigint: 1016
    case .text: 1009
    case .double: 1022
    case .numeric: 1231
    case .uuid: 2951
    }
  }

  /// The name of the type in statements.
  package var name: String {
    switch self {
    case .bytea: "bytea"
    case .bigint: "bigint"
    case .text: "text"
    case .double: "double precision"
    case .numeric: "numeric"
    case .uuid: "uuid"
    }
  }
}
