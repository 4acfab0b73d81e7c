internal import MoonbaseCSQLite
package import MoonbasePlatform

/// Calls a function with the plain values of a row, holds its result, and compares it with a column's value: without
/// allocation and reference counting for each row.
///
/// Cases that it cannot handle (unexpected values, a failure) are left to slower code that reports errors.
package final class RowFunction {
  /// The kind of values in a column.
  package struct Kind {
    fileprivate enum Form: UInt8 {
      case text
      case bytes
      case integer
      case number
      case boolean
    }

    fileprivate let form: Form
    /// The bounds of an integer.
    fileprivate let (least, greatest): (Int64, Int64)

    private init(_ form: Form, _ range: ClosedRange<Int64> = .min ... .max) {
      (self.form, least, greatest) = (form, range.lowerBound, range.upperBound)
    }

    /// Text.
    package static let text = Self(.text)
    /// Bytes.
    package static let bytes = Self(.bytes)
    /// Floating-point numbers.
    package static let number = Self(.number)
    /// Booleans.
    package static let boolean = Self(.boolean)
    /// Integers in a range.
    package static func integer(_ range: ClosedRange<Int64>) -> Self { Self(.integer, range) }
  }

  /// Keeps the function alive.
  private let owner: RowCall
  /// The function as a reference without counting.
  private let function: RowCall.Uncounted
  /// The kind of the result's values, which are checked.
  private let result: Kind
  /// The kinds of the inputs, and their cells. Allocated once, with an element for each input.
  private let kinds: UnsafeMutablePointer<Kind>
  /// Filled anew for each row.
  private let cells: UnsafeMutablePointer<PlainCell>
  /// The number of inputs that are read, which may be greater than `count`.
  private let inputCount: Int
  /// The number of inputs passed to the function.
  private let count: Int
  /// The function's result, valid until the next row.
  @exclusivity(unchecked) package private(set) var given = PlainCell()

  /// A function of the first `count` inputs.
  package init(_ function: RowCall, of inputs: [Kind], count: Int, result: Kind) {
    (owner, self.function, self.result) = (function, function.uncounted, result)
    (inputCount, self.count) = (inputs.count, count)
    kinds = .allocate(capacity: max(1, inputs.count))
    cells = .allocate(capacity: max(1, inputs.count))
    for (index, kind) in inputs.enumerated() {
      (kinds + index).initialize(to: kind)
      (cells + index).initialize(to: PlainCell())
    }
  }

  deinit {
    kinds.deallocate()
    cells.deallocate()
  }

  /// An input of the row, valid during the call.
  package func cell(_ index: Int) -> PlainCell { cells[index] }

  /// Calls the function with arguments of a call: every `step`th argument from `first` on. Returns false for values
  /// that it cannot handle.
  @inline(__always)
  package func compute(_ call: borrowing FunctionCall, from first: Int = 0, by step: Int = 1) -> Bool {
    for index in 0..<inputCount where !readInput(call.value(first &+ index &* step), as: index) { return false }
    return runs()
  }

  /// Calls the function with consecutive columns of a statement's row. Returns false for values that it cannot handle.
  package func compute(_ statement: Statement, from column: Int32) -> Bool {
    for index in 0..<inputCount {
      guard readInput(statement.value(column &+ Int32(truncatingIfNeeded: index)), as: index) else { return false }
    }
    return runs()
  }

  /// Calls the function with the cells. Returns false for a failure, and for a result that does not fit.
  @inline(__always)
  private func runs() -> Bool {
    guard let cell = function.run(cells, count: count), isFitting(cell) else { return false }
    given = cell
    return true
  }

  /// Whether an argument of a call differs from the function's result.
  package func differs(from call: borrowing FunctionCall, at index: Int) -> Bool { differs(from: call.value(index)) }

  /// Whether a column of a statement's row differs from the function's result.
  package func differs(from statement: Statement, at column: Int32) -> Bool { differs(from: statement.value(column)) }

  /// Compares as SQLite would: by storage class and value.
  @inline(__always)
  private func differs(from value: OpaquePointer?) -> Bool {
    let given = given
    switch (given.kind, sqlite3_value_type(value)) {
    case (.none, let type): return type != SQLITE_NULL
    case (.integer, SQLITE_INTEGER), (.boolean, SQLITE_INTEGER): return sqlite3_value_int64(value) != given.integer
    // SQLite stores a whole number as an integer in either kind of column.
    case (.number, SQLITE_INTEGER): return Int64(exactly: given.number) != sqlite3_value_int64(value)
    case (.number, SQLITE_FLOAT): return sqlite3_value_double(value) != given.number
    case (.bytes, SQLITE_TEXT) where isText, (.bytes, SQLITE_BLOB) where !isText:
      let (known, bytes) = (Self.bytes(of: value, as: result), given.bytes)
      guard known.count == bytes.count else { return true }
      guard let start = known.baseAddress, let other = bytes.baseAddress else { return false }
      return memcmp(start, other, bytes.count) != 0
    default: return true
    }
  }

  /// Returns the function's result from a call.
  @inline(__always)
  package func set(on call: borrowing FunctionCall) { set(given, on: call) }

  /// Returns a result that the function gave for a row from a call.
  @inline(__always)
  package func set(_ given: PlainCell, on call: borrowing FunctionCall) {
    if given.isInteger { call.set(given.integer) } else { setOther(given, on: call) }
  }

  /// Results that are no integers.
  private func setOther(_ given: PlainCell, on call: borrowing FunctionCall) {
    switch given.kind {
    case .none: call.setNull()
    case .integer, .boolean: call.set(given.integer)
    case .number: call.set(given.number)
    case .bytes: if isText { call.set(text: given.bytes) } else { call.set(bytes: given.bytes) }
    }
  }

  /// Whether bytes of the result are text.
  private var isText: Bool { result.form == .text }

  /// Reads an input into its cell. Returns false for a value that does not fit the column.
  @inline(__always)
  private func readInput(_ value: OpaquePointer?, as index: Int) -> Bool {
    let (kind, cell, type) = (kinds + index, cells + index, sqlite3_value_type(value))
    if type == SQLITE_INTEGER, kind.pointee.form == .integer {
      let number = sqlite3_value_int64(value)
      guard number >= kind.pointee.least, number <= kind.pointee.greatest else { return false }
      cell.pointee = PlainCell(integer: number)
      return true
    }
    return readInput(value, stored: type, as: kind.pointee, cell)
  }

  /// The general case: all kinds but integers in an integer column.
  private func readInput(
    _ value: OpaquePointer?, stored type: Int32, as kind: Kind, _ cell: UnsafeMutablePointer<PlainCell>
  ) -> Bool {
    switch (kind.form, type) {
    case (_, SQLITE_NULL): cell.pointee = PlainCell()
    case (.number, SQLITE_FLOAT), (.number, SQLITE_INTEGER):
      cell.pointee = PlainCell(number: sqlite3_value_double(value))
    case (.boolean, SQLITE_INTEGER):
      let number = sqlite3_value_int64(value)
      guard number == 0 || number == 1 else { return false }
      cell.pointee = PlainCell(boolean: number == 1)
    case (.text, SQLITE_TEXT):
      let text = Self.bytes(of: value, as: kind)
      guard text.isUTF8 else { return false }
      cell.pointee = PlainCell(bytes: text)
    case (.bytes, SQLITE_BLOB): cell.pointee = PlainCell(bytes: Self.bytes(of: value, as: kind))
    default: return false
    }
    return true
  }

  /// The bytes of a text or blob in SQLite's memory.
  @inline(__always)
  private static func bytes(of value: OpaquePointer?, as kind: Kind) -> UnsafeRawBufferPointer {
    let start: UnsafeRawPointer?
    if kind.form == .text {
      start = sqlite3_value_text(value).map { UnsafeRawPointer($0) }
    } else {
      start = sqlite3_value_blob(value)
    }
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  /// Whether the column can store the function's result unchanged.
  @inline(__always)
  private func isFitting(_ given: PlainCell) -> Bool {
    if given.isInteger, result.form == .integer {
      return given.integer >= result.least && given.integer <= result.greatest
    }
    return isOtherFitting(given)
  }

  /// Results that are no integers in an integer column.
  private func isOtherFitting(_ given: PlainCell) -> Bool {
    switch (result.form, given.kind) {
    case (_, .none), (.boolean, .boolean): true
    case (.number, .number): !given.number.isNaN
    case (.text, .bytes): given.bytes.count <= Connection.greatestValue && given.bytes.isUTF8
    case (.bytes, .bytes): given.bytes.count <= Connection.greatestValue
    default: false
    }
  }
}
