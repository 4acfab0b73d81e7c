package import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Decodes a column. A storage class other than the usual one is accepted where SQL compares the value as memory does.
/// For example, an integer attribute may be stored as a double without a fraction.
///
/// A value that fits in no way is a `ColumnMismatch`; it becomes a value that throws when it is read, so that the other
/// values of the row stay usable.
package enum ColumnDecoder {
  /// Decodes a column into a slot of the page's current row. The usual storage class takes a fast path without a
  /// `Value`.
  @inline(__always)
  package static func read(
    _ kind: ColumnKind, of row: Statement, column: Int32, external: ExternalData, into page: RowPageBuilder, slot: Slot
  ) throws(ColumnMismatch) {
    switch kind {
    case .integer16:
      if let number = row.storedInteger(column), Int16(exactly: number) != nil {
        return page.set(integer: number, slot: slot)
      }
    case .integer32:
      if let number = row.storedInteger(column), Int32(exactly: number) != nil {
        return page.set(integer: number, slot: slot)
      }
    case .integer64: if let number = row.storedInteger(column) { return page.set(integer: number, slot: slot) }
    case .boolean:
      if let number = row.storedInteger(column), number == 0 || number == 1 {
        return page.set(bool: number == 1, slot: slot)
      }
    case .double: if let number = row.storedDouble(column) { return page.set(double: number, slot: slot) }
    case .float:
      if let number = row.storedDouble(column) { return page.set(double: Single.value(of: number), slot: slot) }
    case .date: if let seconds = row.storedDouble(column) { return page.set(date: seconds, slot: slot) }
    case .string: if let text = row.storedText(column) { return page.set(text: text, slot: slot) }
    case .data: if let data = row.storedBytes(column) { return page.set(data: data, slot: slot) }
    case .externalData:
      if let data = row.storedBytes(column), !ExternalData.namesNoFile(data) {
        return page.set(external.value(Data(data)), slot: slot)
      }
    case .decimal, .uuid, .uri: break
    }
    page.set(try unusual(kind, of: row, column: column, external: external), slot: slot)
  }

  /// Decodes a column to a value, without a page. Used for elements of composites, and wherever a row is not kept.
  static func value(
    _ kind: ColumnKind, of row: Statement, column: Int32, external: ExternalData
  ) throws(ColumnMismatch) -> Value {
    switch kind {
    case .integer64: if let number = row.storedInteger(column) { return .int(number) }
    case .double: if let number = row.storedDouble(column) { return .double(number) }
    case .float: if let number = row.storedDouble(column) { return .double(Single.value(of: number)) }
    case .date:
      if let seconds = row.storedDouble(column) { return .date(Date(timeIntervalSinceReferenceDate: seconds)) }
    case .string: if let text = row.storedText(column) { return .string(String(decoding: text, as: UTF8.self)) }
    case .data: if let data = row.storedBytes(column) { return .data(Data(data)) }
    case .integer16, .integer32, .boolean:
      if let number = row.storedInteger(column), let value = kind.value(number) { return value }
    case .externalData, .decimal, .uuid, .uri: break
    }
    return try unusual(kind, of: row, column: column, external: external)
  }

  /// Decodes a column whose storage class is not the usual one for its kind, or whose kind has several. Throws where
  /// the value is not one of its kind. The storage class is asked before any conversion.
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
      case .boolean: truth(row, column: column, storage: storage)
      case .double, .float, .date, .string, .data, .externalData: nil
      case .decimal: exactDecimal(row, column: column)
      case .uuid: uuid(row, column: column, storage: storage)
      case .uri: uri(row, column: column)
      }
    guard let value else { throw ColumnMismatch(row, column: column, storage: storage, wanted: kind.valueName) }
    return value
  }

  /// A whole number that is stored as a double. Nil for a fraction, and for a number outside of the range.
  private static func whole(_ row: Statement, column: Int32, in range: ClosedRange<Int64>) -> Value? {
    guard row.storage(column) == .real, let number = Int64(exactly: row.double(column)), range.contains(number) else {
      return nil
    }
    return .int(number)
  }

  /// A Boolean that is stored as a double 0 or 1. Nil for any other number.
  private static func truth(_ row: Statement, column: Int32, storage: StorageClass) -> Value? {
    guard storage == .real, let number = Int64(exactly: row.double(column)), number == 0 || number == 1 else {
      return nil
    }
    return .bool(number == 1)
  }

  /// The decimal that a text denotes, or null. For texts that SQLite made of a decimal column.
  static func decimal(_ text: String) -> Value { Decimal(stored: text).map(Value.decimal) ?? .null }

  /// A text longer than any decimal is not parsed. Nil for a column that holds no number.
  private static func exactDecimal(_ row: Statement, column: Int32) -> Value? {
    guard row.withBytes(column, { $0.count }) <= Decimal.longestNumeral else { return nil }
    let value = decimal(row.text(column))
    if value.isNull { return nil }
    return value
  }

  /// Nil for a blob of any other length than 16 bytes.
  private static func uuid(_ row: Statement, column: Int32, storage: StorageClass) -> Value? {
    guard storage == .blob else { return nil }
    return row.withBytes(column) { bytes in
      bytes.count == 16 ? .uuid(UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))) : nil
    }
  }

  /// Nil for a text that Foundation would write differently. The text would change when the object is saved.
  private static func uri(_ row: Statement, column: Int32) -> Value? {
    guard let bytes = row.storedText(column) else { return nil }
    let text = String(decoding: bytes, as: UTF8.self)
    guard let url = URL(string: text), url.absoluteString == text else { return nil }
    return .uri(url)
  }
}

/// Used for elements of composites.
extension ColumnKind {
  /// A whole number as a value of a narrow kind. Nil where the kind cannot hold it.
  fileprivate func value(_ number: Int64) -> Value? {
    switch self {
    case .integer16: Int16(exactly: number) == nil ? nil : .int(number)
    case .integer32: Int32(exactly: number) == nil ? nil : .int(number)
    case .boolean: number == 0 || number == 1 ? .bool(number == 1) : nil
    default: nil
    }
  }
}
