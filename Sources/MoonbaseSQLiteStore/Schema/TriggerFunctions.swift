import MoonbaseModel
import MoonbaseSQLite

/// The rows whose derived values were set by triggers of the file or the connection.
final class DerivedRows {
  struct Row: Hashable {
    var entity: Int64
    var key: Int64
  }

  /// A value that does not fit every integer type.
  struct Large {
    var row: Row
    var attribute: String
    var value: Value
  }

  private(set) var rows: Set<Row> = []
  private var large: [Large] = []

  func note(entity: Int64, key: Int64) { rows.insert(Row(entity: entity, key: key)) }

  /// Notes the new value of an attribute.
  func note(_ value: Int64, of attribute: @autoclosure () -> String, entity: Int64, key: Int64) {
    guard Int16(exactly: value) == nil else { return }
    large.append(Large(row: Row(entity: entity, key: key), attribute: attribute(), value: .int(value)))
  }

  func note(_ value: Double, of attribute: @autoclosure () -> String, entity: Int64, key: Int64) {
    guard value.magnitude > Double(Int16.max) else { return }
    large.append(Large(row: Row(entity: entity, key: key), attribute: attribute(), value: .double(value)))
  }

  /// Returns the rows, and forgets rows and values.
  func take() -> Set<Row> {
    defer { (rows, large) = ([], []) }
    return rows
  }

  /// Returns the values, and forgets them.
  func takeLarge() -> [Large] {
    defer { large = [] }
    return large
  }
}

/// The functions that Core Data's triggers for derived attributes call to report changed rows. The triggers themselves
/// do the work. Without the functions every insertion into such tables would fail.
enum TriggerFunctions {
  static func register(on connection: Connection, telling derived: DerivedRows) throws {
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
