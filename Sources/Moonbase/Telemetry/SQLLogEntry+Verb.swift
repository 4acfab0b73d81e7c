// Names for telemetry.

extension SQLLog.Entry {
  /// The first word of the statement, as `SELECT`.
  var verb: String { String(statement.prefix { $0.isLetter }).uppercased() }
}
