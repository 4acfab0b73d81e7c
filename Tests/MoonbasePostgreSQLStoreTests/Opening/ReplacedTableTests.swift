#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// A store whose tables another process replaced.
  @Suite struct ReplacedTableTests {
    @Test func laterConnectionsOfAnOpenStoreAreRefused() throws {
      let bench = try ServerBench()
      try bench.save(["Ann"])
      let before = try bench.store.pool.open()
      let schema = bench.store.address.schema
      try before.execute("DROP SCHEMA \(schema) CASCADE")
      _ = try bench.other()
      let error = #expect(throws: GraphError.self) { try bench.store.pool.open() }
      #expect(error?.message.contains("open it again") == true, "\(error?.message ?? "")")
    }

    @Test func aCopyByRowsIsRefusedAsAnInsertionIs() throws {
      let bench = try ServerBench()
      // More rows than are sent as arrays.
      let names = (0..<200).map { "n\($0)" }
      try bench.save(names)
      let context = try bench.context(bench.other())
      #expect(try context.count(FetchRequest("Person")) == 200)
      let connection = try bench.connection()
      #expect(throws: PostgreSQLError.self) { try connection.execute("COPY ZPERSON TO STDOUT") }
      #expect(throws: PostgreSQLError.self) { try connection.execute("COPY ZPERSON FROM STDIN") }
      #expect(try connection.query("SELECT COUNT(*) FROM ZPERSON").integer(0, 0) == 200)
    }
  }
#endif
