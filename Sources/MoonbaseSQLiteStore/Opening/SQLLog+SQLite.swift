// Who opens a store names its log.
@_exported public import MoonbaseSQL
import MoonbaseSQLite

extension SQLLog {
  /// Has a connection tell of its statements.
  func follow(_ connection: Connection) {
    let write = write
    connection.trace(showingValues: level == .values) { report in
      write(Entry(sql: report.sql, statement: report.template, rowCount: report.rowCount, duration: report.duration))
    }
  }
}
