import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Reads one column. What SQLite holds in another storage class than expected is converted as SQLite does.
enum ColumnDecoder {
  @inline(__always)
  static func value(_ kind: ColumnKind, _ row: Statement, _ column: Int32, _ external: ExternalData) throws -> Value {
    switch kind {
    case .integer: return .int(row.integer(column))
    case .boolean: return .bool(row.integer(column) != 0)
    case .double: return .double(row.double(column))
    case .string: return .string(row.text(column))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: row.double(column)))
    case .data: return .data(row.data(column))
    case .decimal: return decimal(row.text(column))
    case .uuid: return uuid(row, column)
    case .uri: return URL(string: row.text(column)).map(Value.uri) ?? .null
    case .externalData: return .data(try external.read(row.data(column)))
    }
  }

  /// SQLite prints a number with the 15 digits it keeps of it.
  static func decimal(_ text: String) -> Value {
    Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")).map(Value.decimal) ?? .null
  }

  private static func uuid(_ row: Statement, _ column: Int32) -> Value {
    let value = row.withBytes(column) { bytes in
      bytes.count == 16 ? bytes.loadUnaligned(as: uuid_t.self) : nil
    }
    if let value { return .uuid(UUID(uuid: value)) }
    return UUID(uuidString: row.text(column)).map(Value.uuid) ?? .null
  }
}
