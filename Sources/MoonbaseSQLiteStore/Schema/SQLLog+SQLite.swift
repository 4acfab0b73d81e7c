// Clients that open a store also need `SQLLog`.
@_exported public import MoonbaseSQL
import MoonbaseSQLite

extension SQLLog {
  /// Makes a connection report its statements to the log.
  func follow(_ connection: Connection) {
    let write = write
    connection.trace(showingValues: level == .values) { report in
      write(Entry(sql: report.sql, statement: report.template, rowCount: report.rowCount, duration: report.duration))
    }
  }
}
