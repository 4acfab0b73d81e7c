import MoonbaseSQLite

/// The rows whose derived values triggers of the file set, as they tell it.
final class DerivedRows {
  struct Row: Hashable {
    var entity: Int64
    var key: Int64
  }

  private(set) var rows: Set<Row> = []

  func note(entity: Int64, key: Int64) { rows.insert(Row(entity: entity, key: key)) }

  /// Hands them over.
  func take() -> Set<Row> {
    defer { rows = [] }
    return rows
  }
}

/// The functions that Core Data's triggers for derived attributes call. The triggers themselves do the work; the calls tell a
/// context which rows changed on the way. Without them every insertion into such tables would fail.
enum TriggerFunctions {
  static func register(on connection: Connection, telling derived: DerivedRows) throws {
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ] {
      // The table, Z_ENT, Z_PK, the attribute's name and its value.
      try connection.register(function: name, arguments: 5, traits: .innocuous) { call in
        derived.note(entity: call.integer(1), key: call.integer(2))
        call.setNull()
      }
    }
  }
}
