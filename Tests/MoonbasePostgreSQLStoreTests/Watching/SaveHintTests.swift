#if PostgreSQL
  import MoonbaseGraph
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// The time until another store hears of a save.
  @Suite struct SaveHintTests {
    /// The seconds from a save to the notification, of several saves, in order.
    private func delays(_ watching: PostgreSQLStore, of bench: ServerBench) throws -> [Double] {
      let arrivals = Lock<[ContinuousClock.Instant]>([])
      let observation = try #require(watching.observeRemoteChanges { _ in arrivals.withLock { $0.append(.now) } })
      defer { observation.cancel() }
      var delays: [Double] = []
      for number in 0..<5 {
        try bench.save(["n\(number)"])
        let start = ContinuousClock.now
        while arrivals.withLock({ $0.count }) <= number, ContinuousClock.now - start < .seconds(5) { usleep(2000) }
        let arrival = try #require(
          arrivals.withLock { $0.count > number ? $0[number] : nil }, "no news of save \(number)")
        delays.append((arrival - start) / .seconds(1))
        // Saves come at any time between two looks.
        usleep(UInt32(37_000 * (number + 1)))
      }
      return delays.sorted()
    }

    @Test func aSaveIsHeardOfBeforeTheNextLook() throws {
      let bench = try ServerBench()
      let delays = try delays(bench.other(), of: bench)
      #expect(delays[2] < 0.1, "\(delays)")
    }

    /// The watching store's `LISTEN` is an unknown statement for the server.
    @Test func withoutHintsTheLooksFindEverySave() throws {
      let bench = try ServerBench()
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      proxy.replace("LISTEN ", with: "LISTEM ", .toServer)
      let delays = try delays(bench.store(through: proxy), of: bench)
      #expect(delays[4] < 1, "\(delays)")
    }

    @Test func aWatchThatLosesItsConnectionGoesOn() throws {
      let bench = try ServerBench()
      let watching = try bench.other()
      let count = Lock(0)
      let observation = try #require(watching.observeRemoteChanges { _ in count.withLock { $0 += 1 } })
      defer { observation.cancel() }
      let connection = try bench.connection()
      try connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%Z_SAVES%' AND pid <> pg_backend_pid() "
          + "AND application_name = '\(ConnectionPool.applicationName(bench.store.address.schema))'")
      usleep(600_000)
      try bench.save(["after"])
      let end = ContinuousClock.now + .seconds(5)
      while count.withLock({ $0 }) == 0, ContinuousClock.now < end { usleep(5000) }
      #expect(count.withLock { $0 } > 0)
    }
  }
#endif
