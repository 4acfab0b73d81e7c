#if PostgreSQL
  import MoonbaseGraph
  import MoonbasePlatform
  import MoonbasePostgreSQL

  /// The record of a store's last save in the schema, written with each commit: a number under a unique session name.
  /// If a connection is lost before the answer to a commit, the record tells whether the commit succeeded.
  ///
  /// The numbers of saves are even. An odd number follows the number of a save that was found to be absent. A commit
  /// that reaches the server after that is refused, because the numbers never decrease.
  final class SaveRecord: Sendable {
    private let session = UUID.random().uuidString
    private let last = Lock(Int64(0))

    /// The number of the next save.
    func next() -> Int64 {
      last.withLock {
        $0 += 2
        return $0
      }
    }

    /// The statements that commit a transaction with the record. A record with a greater number refuses the commit,
    /// because `Z_NUMBER` must not be NULL.
    func commit(_ number: Int64) -> String {
      "INSERT INTO Z_SAVES (Z_SESSION, Z_NUMBER, Z_TIME) VALUES ('\(session)', \(number), now()) ON CONFLICT (Z_SESSION) "
        + "DO UPDATE SET Z_NUMBER = CASE WHEN Z_SAVES.Z_NUMBER < EXCLUDED.Z_NUMBER THEN EXCLUDED.Z_NUMBER END, "
        + "Z_TIME = EXCLUDED.Z_TIME; COMMIT"
    }

    /// Whether a save was committed. The statement waits for a transaction that still holds the row, and sees its
    /// outcome. A save that is absent cannot be committed later.
    func isCommitted(_ number: Int64, on connection: PostgreSQLConnection) throws -> Bool {
      var parameters = Parameters()
      parameters.append(session)
      parameters.append(number + 1)
      let rows = try connection.query(
        "INSERT INTO Z_SAVES (Z_SESSION, Z_NUMBER, Z_TIME) VALUES ($1, $2, now()) ON CONFLICT (Z_SESSION) DO UPDATE "
          + "SET Z_NUMBER = CASE WHEN Z_SAVES.Z_NUMBER = EXCLUDED.Z_NUMBER - 1 THEN Z_SAVES.Z_NUMBER "
          + "ELSE GREATEST(Z_SAVES.Z_NUMBER, EXCLUDED.Z_NUMBER) END, Z_TIME = EXCLUDED.Z_TIME RETURNING Z_NUMBER",
        parameters)
      return rows.integer(0, 0) == number
    }

    /// Removes the records of sessions without a save for a month. A session that saves again makes its record anew.
    /// The records stay where the user may not delete rows.
    static func removeOld(on connection: PostgreSQLConnection) throws {
      do {
        try connection.execute("DELETE FROM Z_SAVES WHERE Z_TIME < now() - interval '30 days'")
      } catch let error as PostgreSQLError where !error.isConnectionLost {}
    }

    /// The state of other stores' records, which changes with each of their saves.
    func markOfOthers(on connection: PostgreSQLConnection) throws -> [Int64] {
      var parameters = Parameters()
      parameters.append(session)
      let rows = try connection.query(
        "SELECT COUNT(*), COALESCE(SUM(Z_NUMBER), 0)::bigint FROM Z_SAVES WHERE Z_SESSION <> $1", parameters)
      return [rows.integer(0, 0), rows.integer(0, 1)]
    }
  }
#endif
