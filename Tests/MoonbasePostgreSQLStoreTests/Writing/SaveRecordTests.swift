#if PostgreSQL
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// The record by which a store finds out whether a commit without an answer succeeded.
  @Suite struct SaveRecordTests {
    private let bench: ServerBench
    private let writer: PostgreSQLConnection
    private let reader: PostgreSQLConnection
    private let record = SaveRecord()

    init() throws {
      bench = try ServerBench()
      (writer, reader) = (try bench.connection(), try bench.connection())
    }

    /// Begins a save of a row.
    private func begin(_ key: Int) throws {
      try writer.execute("BEGIN; INSERT INTO ZPROJECT (Z_PK, Z_ENT, Z_OPT) VALUES (\(key), 1, 1)")
    }

    private func keys() throws -> [Int64] {
      let rows = try reader.query("SELECT Z_PK FROM ZPROJECT ORDER BY Z_PK")
      return (0..<rows.count).map { rows.integer($0, 0) }
    }

    @Test func aCommitIsKnownHoweverOftenItIsLookedFor() throws {
      for key in 1...3 {
        try begin(key)
        let number = record.next()
        try writer.execute(record.commit(number))
        for _ in 0..<2 { #expect(try record.isCommitted(number, on: reader)) }
      }
      #expect(try keys() == [1, 2, 3])
    }

    /// A commit that reaches the server after its save was found to be absent would double the repeated save.
    @Test(arguments: [0, 1, 2]) func aCommitThatArrivesLateIsRefused(_ earlierSaves: Int) throws {
      for key in 0..<earlierSaves {
        try begin(key)
        try writer.execute(record.commit(record.next()))
      }
      try begin(100)
      let late = record.next()
      for _ in 0..<2 { #expect(try !record.isCommitted(late, on: reader)) }
      let error = #expect(throws: PostgreSQLError.self) { try writer.execute(record.commit(late)) }
      #expect(error?.state == "23502", "\(String(describing: error))")
      try writer.execute("ROLLBACK")
      #expect(try keys() == (0..<Int64(earlierSaves)).map { $0 })
      // The repeated save has a number of its own.
      try begin(101)
      let repeated = record.next()
      try writer.execute(record.commit(repeated))
      #expect(try record.isCommitted(repeated, on: reader) && !record.isCommitted(late, on: reader))
      #expect(try keys().last == 101)
    }
  }
#endif
