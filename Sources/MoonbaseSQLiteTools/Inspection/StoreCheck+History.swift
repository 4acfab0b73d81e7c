import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The check of persistent history: tables `ACHANGE`, `ATRANSACTION` and `ATRANSACTIONSTRING`.
extension StoreCheck {
  /// Finds history rows that are invalid or have no transaction. A file without a history is valid.
  func checkHistory() throws {
    // If only one of the tables exists, it is reported as a missing feature.
    guard let form = try? HistoryForm(connection, path: file.path) else { return }
    let kinds = "typeof(ZCHANGETYPE) <> 'integer' OR ZCHANGETYPE NOT BETWEEN 0 AND 2"
    let numbers = ["ZENTITY", "ZENTITYPK", "ZTRANSACTIONID"].map { "typeof(\($0)) <> 'integer'" }.joined(
      separator: " OR ")
    try checkHistory("ACHANGE", where: "\(kinds) OR \(numbers)", "its kind, entity, object or transaction is none")
    try checkHistory(
      "ACHANGE", where: "typeof(ZTRANSACTIONID) = 'integer' AND ZTRANSACTIONID NOT IN (SELECT Z_PK FROM ATRANSACTION)",
      "its transaction is not there")
    try checkHistory("ATRANSACTION", where: "typeof(ZTIMESTAMP) NOT IN ('real', 'integer')", "its time is none")
    guard form.internsTexts else { return }
    try checkHistory("ATRANSACTIONSTRING", where: "typeof(ZNAME) <> 'text'", "its text is none")
  }

  /// Reports the rows of a history table that satisfy a condition. `what` is the message of each finding, such as "its
  /// transaction is not there".
  private func checkHistory(_ table: String, where condition: String, _ what: String) throws {
    let statement = try connection.statement("SELECT Z_PK FROM \(table) WHERE \(condition) ORDER BY Z_PK")
    defer { statement.reset() }
    while try statement.step() {
      try HostWork.charge()
      try tell(StoreFinding(kind: .history, place: "\(table) \(statement.text(0))", message: what))
    }
  }
}
