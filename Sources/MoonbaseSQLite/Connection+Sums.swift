internal import MoonbaseCSQLite
internal import MoonbasePlatform

extension Connection {
  /// Registers a sum of integers without SQLite's error on overflow of 64 bits: the sum becomes a double. NULL is
  /// ignored, the sum of no values is NULL, and the sum of values that are not all integers is an empty text.
  ///
  /// SQLite's `SUM` fails with an error beyond 64 bits, which would fail the whole query.
  package func registerIntegerSum(_ name: String) throws {
    let code = sqlite3_create_function_v2(
      handle, name, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY, nil, nil,
      { context, _, values in
        guard let context, let value = values?[0], sqlite3_value_type(value) != SQLITE_NULL else { return }
        guard let sum = IntegerSum.place(in: context, isMade: true) else { return sqlite3_result_error_nomem(context) }
        if sqlite3_value_type(value) == SQLITE_INTEGER {
          sum.pointee.add(sqlite3_value_int64(value))
        } else {
          sum.pointee.isDamaged = true
        }
      },
      { context in
        guard let context else { return }
        guard let sum = IntegerSum.place(in: context, isMade: false)?.pointee else {
          return sqlite3_result_null(context)
        }
        if sum.isDamaged {
          sqlite3_result_text(context, "", 0, nil)
        } else if let integer = sum.integer {
          sqlite3_result_int64(context, integer)
        } else {
          sqlite3_result_double(context, sum.double)
        }
      }, nil)
    if code != SQLITE_OK { throw error(code, sql: nil) }
  }
}

/// A 128-bit sum in memory that SQLite clears and frees. The low 64 bits as an unsigned number, the high 64 bits with
/// the sign.
private struct IntegerSum {
  private var low: UInt64
  private var high: Int64
  /// Whether a value was not an integer.
  var isDamaged: Bool

  /// The sum of the current group; nil without memory, or if no value was added yet and `isMade` is false.
  static func place(in context: OpaquePointer, isMade: Bool) -> UnsafeMutablePointer<IntegerSum>? {
    sqlite3_aggregate_context(context, isMade ? Int32(MemoryLayout<IntegerSum>.size) : 0)?
      .assumingMemoryBound(to: IntegerSum.self)
  }

  /// Sign-extended to 128 bits.
  mutating func add(_ number: Int64) {
    let (sum, isCarried) = low.addingReportingOverflow(UInt64(bitPattern: number))
    low = sum
    high &+= (number >> 63) &+ (isCarried ? 1 : 0)
  }

  /// Nil if the sum does not fit in 64 bits.
  var integer: Int64? {
    let integer = Int64(bitPattern: low)
    return high == integer >> 63 ? integer : nil
  }

  /// Rounded as a sum in memory is.
  var double: Double { Double(high << 32 | Int64(low >> 32)) * 0x1p32 + Double(low & 0xffff_ffff) }
}
