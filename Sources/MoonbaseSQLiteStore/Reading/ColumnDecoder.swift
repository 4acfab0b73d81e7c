import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// What a column holds is no value of its attribute: nothing is made of it without a word.
struct ColumnMismatch: Error {
  /// What the column holds, and what it should hold.
  let description: String

  /// The storage class is that of before anything was read, which SQLite converts in place.
  init(_ row: Statement, column: Int32, storage: StorageClass, wanted: String) {
    let found =
      switch storage {
      case .blob: "\(row.data(column).count) bytes"
      case .text:
        "the text \(row.withBytes(column) { String(decoding: $0.prefix(240), as: UTF8.self) }.prefix(60).debugDescription)"
      case .integer, .real, .null: row.text(column)
      }
    description = "holds \(found), which is no \(wanted)"
  }
}

/// Reads one column. Another storage class than expected is fine where nothing is lost.
enum ColumnDecoder {
  @inline(__always)
  static func value(
    _ kind: ColumnKind, of row: Statement, column: Int32, external: ExternalData
  ) throws(ColumnMismatch) -> Value {
    switch kind {
    case .integer16: if let number = row.storedInteger(column), Int16(exactly: number) != nil { return .int(number) }
    case .integer32: if let number = row.storedInteger(column), Int32(exactly: number) != nil { return .int(number) }
    case .integer64: if let number = row.storedInteger(column) { return .int(number) }
    case .boolean: if let number = row.storedInteger(column) { return .bool(number != 0) }
    case .double: if let number = row.storedDouble(column) { return .double(number) }
    case .string: if let text = row.storedText(column) { return .string(text) }
    case .date:
      if let seconds = row.storedDouble(column) { return .date(Date(timeIntervalSinceReferenceDate: seconds)) }
    case .data: if let data = row.storedData(column) { return .data(data) }
    case .externalData: if let data = row.storedData(column) { return external.value(data) }
    case .decimal, .uuid, .uri: break
    }
    return try unusual(kind, of: row, column: column, external: external)
  }

  /// The value of a column that is not stored in the way that is usual for its kind, or has several ways.
  private static func unusual(
    _ kind: ColumnKind, of row: Statement, column: Int32, external: ExternalData
  ) throws(ColumnMismatch) -> Value {
    let storage = row.storage(column)
    if storage == .null { return .null }
    let value: Value? =
      switch kind {
      case .integer16: whole(row, column: column, in: Int64(Int16.min)...Int64(Int16.max))
      case .integer32: whole(row, column: column, in: Int64(Int32.min)...Int64(Int32.max))
      case .integer64: whole(row, column: column, in: Int64.min...Int64.max)
      case .boolean: storage == .real ? .bool(row.double(column) != 0) : nil
      case .double, .date: nil
      case .string: storage == .blob ? nil : .string(row.text(column))
      case .data: storage == .text ? .data(row.data(column)) : nil
      case .externalData: storage == .text ? external.value(row.data(column)) : nil
      case .decimal: exactDecimal(row, column: column, storage: storage)
      case .uuid: uuid(row, column: column)
      case .uri: uri(row, column: column, storage: storage)
      }
    guard let value else { throw ColumnMismatch(row, column: column, storage: storage, wanted: kind.valueName) }
    return value
  }

  /// A number that is stored with a fraction of nothing.
  private static func whole(_ row: Statement, column: Int32, in range: ClosedRange<Int64>) -> Value? {
    guard row.storage(column) == .real, let number = Int64(exactly: row.double(column)), range.contains(number) else {
      return nil
    }
    return .int(number)
  }

  /// SQLite prints a number with the 15 digits it keeps of it, and with a fraction: `1.0e-128` has a digit more than a decimal.
  static func decimal(_ text: String) -> Value {
    guard text.utf8.count <= Decimal.longestNumeral else { return .null }
    let locale = Locale(identifier: "en_US_POSIX")
    let value =
      Decimal(string: text, locale: locale)
      ?? Decimal(string: text.replacingOccurrences(of: ".0e", with: "e"), locale: locale)
    return value.map(Value.decimal) ?? .null
  }

  /// No more is looked at of what is far too long.
  private static func isShort(_ row: Statement, column: Int32) -> Bool {
    row.withBytes(column) { $0.count } <= Decimal.longestNumeral
  }

  /// Foundation reads the digits that a text begins with, and leaves the rest.
  private static func exactDecimal(_ row: Statement, column: Int32, storage: StorageClass) -> Value? {
    guard isShort(row, column: column) else { return nil }
    let text = row.text(column)
    let isNumber =
      storage == .integer || storage == .real || text.utf8.allSatisfy { "+-.eE0123456789".utf8.contains($0) }
    let value = isNumber ? decimal(text) : .null
    guard !value.isNull else { return nil }
    return value
  }

  private static func uuid(_ row: Statement, column: Int32) -> Value? {
    let value = row.withBytes(column) { bytes in
      bytes.count == 16 ? bytes.loadUnaligned(as: uuid_t.self) : nil
    }
    if let value { return .uuid(UUID(uuid: value)) }
    return isShort(row, column: column) ? UUID(uuidString: row.text(column)).map(Value.uuid) : nil
  }

  /// Nothing is no URI, and nothing is lost of it.
  private static func uri(_ row: Statement, column: Int32, storage: StorageClass) -> Value? {
    let text = row.text(column)
    if storage == .blob { return nil }
    return text.isEmpty ? .null : URL(string: text).map(Value.uri)
  }
}
