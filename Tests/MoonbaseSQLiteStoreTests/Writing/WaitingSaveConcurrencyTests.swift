import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Saves that wait for another thread's save to the same store.
@Suite struct WaitingSaveConcurrencyTests {
  @Test(arguments: [true, false]) func aSaveWhoseRunEndsWaitsNoLongerAndChangesNothing(isInMemory: Bool) throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let store: any PersistentStore =
      try isInMemory ? InMemoryStore(model: model) : SQLiteStore(url: folder.file(), model: model)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    let other = try store.beginSave(author: nil)
    let (errand, outcome) = (AwaitedErrand(), Lock<(error: (any Error)?, count: Int)?>(nil))
    let thread = Thread {
      errand.run {
        let result = Result<(error: (any Error)?, count: Int), any Error> {
          let context = try ManagedObjectContext(coordinator)
          try context.insert("Person", values: ["age": 30])
          do {
            try context.save()
            return (nil, 0)
          } catch {
            return (error, context.insertedObjects.count)
          }
        }
        outcome.withLock { $0 = try? result.get() }
      }
    }
    thread.start()
    usleep(50_000)
    errand.stop()
    _ = errand.wait()
    let (error, count) = try #require(outcome.withLock { $0 })
    #expect(error is CancellationError, "\(error as Any)")
    #expect(count == 1)
    other.abort()
    let context = try ManagedObjectContext(coordinator)
    #expect(try context.count(FetchRequest("Person")) == 0)
    try context.insert("Person", values: ["age": 30])
    try context.save()
  }
}
