import MoonbaseSQLite

/// The functions that Core Data's triggers for derived attributes call. The triggers themselves do the work; the calls only
/// tell a context which rows changed on the way. Without them every insertion into such tables would fail.
enum TriggerFunctions {
  static func register(on connection: Connection) throws {
    for name in [
      "NSCoreDataDATriggerUpdatedAffectedObjectValue", "NSCoreDataDATriggerInsertUpdatedAffectedObjectValue",
    ] {
      try connection.register(function: name, arguments: 5, traits: .innocuous) { $0.setNull() }
    }
  }
}
