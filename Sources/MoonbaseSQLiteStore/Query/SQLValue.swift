import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Conversions between values and their form in SQL columns and arguments.
///
/// Rows, parameters and results of functions use the same forms: a date is the number of seconds since 2001, a UUID 16
/// bytes, a URI its text, an object its key. `ColumnDecoder` reads columns.
package enum SQLValue {
  /// Binds a value in the form of its column. Lists become JSON (`ConstantList`); `index` begins with 1.
  package static func bind(_ value: Value, at index: Int32, to statement: Statement) {
    switch value {
    case .list(let values): statement.bind(ConstantList.json(values), at: index)
    case .null, .map, .object: statement.bindNull(index)
    case .bool(let bool): statement.bind(Int64(bool ? 1 : 0), at: index)
    case .int(let integer): statement.bind(integer, at: index)
    case .double(let double): statement.bind(double, at: index)
    case .decimal(let decimal): bind(StoredDecimal(decimal), at: index, to: statement)
    case .string(let string): statement.bind(string, at: index)
    case .date(let date): statement.bind(date.timeIntervalSinceReferenceDate, at: index)
    case .data(let data): statement.bind(data, at: index)
    case .uuid(let uuid): withUnsafeBytes(of: uuid.uuid) { statement.bind(bytes: $0, at: index) }
    case .uri(let url): statement.bind(url.absoluteString, at: index)
    case .objectID(let id): statement.bind(id.key, at: index)
    }
  }

  /// Binds the value of a row's slot. The bytes are not copied: the row must be kept until the statement has run.
  /// Faster than making a `Value` for each slot.
  @inline(__always)
  static func bind(_ cell: Snapshot.Cell, at index: Int32, to statement: Statement) {
    switch cell {
    case .null: statement.bindNull(index)
    case .bool(let flag): statement.bind(Int64(flag ? 1 : 0), at: index)
    case .int(let number): statement.bind(number, at: index)
    case .double(let number), .date(let number): statement.bind(number, at: index)
    case .text(let bytes): statement.bind(keptText: bytes, at: index)
    case .data(let bytes): statement.bind(keptBytes: bytes, at: index)
    case .uuid(let uuid): bind(Value.uuid(uuid), at: index, to: statement)
    case .reference(let id): statement.bind(id.key, at: index)
    case .value(let value): bind(value, at: index, to: statement)
    }
  }

  /// More digits than a double has are bound as bytes, so that SQLite does not round them.
  private static func bind(_ decimal: StoredDecimal, at index: Int32, to statement: Statement) {
    switch decimal {
    case .integer(let number): statement.bind(number, at: index)
    case .real(let number): statement.bind(number, at: index)
    case .text(let text): statement.bind(Data(text.utf8), at: index)
    case .notANumber: statement.bind(Decimal.notANumberText, at: index)
    }
  }

  /// Whether an argument of a function has the form of a column of the attribute type. Otherwise no value is made of
  /// it. NULL is sound for every type.
  static func isSound(_ call: borrowing FunctionCall, at index: Int, type: AttributeType?) -> Bool {
    let storage = call.storage(index)
    if storage == .null { return true }
    switch type {
    case .boolean: return storage == .integer && (0...1).contains(call.integer(index))
    case .integer16: return storage == .integer && Int16(exactly: call.integer(index)) != nil
    case .integer32: return storage == .integer && Int32(exactly: call.integer(index)) != nil
    case .integer64: return storage == .integer
    case .double, .float, .date: return storage == .real || storage == .integer
    case .decimal, .uuid: return !value(call, at: index, type: type).isNull
    case .uri, .string:
      guard storage == .text else { return false }
      if type == .uri, value(call, at: index, type: type).isNull { return false }
      return call.withText(index) { UnsafeRawBufferPointer($0).isUTF8 }
    case .binaryData, .transformable: return storage == .blob
    case .undefined, .objectID, .composite, nil: return true
    }
  }

  /// Converts an argument of a function to a value of its attribute type. A value that is not sound gives null or a
  /// wrong value: check `isSound` before.
  package static func value(_ call: borrowing FunctionCall, at index: Int, type: AttributeType?) -> Value {
    if call.isNull(index) { return .null }
    switch type {
    case .boolean: return .bool(call.integer(index) != 0)
    case .integer16, .integer32, .integer64: return .int(call.integer(index))
    case .double, .float: return .double(call.double(index))
    case .decimal: return ColumnDecoder.decimal(call.text(index))
    case .date: return .date(Date(timeIntervalSinceReferenceDate: call.double(index)))
    case .uri: return URL(string: call.text(index)).map(Value.uri) ?? .null
    case .uuid:
      let data = call.data(index)
      guard data.count == 16 else { return .null }
      return .uuid(UUID(uuid: data.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }))
    case .string: return .string(call.text(index))
    case .binaryData, .transformable: return .data(call.data(index))
    case .undefined, .objectID, .composite, nil: return plain(call, at: index)
    }
  }

  /// Converts an argument to a value by its storage class alone. For functions whose arguments have no declared type.
  static func plain(_ call: borrowing FunctionCall, at index: Int) -> Value {
    switch call.storage(index) {
    case .null: .null
    case .integer: .int(call.integer(index))
    case .real: .double(call.double(index))
    case .text: .string(call.text(index))
    case .blob: .data(call.data(index))
    }
  }

  /// Returns a decimal from a function, in the form of its column. For results that are written into a decimal column.
  package static func set(_ decimal: StoredDecimal, on call: borrowing FunctionCall) {
    switch decimal {
    case .integer(let number): call.set(number)
    case .real(let number): call.set(number)
    case .text(let text): call.set(Data(text.utf8))
    case .notANumber: call.set(Decimal.notANumberText)
    }
  }

  /// Returns a value from a function. A decimal becomes text here. Lists, maps and objects become NULL.
  package static func set(_ value: Value, on call: borrowing FunctionCall) {
    switch value {
    case .null, .list, .map, .object: call.setNull()
    case .bool(let bool): call.set(Int64(bool ? 1 : 0))
    case .int(let integer): call.set(integer)
    case .double(let double): call.set(double)
    case .decimal(let decimal): call.set(decimal.description)
    case .string(let string): call.set(string)
    case .date(let date): call.set(date.timeIntervalSinceReferenceDate)
    case .data(let data): call.set(data)
    case .uuid(let uuid): call.set(withUnsafeBytes(of: uuid.uuid) { Data($0) })
    case .uri(let url): call.set(url.absoluteString)
    case .objectID(let id): call.set(id.key)
    }
  }
}
