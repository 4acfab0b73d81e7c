#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// Two stores of one schema, as two processes have, that save the same objects at once.
  @Suite struct ConflictTests {
    private static func counter() -> ManagedObjectModel {
      var counter = EntityDescription("Counter")
      var number = AttributeDescription("number", type: .integer64)
      number.defaultValue = 0
      counter.attributes = [number]
      return ManagedObjectModel(entities: [counter])
    }

    /// Each store raises two counters, and reads them again after a conflict: no step is lost.
    @Test func noStepOfConflictingSavesIsLost() throws {
      let bench = try ServerBench(Self.counter())
      let steps = Repetition.serverConflicts.count
      let setUp = try bench.context(bench.store)
      for _ in 0..<2 { _ = try setUp.insert("Counter") }
      try setUp.save()
      let stores = [bench.store, try bench.other()]
      let (conflicts, failures) = (Lock(0), Lock<[String]>([]))
      @Sendable func raise(_ place: Int) {
        do {
          let context = try bench.context(stores[place])
          var counters = try context.fetch(FetchRequest("Counter"))
          // Both orders, so that the rows are locked in both.
          if place == 1 { counters.reverse() }
          var done = 0
          while done < steps {
            for counter in counters {
              guard case .int(let number) = try counter.value(forKey: "number") else { continue }
              try counter.setValue(.int(number + 1), forKey: "number")
            }
            do {
              try context.save()
              done += 1
            } catch let error as GraphError where error.code == .mergeConflict {
              conflicts.withLock { $0 += 1 }
              try context.rollback()
              for counter in counters { try context.refresh(counter, mergeChanges: false) }
            }
          }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      // Threads of their own, which run at once however busy the threads of the tests are.
      let ended = DispatchSemaphore(value: 0)
      for place in 0..<2 {
        Thread.detachNewThread {
          raise(place)
          ended.signal()
        }
      }
      for _ in 0..<2 { ended.wait() }
      #expect(failures.withLock { $0 } == [])
      #expect(conflicts.withLock { $0 } > 0)
      let last = try bench.context(bench.other())
      let counters = try last.fetch(FetchRequest("Counter"))
      #expect(try counters.map { try $0.value(forKey: "number") } == [.int(Int64(2 * steps)), .int(Int64(2 * steps))])
    }
  }
#endif
