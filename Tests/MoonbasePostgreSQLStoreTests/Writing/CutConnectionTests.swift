#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// Connections that are cut at each message, before, within and behind it, in both directions.
  @Suite struct CutConnectionTests {
    private static func options() -> PostgreSQLStoreOptions {
      var options = PostgreSQLStoreOptions()
      options.tracksHistory = true
      return options
    }

    /// All cuts of a run without a cut, in the short run some of them. The step has no common factor with the number of
    /// parts, so that the short run has all parts.
    private func cuts(_ proxy: CuttingProxy) -> [CuttingProxy.Cut] {
      let counts = proxy.counts
      let all = CuttingProxy.Direction.allCases.flatMap { direction in
        (0..<counts[direction.rawValue]).flatMap { message in
          [.nothing, .half, .all].map { CuttingProxy.Cut(direction: direction, message: message, part: $0) }
        }
      }
      return TestLength.sampled(all, every: 7)
    }

    /// Changes that touch rows, pairs, places and the history.
    private func change(_ context: ManagedObjectContext, _ name: String) throws {
      let department = try #require(try context.fetch(FetchRequest("Department")).first)
      try department.setValue(.string(name), forKey: "name")
      let people = try (0..<3).map { _ in
        let person = try context.insert("Person")
        try person.setValue(.string(name), forKey: "firstName")
        try person.setObject(department, forKey: "department")
        return person
      }
      try people[0].setObjects([people[1], people[2]], forKey: "friends")
      let project = try context.insert("Project")
      try project.setObject(department, forKey: "department")
    }

    @Test func aSaveIsWholeOrAbsentAndItsAnswerTellsWhich() throws {
      let bench = try ServerBench(options: Self.options())
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      let setUp = try bench.context(bench.store)
      _ = try setUp.insert("Department")
      try setUp.save()
      let dry = try bench.context(bench.store(through: proxy))
      try change(dry, "dry")
      proxy.arm(nil)
      try dry.save()
      var answers: Set<Bool> = []
      for (number, cut) in cuts(proxy).enumerated() {
        let name = "save \(number)"
        let context = try bench.context(bench.store(through: proxy))
        try change(context, name)
        proxy.arm(cut)
        do {
          try context.save()
          answers.insert(true)
          #expect(try bench.count(name) == 3, "\(cut)")
        } catch let error as GraphError {
          answers.insert(false)
          #expect(try bench.count(name) == 0, "\(cut): \(error.message)")
          #expect(error.code == .storeFailure && error.message.contains("try again"), "\(cut): \(error.message)")
          #expect(!"\(error)".contains("hunter2"), "\(error)")
          try context.save()
          #expect(try bench.count(name) == 3, "\(cut)")
        }
        #expect(proxy.hasCut, "\(cut)")
      }
      #expect(answers == [true, false])
      let history = try #require(try bench.store.history())
      let transactions = try history.transactions(.all, includingChanges: false, limit: 0)
      #expect(transactions.map(\.transactionNumber) == Array(1...Int64(transactions.count)))
      #expect(transactions.count == cuts(proxy).count + 2 || TestLength.isLong || transactions.count > 2)
    }

    /// A commit that arrives after the save was found to be absent is refused.
    @Test func aCommitThatArrivesLateIsRefused() throws {
      let bench = try ServerBench()
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      for isFirst in [true, false] {
        let context = try bench.context(bench.store(through: proxy))
        let name = "late \(isFirst)"
        if !isFirst {
          _ = try context.insert("Person")
          try context.save()
        }
        try context.insert("Person").setValue(.string(name), forKey: "firstName")
        proxy.arm(nil)
        _ = try context.fetch(FetchRequest("Department"))
        let other = try bench.context(bench.store(through: proxy))
        _ = try other.insert("Person")
        proxy.arm(nil)
        try other.save()
        // The commit is the last message of a save.
        let messages = proxy.counts[0]
        var isRefused = false
        for message in (0..<messages).reversed() where !isRefused {
          proxy.arm(CuttingProxy.Cut(direction: .toServer, message: message, part: .late))
          do { try context.save() } catch let error as GraphError {
            isRefused = true
            #expect(error.code == .storeFailure, "\(error)")
          }
          if !proxy.hasCut { try context.insert("Person").setValue(.string(name), forKey: "firstName") }
        }
        #expect(isRefused)
        let saved = try bench.count(name)
        proxy.deliver()
        #expect(try bench.count(name) == saved, "the late commit was carried out")
        try context.save()
        #expect(try bench.count(name) == saved + 1)
      }
    }

    @Test func aStoreThatIsMadeIsWholeOrAbsent() throws {
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      let model = try People.model().resolved()
      func open(_ schema: String) throws -> PostgreSQLStore {
        try PostgreSQLStore(url: proxy.address(of: schema), model: model, options: Self.options())
      }
      proxy.arm(nil)
      // The messages of the opening alone: the release of the store sends one more, at any time.
      let whole = try open(PostgreSQLServer.newSchema())
      let cuts = withExtendedLifetime(whole) { self.cuts(proxy) }
      for cut in cuts {
        let schema = PostgreSQLServer.newSchema()
        proxy.arm(cut)
        do { _ = try open(schema) } catch let error as GraphError {
          #expect(error.code == .storeFailure && error.message.contains("see that it runs"), "\(cut): \(error.message)")
          #expect(!"\(error)".contains("hunter2") && !"\(error.underlying as Any)".contains("hunter2"), "\(error)")
        }
        #expect(proxy.hasCut, "\(cut)")
        let context = try ServerBench(at: proxy.address(of: schema)).save(["Ann"])
        #expect(context.count == 1)
      }
    }

    @Test func aFetchAndAWalkAreCompleteOrThrow() throws {
      let bench = try ServerBench()
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      let count = 700
      try bench.save((0..<count).map { "\($0)" })
      var request = FetchRequest("Person")
      request.sortDescriptors = [SortDescriptor("firstName")]
      request.fetchBatchSize = 100
      let readings: [(ManagedObjectContext) throws -> Int] = [
        { try $0.fetch(FetchRequest("Person")).count(where: { try $0.value(forKey: "firstName") != .null }) },
        { context in
          var walked = 0
          for object in try context.fetchedObjects(request) {
            if try object.value(forKey: "firstName") != .null { walked += 1 }
          }
          if let error = context.drainAccessorErrors().first { throw error }
          return walked
        },
        { try $0.count(request) },
      ]
      for read in readings {
        proxy.arm(nil)
        let dry = try bench.context(bench.store(through: proxy))
        proxy.arm(nil)
        #expect(try read(dry) == count)
        var failures = 0
        for cut in cuts(proxy) {
          let context = try bench.context(bench.store(through: proxy))
          proxy.arm(cut)
          do { #expect(try read(context) == count, "\(cut)") } catch let error as GraphError {
            failures += 1
            #expect(error.code == .storeFailure && !"\(error)".contains("hunter2"), "\(cut): \(error)")
          }
          // The context goes on with a new connection.
          #expect(try read(context) == count, "\(cut)")
        }
      }
    }
  }
#endif
