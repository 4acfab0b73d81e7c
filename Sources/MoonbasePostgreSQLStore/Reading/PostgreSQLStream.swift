#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL

  /// The rows of a query without parameters, which a connection of its own receives by `COPY`: a statement sees one
  /// state of the store. The server does without the copy of the rows that a cursor makes.
  final class PostgreSQLStream: RowCursor, @unchecked Sendable {  // used by one thread at a time
    private let sql: String
    private let reader: RowReader
    private let session: PostgreSQLReadSession
    /// Nil before the first row was asked for, and after the last row.
    private var connection: PostgreSQLConnection?
    private var hasBegun = false
    /// The error that ended the rows.
    private var failure: (any Error)?

    /// The greatest number of bytes that are received for a page.
    private static let greatestSize = 4 << 20

    init(_ sql: String, _ reader: RowReader, session: PostgreSQLReadSession) {
      (self.sql, self.reader, self.session) = (sql, reader, session)
    }

    func next(upTo count: Int) throws -> RowBatch {
      if let failure { throw failure }
      do { return try page(upTo: count) } catch {
        failure = error
        // The pool refuses a connection in the midst of a statement.
        connection = nil
        throw error
      }
    }

    private func page(upTo count: Int) throws -> RowBatch {
      try session.checkGoesOn()
      let pool = session.store.pool
      if !hasBegun {
        connection = try pool.acquire { try $0.beginCopying(sql) }
        hasBegun = true
      }
      guard let connection else { return RowBatch() }
      return try session.translating {
        let rows = try connection.copiedRows(upTo: count, ofSize: Self.greatestSize)
        let collector = RowCollector(store: session.store.number, expecting: rows.count)
        try reader.collect(rows, 0..<rows.count, into: collector)
        if rows.count == 0 {
          self.connection = nil
          pool.giveBack(connection)
        }
        return collector.finish()
      }
    }
  }
#endif
