#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// A server that is killed and started again in the middle of saves.
  @Suite struct KilledServerTests {
    private static let people = 20

    /// A context saves batches of people, and saves again after each error. In the end each batch is there once.
    @Test func savesOverAServerThatIsKilledAgainAndAgainAreThereOnce() throws {
      let server = try PostgreSQLServer()
      let bench = try ServerBench(at: server.newAddress())
      let (isOver, failures, saved) = (Lock(false), Lock<[String]>([]), Lock(0))
      let writer = Thread {
        do {
          let context = try bench.context(bench.store)
          while !isOver.withLock({ $0 }) {
            let number = saved.withLock { $0 }
            for _ in 0..<Self.people {
              try context.insert("Person").setValue(.string("batch \(number)"), forKey: "firstName")
            }
            try Self.saveAtLast(context)
            saved.withLock { $0 += 1 }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
        isOver.withLock { $0 = true }
      }
      writer.start()
      var random = SplitMix(UInt64.random(in: 0...UInt64.max))
      for _ in 0..<Repetition.killedServers.count where !isOver.withLock({ $0 }) {
        let before = saved.withLock { $0 }
        // The server works for a while, and dies at any moment.
        let end = Date(timeIntervalSinceNow: 30)
        while saved.withLock({ $0 }) < before + 2, Date() < end { usleep(1000) }
        usleep(UInt32(random.next(30_000)))
        server.kill()
        try server.start()
      }
      isOver.withLock { $0 = true }
      while writer.isExecuting { usleep(1000) }
      #expect(failures.withLock { $0 } == [])
      let count = saved.withLock { $0 }
      #expect(count > Repetition.killedServers.count)
      for number in 0..<count { #expect(try bench.count("batch \(number)") == Self.people) }
      #expect(try bench.context(bench.store).count(FetchRequest("Person")) == count * Self.people)
    }

    /// Saves until the server answers. Each error but the last means that nothing was saved.
    private static func saveAtLast(_ context: ManagedObjectContext) throws {
      let end = Date(timeIntervalSinceNow: 60)
      while true {
        do {
          try context.save()
          return
        } catch let error as GraphError {
          guard error.code == .storeFailure, Date() < end, !error.message.contains("not known") else { throw error }
          usleep(20_000)
        }
      }
    }

    @Test func aKilledServerIsToldAndTheStoreGoesOnAfterwards() throws {
      let server = try PostgreSQLServer()
      let bench = try ServerBench(at: server.newAddress())
      try bench.save(["Ann"])
      let context = try bench.context(bench.store)
      let person = try #require(try context.fetch(FetchRequest("Person")).first)
      try person.setValue("Bea", forKey: "firstName")
      server.kill()
      for call in [{ _ = try context.fetch(FetchRequest("Person")) }, { try context.save() }] {
        let error = #expect(throws: GraphError.self) { try call() }
        #expect(error?.code == .storeFailure)
        #expect(error?.message.contains("see that it runs, and try again") == true, "\(error?.message ?? "")")
      }
      try server.start()
      #expect(try context.fetch(FetchRequest("Person")).count == 1)
      try context.save()
      #expect(try bench.count("Bea") == 1)
    }
  }
#endif
