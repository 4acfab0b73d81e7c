import MoonbaseModel
package import MoonbaseSQLite

/// The rows whose derived values were set by triggers of the file or the connection.
///
/// Owned by a writing session. The triggers report rows while a save runs, and the store takes them afterwards to
/// refresh objects in memory. Confined to the session's thread.
package final class DerivedRows {
  /// A row, by its numbers in the file.
  struct Row: Hashable {
    /// The number in `Z_ENT`.
    var entity: Int64
    /// The key `Z_PK`.
    var key: Int64
  }

  /// A value that does not fit every integer type.
  ///
  /// The attribute may be a 16-bit integer; the store then reports the misfit.
  struct Large {
    /// The row that has the value.
    var row: Row
    /// The name of the attribute.
    var attribute: String
    /// The value that the trigger wrote.
    var value: Value
  }

  /// Each row once.
  private(set) var rows: Set<Row> = []
  /// The values since the last `drainLarge`.
  private var large: [Large] = []

  /// Makes a list without rows.
  package init() {}

  /// Notes a changed row.
  func note(entity: Int64, key: Int64) { rows.insert(Row(entity: entity, key: key)) }

  /// Notes the new value of an attribute. Values that fit 16 bits are ignored, because they fit every type. `attribute`
  /// is evaluated only for larger ones.
  func note(_ value: Int64, of attribute: @autoclosure () -> String, entity: Int64, key: Int64) {
    guard Int16(exactly: value) == nil else { return }
    large.append(Large(row: Row(entity: entity, key: key), attribute: attribute(), value: .int(value)))
  }

  /// For floating-point values. Values of up to 32767 are ignored.
  func note(_ value: Double, of attribute: @autoclosure () -> String, entity: Int64, key: Int64) {
    guard value.magnitude > Double(Int16.max) else { return }
    large.append(Large(row: Row(entity: entity, key: key), attribute: attribute(), value: .double(value)))
  }

  /// Returns the rows, and forgets rows and values. Called at the beginning of a transaction, to discard former rows,
  /// and after its writes.
  func drainRows() -> Set<Row> {
    defer { (rows, large) = ([], []) }
    return rows
  }

  /// Returns the values, and forgets them. Called before the commit, so that a misfit can still be refused.
  func drainLarge() -> [Large] {
    defer { large = [] }
    return large
  }
}

/// The functions that Core Data's triggers for derived attributes call to report changed rows. The triggers themselves
/// do the work. Without the functions every insertion into such tables would fail.
///
/// The functions return NULL and only note the row.
package enum TriggerFunctions {
  /// `derived` receives the rows.
  package static func register(on connection: Connection, telling derived: DerivedRows) throws {
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ] {
      // The arguments: table, Z_ENT, Z_PK, the attribute's name and its value.
      try connection.register(function: name, arguments: 5, traits: .innocuous) { call in
        let (entity, key) = (call.integer(1), call.integer(2))
        derived.note(entity: entity, key: key)
        switch call.storage(4) {
        case .integer: derived.note(call.integer(4), of: call.text(3), entity: entity, key: key)
        case .real: derived.note(call.double(4), of: call.text(3), entity: entity, key: key)
        case .null, .text, .blob: break
        }
        call.setNull()
      }
    }
  }
}
