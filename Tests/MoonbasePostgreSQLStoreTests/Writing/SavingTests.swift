#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// Saves concurrent with other processes, and over lost connections.
  @Suite struct SavingTests {
    @Test func aSaveThatAnotherCameBeforeIsAConflictWithBothRows() throws {
      let bench = try ServerBench()
      let id = try bench.save(["Ann"])[0]
      let (one, other) = (try bench.context(bench.store), try bench.context(bench.other()))
      let mine = try one.object(with: id)
      let theirs = try #require(try other.fetch(FetchRequest("Person")).first)
      try theirs.setValue("Bea", forKey: "firstName")
      _ = try mine.value(forKey: "firstName")
      try other.save()
      try mine.setValue("Cid", forKey: "firstName")
      let error = #expect(throws: GraphError.self) { try one.save() }
      #expect(error?.code == .mergeConflict, "\(error?.message ?? "")")
      one.mergePolicy = .mergeByPropertyObjectTrump
      try one.save()
      let third = try bench.context(bench.other())
      #expect(try third.fetch(FetchRequest("Person")).first?.value(forKey: "firstName") == "Cid")
    }

    @Test func keysAreNeverGivenTwiceByTwoStoresOfOneSchema() throws {
      let bench = try ServerBench()
      let stores = [bench.store, try bench.other()]
      let person = try #require(bench.model.entity("Person"))
      let keys = Lock<[Int64]>([])
      DispatchQueue.concurrentPerform(iterations: 8) { number in
        for count in 1...50 {
          guard let first = try? stores[number % 2].reserveKeys(for: person, count: count) else { continue }
          keys.withLock { $0 += first..<first + Int64(count) }
        }
      }
      let all = keys.withLock { $0 }
      #expect(all.count == 8 * 50 * 51 / 2 && Set(all).count == all.count)
    }

    /// The connection is cut after the commit and before its answer. The record of the save tells that it succeeded.
    @Test(arguments: [true, false]) func aLostAnswerToACommitIsFoundOut(_ isCommitted: Bool) throws {
      let bench = try ServerBench()
      let record = SaveRecord()
      let connection = try bench.connection()
      // A save that was found to be absent cannot be committed later.
      #expect(try !record.isCommitted(record.next(), on: connection))
      let number = record.next()
      let writer = try bench.connection()
      try writer.execute("BEGIN; INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (NULL)")
      if isCommitted { try writer.execute(record.commit(number)) }
      try connection.execute("SELECT pg_terminate_backend(\(writer.processID))")
      #expect(try record.isCommitted(number, on: connection) == isCommitted)
      // The next number follows the number of the ended save.
      let next = record.next()
      #expect(try !record.isCommitted(next, on: connection))
    }

    @Test func aConnectionThatIsGoneBeforeASaveIsReplaced() throws {
      let bench = try ServerBench()
      try bench.save(["Ann"])
      let connection = try bench.connection()
      try connection.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'moonbase %' AND pid <> pg_backend_pid() "
          + "AND query LIKE '%' AND datname = current_database() AND pid IN (\(try processes(of: bench)))")
      try bench.save(["Bea"])
      #expect(try bench.context(bench.store).count(FetchRequest("Person")) == 2)
    }

    /// The server's processes for the idle connections of a store.
    private func processes(of bench: ServerBench) throws -> String {
      let taken = try (0..<4).map { _ in try bench.store.pool.acquire() }
      defer { for connection in taken { bench.store.pool.giveBack(connection) } }
      return taken.map { "\($0.processID)" }.joined(separator: ", ")
    }

    @Test func aDeadlockIsTriedAgain() throws {
      let bench = try ServerBench()
      let ids = try bench.save(["Ann", "Bea"])
      let failures = Lock<[String]>([])
      let stores = [bench.store, try bench.other()]
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        for _ in 0..<30 {
          do {
            var changes = StoreChanges()
            for id in number == 0 ? ids : ids.reversed() {
              guard let row = try stores[number].snapshot(of: id) else { continue }
              // Different attributes, so that each row has a statement of its own.
              let slot = try #require(bench.model.entity("Person")?.slot(id == ids[0] ? "lastName" : "firstName"))
              var values = Array(row.values)
              values[slot] = .string("\(number)")
              changes.updated.append(
                StoreChanges.Update(
                  snapshot: Snapshot(id: id, version: row.version + 1, values: values), changedSlots: [slot],
                  expectedVersion: nil))
            }
            try stores[number].save(changes)
          } catch {
            failures.withLock { $0.append("\(error)") }
          }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(try bench.store.snapshot(of: ids[0])?.version == 61)
    }

    @Test func aTextWithNULIsRefusedWithItsAttribute() throws {
      let bench = try ServerBench()
      let context = try bench.context(bench.store)
      try context.insert("Person").setValue("a\0b", forKey: "firstName")
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .invalidValue && error?.property == "firstName", "\(error?.message ?? "")")
      #expect(
        try bench.store.count(matching: StoreQuery(entity: #require(bench.model.entity("Person")), in: bench.model))
          == 0)
    }

    @Test func whatAnotherStoreSavesIsTold() throws {
      let bench = try ServerBench()
      let (other, count) = (try bench.other(), Lock(0))
      let observation = try #require(other.observeRemoteChanges { _ in count.withLock { $0 += 1 } })
      try bench.save(["Ann"])
      let end = Date(timeIntervalSinceNow: 10)
      while count.withLock({ $0 }) == 0, Date() < end { usleep(20_000) }
      #expect(count.withLock { $0 } == 1)
      observation.cancel()
    }

    /// A store deletes a department while another store adds a person to it: the later save reports a conflict.
    @Test func noRaceLeavesARelationshipThatLeadsNowhere() throws {
      let bench = try ServerBench()
      let stores = [bench.store, try bench.other()]
      for _ in 0..<20 {
        let context = try bench.context(bench.store)
        let department = try context.insert("Department").objectID
        try context.save()
        let saved = try #require(try context.fetch(FetchRequest("Department")).last).objectID
        _ = department
        DispatchQueue.concurrentPerform(iterations: 2) { number in
          do {
            let context = try bench.context(stores[number])
            let department = try context.object(with: saved)
            if number == 0 {
              try context.delete(department)
            } else {
              try context.insert("Person").setObject(department, forKey: "department")
            }
            try context.save()
          } catch {}
        }
      }
      let connection = try bench.connection()
      let loose = try connection.query(
        "SELECT COUNT(*) FROM ZPERSON p WHERE ZDEPARTMENT IS NOT NULL AND NOT EXISTS (SELECT 1 FROM ZDEPARTMENT d WHERE d.Z_PK = p.ZDEPARTMENT)"
      )
      #expect(loose.integer(0, 0) == 0)
    }

    @Test func aHistoryIsKeptInTheSameOrderAsTheSaves() throws {
      var options = PostgreSQLStoreOptions()
      options.tracksHistory = true
      let bench = try ServerBench(options: options)
      try bench.save(["Ann", "Bea"])
      let context = try bench.context(bench.store)
      let people = try context.fetch(FetchRequest("Person"))
      try people[0].setValue("Cid", forKey: "firstName")
      try context.delete(people[1])
      try context.save()
      let history = try #require(try bench.other().history())
      let all = try history.transactions(.all, includingChanges: true, limit: 0)
      #expect(all.map(\.transactionNumber) == [1, 2])
      #expect(all.map { $0.changes?.map(\.changeType) ?? [] } == [[.insert, .insert], [.update, .delete]])
      #expect(all[1].changes?.first?.updatedProperties == ["firstName"])
      #expect(try history.span() == HistoryBounds(first: 1, last: 2))
      let session = try bench.store.beginSave(author: nil)
      #expect(try session.deleteHistory(.before(2)) == 1)
      try session.prepare()
      try session.commit()
      #expect(try history.span() == HistoryBounds(first: 2, last: 2))
    }
  }
#endif
