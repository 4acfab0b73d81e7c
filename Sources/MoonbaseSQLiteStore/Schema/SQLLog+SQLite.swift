// Clients that open a store also need `SQLLog`.
@_exported public import MoonbaseSQL
import MoonbaseSQLite

/// The connection of the log with SQLite's tracing.
extension SQLLog {
  /// Makes a connection report its statements to the log. The text of the values is included only if the log asks for
  /// them. Called on the thread of the connection, after each statement.
  func follow(_ connection: Connection) {
    let write = write
    connection.trace(showingValues: level == .values) { report in
      write(Entry(sql: report.sql, statement: report.template, rowCount: report.rowCount, duration: report.duration))
    }
  }
}
