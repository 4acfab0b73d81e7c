#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// A server whose disk is full. The tables of the store are on a file system of few megabytes, which only root can
  /// make.
  @Suite(.enabled(if: geteuid() == 0, "only root can mount a small file system")) struct FullDiskTests {
    @Test func aSaveThatFindsNoRoomIsAbsentAndSucceedsWhenThereIsRoom() throws {
      let server = try PostgreSQLServer(smallDisk: 6)
      let address = try #require(
        URL(string: server.newAddress().absoluteString + "&options=-c%20default_tablespace%3Dsmall"))
      let bench = try ServerBench(at: address)
      let connection = try bench.connection()
      try connection.execute(
        "CREATE TABLE public.others TABLESPACE small AS SELECT n, md5(n::text) FROM generate_series(1, 30000) AS n")
      let context = try bench.context(bench.store)
      var (saved, error) = (0, GraphError?.none)
      var random = SplitMix(1)
      while error == nil, saved < 100 {
        for _ in 0..<10 {
          // Random letters are not compressed.
          let text = String((0..<10_000).map { _ in Character(UnicodeScalar(UInt8(33 + random.next(90)))) })
          try context.insert("Person").setValue(.string(text), forKey: "boundsAsString")
        }
        do {
          try context.save()
          saved += 1
        } catch let full as GraphError {
          error = full
        }
      }
      #expect(saved > 0)
      #expect(
        error?.code == .storeFailure && error?.message.contains("make room and try again") == true, "\(error as Any)")
      #expect(try bench.context(bench.store).count(FetchRequest("Person")) == saved * 10)
      let again = #expect(throws: GraphError.self) { try context.save() }
      #expect(again?.code == .storeFailure)
      // Another program makes room.
      try connection.execute("DROP TABLE public.others")
      try context.save()
      #expect(try bench.context(bench.store).count(FetchRequest("Person")) == (saved + 1) * 10)
    }
  }
#endif
