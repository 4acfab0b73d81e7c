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
    private var state = State.waiting

    private enum State {
      /// No row was asked for.
      case waiting
      /// The connection receives rows.
      case receiving(PostgreSQLConnection)
      /// The last row was received.
      case ended
      /// An error ended the rows. The pool refuses a connection in the midst of a statement.
      case failed(any Error)
    }

    /// The greatest number of bytes that are received for a page.
    private static let greatestSize = 4 << 20

    init(_ sql: String, _ reader: RowReader, session: PostgreSQLReadSession) {
      (self.sql, self.reader, self.session) = (sql, reader, session)
    }

    func next(upTo count: Int) throws -> RowBatch {
      do { return try page(upTo: count) } catch {
        state = .failed(error)
        throw error
      }
    }

    private func page(upTo count: Int) throws -> RowBatch {
      switch state {
      case .failed(let error): throw error
      case .ended: return RowBatch()
      case .receiving(let connection): return try page(upTo: count, from: connection)
      case .waiting:
        try session.checkGoesOn()
        let connection = try session.store.pool.acquire { try $0.beginCopying(sql) }
        state = .receiving(connection)
        return try page(upTo: count, from: connection)
      }
    }

    private func page(upTo count: Int, from connection: PostgreSQLConnection) throws -> RowBatch {
      try session.checkGoesOn()
      return try session.translating {
        let rows = try connection.copiedRows(upTo: count, ofSize: Self.greatestSize)
        let collector = RowCollector(store: session.store.number, expecting: rows.count)
        try reader.collect(rows, 0..<rows.count, into: collector)
        if rows.count == 0 {
          state = .ended
          session.store.pool.giveBack(connection)
        }
        return collector.finish()
      }
    }
  }
#endif
