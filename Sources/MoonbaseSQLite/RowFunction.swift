internal import MoonbaseCSQLite
package import MoonbasePlatform

/// Calls a function with the plain values of a row, keeps what it gives, and compares it with what a column has: as a program in C would, with nothing
/// allocated and nothing counted for a row.
///
/// What it does not know how to do (other values than the columns are for, a failure) it leaves to who can say what is wrong.
package final class RowFunction {
  /// What a column holds, and a cell.
  package enum Kind {
    case text
    case bytes
    case integer(ClosedRange<Int64>)
    case number
    case boolean
  }

  private let function: RowCall
  private let inputs: ContiguousArray<Kind>
  private let result: Kind
  /// The cells of the row, and behind them the one that the function gave.
  private let cells: UnsafeMutablePointer<PlainCell>
  private let count: Int

  /// Makes one that gets the first `count` inputs.
  package init(_ function: RowCall, of inputs: [Kind], count: Int, result: Kind) {
    self.function = function
    self.inputs = ContiguousArray(inputs)
    self.result = result
    self.count = count
    cells = .allocate(capacity: inputs.count + 1)
    cells.initialize(repeating: PlainCell(), count: inputs.count + 1)
  }

  deinit { cells.deallocate() }

  /// What a row has; valid during the call.
  package func cell(_ index: Int) -> PlainCell { cells[index] }
  /// What the function gave; valid until the next row.
  package var given: PlainCell { cells[inputs.count] }

  /// Calls the function with arguments of a call: from the argument `first` on, every `step`th. False where it knows
  /// no answer.
  package func compute(_ call: borrowing FunctionCall, from first: Int = 0, by step: Int = 1) -> Bool {
    for index in inputs.indices {
      guard let cell = Self.cell(call.value(first &+ index &* step), of: inputs[index]) else { return false }
      cells[index] = cell
    }
    return runs()
  }

  /// Calls the function with columns of a statement's row, from one on. False where it knows no answer.
  package func compute(_ statement: Statement, from column: Int32) -> Bool {
    for index in inputs.indices {
      let value = statement.value(column &+ Int32(truncatingIfNeeded: index))
      guard let cell = Self.cell(value, of: inputs[index]) else { return false }
      cells[index] = cell
    }
    return runs()
  }

  @inline(__always)
  private func runs() -> Bool { function.run(cells, count: count, result: cells + inputs.count) && isGivenFitting }

  /// Whether an argument of a call is another value than the function gave.
  package func differs(from call: borrowing FunctionCall, at index: Int) -> Bool { differs(from: call.value(index)) }

  /// Whether a column of a statement's row is another value than the function gave.
  package func differs(from statement: Statement, at column: Int32) -> Bool { differs(from: statement.value(column)) }

  @inline(__always)
  private func differs(from value: OpaquePointer?) -> Bool {
    let given = given
    switch (given.kind, sqlite3_value_type(value)) {
    case (.none, let type): return type != SQLITE_NULL
    case (.integer, SQLITE_INTEGER), (.boolean, SQLITE_INTEGER): return sqlite3_value_int64(value) != given.integer
    // SQLite keeps a whole number of a column for either as an integer.
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

  /// Returns what the function gave from a call.
  package func set(on call: borrowing FunctionCall) { set(given, on: call) }

  /// Returns what it gave for a row from a call.
  package func set(_ given: PlainCell, on call: borrowing FunctionCall) {
    switch given.kind {
    case .none: call.setNull()
    case .integer, .boolean: call.set(given.integer)
    case .number: call.set(given.number)
    case .bytes: if isText { call.set(text: given.bytes) } else { call.set(bytes: given.bytes) }
    }
  }

  private var isText: Bool { if case .text = result { true } else { false } }

  /// Nil for what the column is not for.
  @inline(__always)
  private static func cell(_ value: OpaquePointer?, of kind: Kind) -> PlainCell? {
    switch (kind, sqlite3_value_type(value)) {
    case (_, SQLITE_NULL): return PlainCell()
    case (.text, SQLITE_TEXT):
      let text = bytes(of: value, as: kind)
      return text.isUTF8 ? PlainCell(bytes: text) : nil
    case (.bytes, SQLITE_BLOB): return PlainCell(bytes: bytes(of: value, as: kind))
    case (.integer(let range), SQLITE_INTEGER):
      let number = sqlite3_value_int64(value)
      return range.contains(number) ? PlainCell(integer: number) : nil
    case (.number, SQLITE_FLOAT), (.number, SQLITE_INTEGER): return PlainCell(number: sqlite3_value_double(value))
    case (.boolean, SQLITE_INTEGER):
      let number = sqlite3_value_int64(value)
      return number == 0 || number == 1 ? PlainCell(boolean: number == 1) : nil
    default: return nil
    }
  }

  @inline(__always)
  private static func bytes(of value: OpaquePointer?, as kind: Kind) -> UnsafeRawBufferPointer {
    let start: UnsafeRawPointer?
    if case .text = kind {
      start = sqlite3_value_text(value).map { UnsafeRawPointer($0) }
    } else {
      start = sqlite3_value_blob(value)
    }
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : Int(sqlite3_value_bytes(value)))
  }

  /// Whether the column holds what the function gave as it is.
  private var isGivenFitting: Bool {
    let given = given
    return switch (result, given.kind) {
    case (_, .none), (.boolean, .boolean): true
    case (.text, .bytes): given.bytes.count <= Connection.greatestValue && given.bytes.isUTF8
    case (.bytes, .bytes): given.bytes.count <= Connection.greatestValue
    case (.integer(let range), .integer): range.contains(given.integer)
    case (.number, .number): !given.number.isNaN
    default: false
    }
  }
}
