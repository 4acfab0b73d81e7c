import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Values beyond what SQLite takes in a row.
enum LargeValue {
  /// The most bytes of a string, a blob and a row.
  static let greatest = Connection.greatestValue

  /// How many bytes a value takes, where it can be many.
  static func size(_ value: Value) -> Int {
    switch value {
    case .string(let string): string.utf8.count
    case .data(let data): data.count
    default: 0
    }
  }

  static func error(_ entity: String, property: String, size: Int, underlying: SQLiteError? = nil) -> GraphError {
    GraphError(
      .invalidValue,
      message:
        "\(entity).\(property): a value of \(size) bytes is more than a row can hold (\(greatest) bytes with all its values): "
        + "keep it in a file and the file's name in the store",
      entity: entity, property: property, underlying: underlying)
  }

  /// Names the greatest value of a row that SQLite found too big.
  static func explain(_ error: SQLiteError, row: Snapshot, of entity: ResolvedEntity) -> any Error {
    guard error.code.primary == .tooBig else { return error }
    let sizes = row.values.map(size)
    guard let slot = sizes.indices.max(by: { sizes[$0] < sizes[$1] }) else { return error }
    return Self.error(entity.name, property: entity.properties[slot].name, size: sizes[slot], underlying: error)
  }
}
