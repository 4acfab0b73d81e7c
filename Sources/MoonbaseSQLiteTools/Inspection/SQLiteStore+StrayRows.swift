package import MoonbaseSQL
import MoonbaseSQLite
package import MoonbaseSQLiteStore

extension SQLiteStore {
  /// The rows that belong to no entity, by table and `Z_ENT`. Reads each table once.
  package func strayRows() throws -> [StrayRows] {
    try read { session in
      try StrayRows.statements(layout).flatMap { table, sql in
        let statement = try session.connection.statement(sql)
        defer { statement.reset() }
        var found: [StrayRows] = []
        while try statement.step() {
          let number = statement.isNull(0) ? nil : statement.text(0)
          found.append(StrayRows(table: table, number: number, count: Int(statement.integer(1))))
        }
        return found
      }
    }
  }
}
