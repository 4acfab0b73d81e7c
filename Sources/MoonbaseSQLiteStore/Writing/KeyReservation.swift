import MoonbaseModel
import MoonbaseGraph
import MoonbaseSQLite

/// Sets keys aside: `Z_PRIMARYKEY` holds the greatest one given out, for each table.
package struct KeyReservation {
  /// Above this key there is no room for the objects of many imports: none has so many rows.
  package static let greatestKey = Int64.max - Int64(1) << 32

  let connection: Connection
  let path: String

  /// Sets so many keys aside, in the caller's transaction, and returns the first; of none, the one that would be next.
  ///
  /// Throws `.invalidStore` where the file's number is none that keys can follow.
  func reserve(_ count: Int, number: Int64, name: String) throws -> Int64 {
    let statement = try connection.statement(
      "UPDATE OR ABORT Z_PRIMARYKEY SET Z_MAX = IFNULL(Z_MAX, 0) + ? WHERE Z_ENT = ? "
        + "AND (Z_MAX IS NULL OR TYPEOF(Z_MAX) = 'integer' AND Z_MAX BETWEEN 0 AND ?) RETURNING Z_MAX")
    statement.bind(Int64(count), at: 1)
    statement.bind(number, at: 2)
    statement.bind(Int64.max - Int64(max(count, 1)), at: 3)
    defer { statement.reset() }
    guard try statement.step() else { throw try damage(number, of: name) }
    let last = statement.integer(0)
    while try statement.step() {}
    return last - Int64(count) + 1
  }

  private func damage(_ number: Int64, of name: String) throws -> GraphError {
    let statement = try connection.statement("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = ?")
    statement.bind(number, at: 1)
    defer { statement.reset() }
    let what =
      try statement.step()
      ? "the greatest key of \(name) (Z_MAX) is \(statement.text(0)), and no key can follow it; set it to the greatest Z_PK"
      : "it has no row for \(name) (Z_ENT \(number))"
    return GraphError(.invalidStore, message: "\(path) is damaged: in Z_PRIMARYKEY \(what)", entity: name)
  }
}
