import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

/// The log of the statements that a store runs.
@Suite struct SQLLogTests {
  /// A store of three people, with the entries of its log.
  private struct Bench {
    let people: PeopleStore
    let entries: Lock<[SQLLog.Entry]>

    init(_ level: SQLLog.Level) throws {
      let entries = Lock<[SQLLog.Entry]>([])
      self.entries = entries
      people = try PeopleStore(
        options: SQLiteStoreOptions(sqlLog: SQLLog(level) { entry in entries.withLock { $0.append(entry) } }))
      try people.insert(
        people.row("Person", ["firstName": .string("Ada"), "age": .int(36)]), people.row("Person", ["age": .int(40)]),
        people.row("Person", ["age": .int(7)]))
      // Opens the connection for reading.
      _ = try people.store.snapshots(matching: people.query("Person"))
    }

    /// The entries logged during `body`.
    func log(_ body: () throws -> Void) rethrows -> [SQLLog.Entry] {
      entries.withLock { $0 = [] }
      try body()
      return entries.withLock { $0 }
    }
  }

  @Test func aStatementIsToldWithItsRowsAndItsTime() throws {
    let bench = try Bench(.statements)
    let query = bench.people.query("Person", try Predicate(format: "age > 30"))
    let log = try bench.log { _ = try bench.people.store.snapshots(matching: query) }
    #expect(log.count == 1)
    #expect(log[0].sql.hasSuffix(" FROM ZPERSON t0 WHERE t0.ZAGE > ?"))
    #expect(log[0].rowCount == 2 && log[0].duration >= .zero)
    #expect(log[0].description.hasSuffix(" ms, 2 rows: " + log[0].sql))
  }

  @Test func valuesStandInTheStatementWhereTheyAreAskedFor() throws {
    let bench = try Bench(.values)
    let query = bench.people.query("Person", try Predicate(format: "age > 30 AND firstName == %@", .string("O'Hara")))
    let log = try bench.log { _ = try bench.people.store.snapshots(matching: query) }
    #expect(log.map(\.rowCount) == [0])
    #expect(log[0].sql.hasSuffix("WHERE (t0.ZAGE > 30) AND (t0.ZFIRSTNAME = 'O''Hara')"), "\(log[0].sql)")
  }

  @Test func aSaveTellsOfItsTransactionAndOfWhatItWrites() throws {
    let bench = try Bench(.values)
    let log = try bench.log {
      try bench.people.insert(bench.people.row("Person", ["firstName": .string("Bo")]))
    }.map(\.sql)
    #expect(log.contains { $0.hasPrefix("INSERT") && $0.contains("'Bo'") }, "\(log)")
    #expect(log.contains("BEGIN IMMEDIATE") && log.last == "COMMIT")
  }

  /// Statements that begin and end a read, or check for changed tables, are not logged.
  @Test func whatIsToldIsWhatIsCounted() throws {
    let bench = try Bench(.statements)
    let store = bench.people.store
    var statements: [String] = []
    let log = try bench.log {
      statements = try bench.people.statements {
        let session = try store.beginReading(.view)
        _ = try session.snapshots(matching: bench.people.query("Person"))
        _ = try session.count(matching: bench.people.query("Department"))
        session.end()
      }
    }
    #expect(log.map(\.sql) == statements)
  }

  /// The writing connection does not query the schema again: SQLite loads the whole schema with the first query about a
  /// table.
  @Test func theConnectionThatWritesAsksForNoTablesBeforeItWrites() throws {
    let bench = try Bench(.statements)
    let entries = Lock<[String]>([])
    let log = SQLLog(.statements) { entry in entries.withLock { $0.append(entry.sql) } }
    let copy = bench.people.folder.file("copy.sqlite")
    try bench.people.store.backUp(to: copy)
    let store = try SQLiteStore(url: copy, model: bench.people.model, options: SQLiteStoreOptions(sqlLog: log))
    #expect(entries.withLock { $0 } == ["PRAGMA cell_size_check = 1"])
    withExtendedLifetime(store) {}
  }

  @Test func whatOpeningMakesIsToldAndALongTextIsCutOff() throws {
    let bench = try Bench(.values)
    #expect(bench.entries.withLock { $0 }.contains { $0.sql.hasPrefix("PRAGMA cache_size") })
    let text = String(repeating: "x", count: 20_000)
    let query = bench.people.query("Person", try Predicate(format: "firstName == %@", .string(text)))
    let log = try bench.log { _ = try bench.people.store.snapshots(matching: query) }
    #expect(log[0].sql.utf8.count < 10_010 && log[0].sql.hasSuffix("xxx…"))
  }
}
