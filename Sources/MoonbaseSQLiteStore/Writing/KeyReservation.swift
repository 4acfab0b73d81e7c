import MoonbaseModel
import MoonbaseGraph
import MoonbaseSQL
import MoonbaseSQLite

/// Sets aside keys. `Z_PRIMARYKEY` holds the greatest assigned key of each table.
///
/// Core Data gives keys in the same way, so that both can write to a store alternately. Keys of deleted rows are never
/// given again; a rolled back save gives its keys back.
package struct KeyReservation {
  /// The greatest key that may be assigned. The margin leaves room for imports; no table has so many rows.
  package static let greatestKey = StoreLayout.greatestKey

  /// The connection of the transaction.
  let connection: Connection
  /// The path of the store, for messages.
  let path: String

  /// Sets aside `count` keys in the caller's transaction and returns the first. For a count of 0, returns the next free
  /// key.
  ///
  /// Throws `.invalidStore` where the file's number leaves no room for keys. `number` is the number of the root entity
  /// in `Z_PRIMARYKEY`, `name` its name for messages.
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

  /// The message says how to repair the number.
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
