import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A running statement, whose rows are read in portions.
///
/// Belongs to one session and holds its connection while the statement runs. Every call takes the session's `turn`, so
/// a cursor may be used by any thread, one at a time. A cursor ends with its last row, an error, its session or its own
/// release.
class SQLiteCursor: @unchecked Sendable {  // changed only while the session's `turn` is held
  /// The query, for functions and messages.
  let query: StoreQuery
  /// The statement with its parameters.
  let sql: SQLFragment
  /// Decodes the rows.
  let plan: RowPlan
  /// The session whose connection is used.
  let session: SQLiteReadSession
  /// Nil before the first and after the last row.
  fileprivate var statement: Statement?
  /// Whether rows were returned to the caller.
  fileprivate var hasBegun = false
  /// Whether no more rows follow.
  fileprivate var isOver = false
  /// The error that ended the cursor. A failed cursor throws this again and never appears to be at its end.
  fileprivate var failure: (any Error)?

  /// Nothing is read yet.
  init(_ query: StoreQuery, _ sql: SQLFragment, _ plan: RowPlan, _ session: SQLiteReadSession) {
    (self.query, self.sql, self.plan, self.session) = (query, sql, plan, session)
  }

  deinit { session.forget(self) }
}

/// The rows of a statement.
///
/// For fetches of objects.
final class SQLiteRowCursor: SQLiteCursor, RowCursor, @unchecked Sendable {  // as its superclass
  /// At most `count` rows, fewer for large rows; empty at the end.
  func next(upTo count: Int) throws -> RowBatch { try session.page(of: self, upTo: count) }
  /// Reads the keys of all further rows, without their values, and ends the cursor.
  func remainingIDs() throws -> IDList { try session.remainingIDs(of: self) }
}

/// The keys of a statement.
///
/// For fetches that need only object IDs.
final class SQLiteIDCursor: SQLiteCursor, IDCursor, @unchecked Sendable {  // as its superclass
  /// Empty at the end.
  func next(upTo count: Int) throws -> IDList { try session.ids(of: self, upTo: count) }
}

/// The values of a statement.
///
/// For fetches of dictionaries and aggregates.
final class SQLiteValueCursor: SQLiteCursor, RowCursor, @unchecked Sendable {  // as its superclass
  /// Decodes the selected columns.
  fileprivate let reader: ValueReader

  init(
    _ query: StoreQuery, _ sql: SQLFragment, _ plan: RowPlan, _ session: SQLiteReadSession, reader: ValueReader
  ) {
    self.reader = reader
    super.init(query, sql, plan, session)
  }

  /// Each row has the selected values in the order of the query.
  func next(upTo count: Int) throws -> RowBatch { try session.values(of: self, upTo: count) }
}

extension SQLiteReadSession {
  /// The greatest number of bytes of a page. 4 MiB, or less if a script's memory is limited.
  private static var greatestPage: Int { min(4 << 20, HostWork.greatestValue / 8) }

  /// The first page is small, because many callers stop there.
  fileprivate func page(of cursor: SQLiteRowCursor, upTo count: Int) throws -> RowBatch {
    try advance(cursor, atEnd: []) { statement in
      let rows = RowCollector(store: store.number, expecting: cursor.hasBegun ? count : 0)
      cursor.isOver = try !cursor.plan.collect(statement, into: rows, limit: count, weight: Self.greatestPage)
      return rows.finish()
    }
  }

  /// As `page(of:upTo:)`, for values.
  fileprivate func values(of cursor: SQLiteValueCursor, upTo count: Int) throws -> RowBatch {
    try advance(cursor, atEnd: []) { statement in
      let rows = RowCollector(store: store.number, expecting: cursor.hasBegun ? count : 0)
      cursor.isOver = try !cursor.reader.collect(statement, into: rows, limit: count, weight: Self.greatestPage)
      return rows.finish()
    }
  }

  /// Reads all rows at once.
  fileprivate func remainingIDs(of cursor: SQLiteRowCursor) throws -> IDList {
    try advance(cursor, atEnd: IDList()) { statement in
      let ids = try Self.rest(of: statement, plan: cursor.plan)
      cursor.isOver = true
      return ids
    }
  }

  /// At most `count` IDs.
  fileprivate func ids(of cursor: SQLiteIDCursor, upTo count: Int) throws -> IDList {
    try advance(cursor, atEnd: IDList()) { statement in
      let (ids, mayGoOn) = try cursor.plan.collectIDs(statement, upTo: count)
      cursor.isOver = !mayGoOn
      return ids
    }
  }

  /// Continues the statement of a cursor. Until rows were returned, a cursor starts again with another connection if
  /// the tables were changed. After an error the cursor is over and throws the same error again.
  private func advance<Page: Sendable>(
    _ cursor: SQLiteCursor, atEnd empty: Page, _ body: (Statement) throws -> Page
  ) throws -> Page {
    try turn.withLock { _ in
      for _ in 0..<20 {
        if let failure = cursor.failure { throw failure }
        if cursor.isOver { return empty }
        try checkGoesOn()
        guard let kept else { break }
        let result = Result { try body(try begun(cursor, kept)) }
        if cursor.hasBegun || isView || kept.isSound(store.file) {
          cursor.hasBegun = true
          do {
            let rows = try result.get()
            if cursor.isOver { finish(cursor) }
            return rows
          } catch {
            finish(cursor)
            let failure = store.explained(error)
            cursor.failure = failure
            throw failure
          }
        }
        finish(cursor)
        cursor.isOver = false
        guard running.isEmpty else { break }
        store.readers.giveBack(kept, isView: false)
        self.kept = nil
        self.kept = try store.lend(isView: false, to: self)
      }
      throw store.explained(FileChanged())
    }
  }

  /// The statement is prepared by the first call.
  private func begun(_ cursor: SQLiteCursor, _ session: Session) throws -> Statement {
    if let statement = cursor.statement { return statement }
    let statement = try session.statement(cursor.sql, for: cursor.query)
    cursor.statement = statement
    running[ObjectIdentifier(cursor)] = statement
    return statement
  }

  /// Resets the statement, so that the connection no longer holds a state.
  private func finish(_ cursor: SQLiteCursor) {
    running.removeValue(forKey: ObjectIdentifier(cursor))?.reset()
    cursor.statement = nil
  }

  /// Called when a cursor is released, on any thread.
  fileprivate func forget(_ cursor: SQLiteCursor) { turn.withLock { _ in finish(cursor) } }
}
