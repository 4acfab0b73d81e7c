import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Reads one column. What SQLite holds in another storage class than expected is converted as SQLite does.
enum ColumnDecoder {
  @inline(__always)
  static func value(_ kind: ColumnKind, _ row: Statement, _ column: Int32, _ external: ExternalData) -> Value {
    // SQLite reads NULL as zero or as nothing: only of what reads so it has to be asked.
    switch kind {
    case .integer:
      let number = row.integer(column)
      return number == 0 && row.isNull(column) ? .null : .int(number)
    case .boolean:
      let number = row.integer(column)
      return number == 0 && row.isNull(column) ? .null : .bool(number != 0)
    case .double:
      let number = row.double(column)
      return number == 0 && row.isNull(column) ? .null : .double(number)
    case .string:
      let text = row.text(column)
      return text.isEmpty && row.isNull(column) ? .null : .string(text)
    case .date:
      let seconds = row.double(column)
      return seconds == 0 && row.isNull(column) ? .null : .date(Date(timeIntervalSinceReferenceDate: seconds))
    case .data:
      let data = row.data(column)
      return data.isEmpty && row.isNull(column) ? .null : .data(data)
    case .decimal: return row.isNull(column) ? .null : decimal(row.text(column))
    case .uuid: return row.isNull(column) ? .null : uuid(row, column)
    case .uri: return row.isNull(column) ? .null : URL(string: row.text(column)).map(Value.uri) ?? .null
    case .externalData: return row.isNull(column) ? .null : external.value(row.data(column))
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
