import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// The limits of SQLite for the size of a value and a row.
///
/// A script may have a lower limit of its own (`HostWork.greatestValue`).
enum LargeValue {
  /// The greatest number of bytes of a string, a blob and a row.
  static let greatest = Connection.greatestValue

  /// The number of bytes of a string or a blob; 0 for other values. The size of a string is that of its UTF-8.
  static func size(_ value: Value) -> Int {
    switch value {
    case .string(let string): string.utf8.count
    case .data(let data): data.count
    default: 0
    }
  }

  /// The code is `.invalidValue`.
  static func error(_ entity: String, property: String, size: Int, underlying: SQLiteError? = nil) -> GraphError {
    GraphError(
      .invalidValue,
      message:
        "\(entity).\(property): a value of \(size) bytes is more than a row can hold (\(greatest) bytes with all its values): "
        + "keep it in a file and the file's name in the store",
      entity: entity, property: property, underlying: underlying)
  }

  /// Returns an error that names the largest value of a row, where SQLite found the row too big. Returns other errors
  /// unchanged.
  static func explain(_ error: SQLiteError, row: Snapshot, of entity: ResolvedEntity) -> any Error {
    guard error.code.primary == .tooBig else { return error }
    let sizes = row.values.map(size)
    guard let slot = sizes.indices.max(by: { sizes[$0] < sizes[$1] }) else { return error }
    return Self.error(entity.name, property: entity.properties[slot].name, size: sizes[slot], underlying: error)
  }
}
