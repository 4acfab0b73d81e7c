#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// A cursor on the server. Many light rows are received at once, and the server sends the next ones while these are
  /// decoded.
  final class PostgreSQLCursor: RowCursor, @unchecked Sendable {  // guarded by the session's `turn`
    /// Decodes a range of received rows.
    typealias Decoding = @Sendable (ResultRows, Range<Int>, RowCollector) throws -> Void

    private let sql: SQLFragment
    private let name: String
    private let decode: Decoding
    private let session: PostgreSQLReadSession
    /// Whether the cursor is open on the server.
    private(set) var isOpen = false
    /// Whether the server may have more rows than the received ones.
    private var hasMore = true
    /// The received rows, and the first of them that was not decoded.
    private var rows: ResultRows?
    private var position = 0
    /// The rows after the received ones, which the server sends meanwhile.
    private var following: PendingRows?
    /// The number of rows of the last request.
    private var size = 0
    /// The average number of bytes of the last decoded rows.
    private var rowWeight = Int.max
    /// The error that ended the cursor.
    var failure: (any Error)?

    /// The greatest number of rows that are requested at once, and of their bytes.
    private static let (greatestSize, greatestWeight) = (4 * RowPage.capacity, 1 << 19)

    init(_ sql: SQLFragment, name: String, session: PostgreSQLReadSession, decode: @escaping Decoding) {
      (self.sql, self.name, self.session, self.decode) = (sql, name, session, decode)
    }

    deinit { session.forget(self) }

    /// Whether all rows were decoded.
    var isOver: Bool { !hasMore && position == rows?.count }

    func next(upTo count: Int) throws -> RowBatch { try session.page(of: self, upTo: count) }

    /// Decodes the next rows, after receiving them where none are left.
    func page(upTo count: Int, store: StoreNumber, _ connection: PostgreSQLConnection) throws -> RowBatch {
      if position == rows?.count ?? 0 { try receive(upTo: min(count, Int(Int32.max)), connection) }
      guard let rows, rows.count > 0 else { return RowBatch() }
      let range = position..<min(rows.count, position + count)
      let collector = RowCollector(store: store, expecting: range.count)
      try decode(rows, range, collector)
      position = range.upperBound
      rowWeight = collector.weight / range.count
      return collector.finish()
    }

    /// Receives rows. Where they are light, and the cursor is read further than its first page, the next rows are
    /// requested at once.
    private func receive(upTo count: Int, _ connection: PostgreSQLConnection) throws {
      if !isOpen {
        try connection.queryOnce("DECLARE \(name) NO SCROLL CURSOR FOR \(sql.text)", Parameters(sql.values))
        isOpen = true
      }
      let rows: ResultRows
      if let following {
        rows = try connection.rows(of: following)
      } else {
        size = count
        rows = try connection.queryOnce(request)
      }
      (self.rows, position, following) = (rows, 0, nil)
      hasMore = rows.count == size
      if !hasMore { return try close(connection) }
      let next = min(Self.greatestSize, Self.greatestWeight / max(1, rowWeight))
      guard count >= RowPage.capacity, next >= count else { return }
      size = next
      following = try connection.begin(request)
    }

    private var request: String { "FETCH FORWARD \(size) FROM \(name)" }

    /// Closes the cursor on the server.
    func close(_ connection: PostgreSQLConnection) throws {
      isOpen = false
      try connection.execute("CLOSE \(name)")
    }
  }
#endif
