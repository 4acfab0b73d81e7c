import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Pages that another thread reads ahead.
@Suite struct PageReaderConcurrencyTests {
  /// A cursor that makes rows on demand.
  private final class Cursor: RowCursor {
    private struct State {
      var row = 0
      var calls = 0
      var running = 0
    }

    private let state = Lock(State())
    private let count: Int
    private let failsAt: Int
    private let isEndless: Bool
    private let entity = try! People.model().resolved().entity("Project")!

    init(count: Int, failsAt: Int = .max, isEndless: Bool = false) {
      (self.count, self.failsAt, self.isEndless) = (count, failsAt, isEndless)
    }

    var calls: Int { state.withLock { $0.calls } }
    var isRunning: Bool { state.withLock { $0.running > 0 } }

    func next(upTo count: Int) throws -> RowBatch {
      let start = state.withLock { state in
        state.calls += 1
        state.running += 1
        #expect(state.running == 1, "one thread at a time has the cursor")
        defer { state.row = min(self.count, state.row + count) }
        return state.row
      }
      defer { state.withLock { $0.running -= 1 } }
      // The scan finds no more rows and runs until it is cancelled.
      while isEndless, start > 2000 {
        try HostWork.charge(1000)
        usleep(1000)
      }
      let rows = try (start..<min(start + count, self.count)).map { row in
        try HostWork.charge()
        if row == failsAt { throw FailingStore.error }
        let id = ManagedObjectID(store: StoreNumber("s"), entity: entity.symbol, key: Int64(row))
        return Snapshot(id: id, version: 1, values: entity.initialValues)
      }
      return RowBatch(rows)
    }
  }

  private func keys(_ reader: PageReader, _ body: (Int) throws -> Void = { _ in }) throws -> [Int64] {
    var keys: [Int64] = []
    while case let page = try reader.next(upTo: 512), !page.isEmpty {
      keys += page.map(\.id.key)
      try body(keys.count)
    }
    return keys
  }

  @Test(arguments: [0, 1, 512, 1024, 1025, 5000]) func pagesComeInTheirOrder(_ count: Int) throws {
    let cursor = Cursor(count: count)
    #expect(try keys(PageReader(cursor, mayReadAhead: true)) == (0..<Int64(count)).map { $0 })
    #expect(cursor.calls <= (count + 511) / 512 + 1)
  }

  @Test func theRestCanBeAskedForOnTheWay() throws {
    for pages in 0..<8 {
      let reader = PageReader(Cursor(count: 5000), mayReadAhead: true)
      var keys: [Int64] = []
      for _ in 0..<pages { keys += try reader.next(upTo: 512).map(\.id.key) }
      usleep(UInt32(pages) * 300)
      #expect(try keys + reader.remainingIDs().map(\.key) == (0..<5000).map { $0 })
      #expect(try reader.next(upTo: 512).isEmpty)
    }
  }

  /// All pages before the error are returned first.
  @Test(arguments: [0, 600, 1500, 2500, 4999]) func anErrorComesAtItsPage(_ place: Int) throws {
    var seen = 0
    let reader = PageReader(Cursor(count: 5000, failsAt: place), mayReadAhead: true)
    #expect(throws: GraphError.self) {
      try keys(reader) {
        seen = $0
        usleep(500)
      }
    }
    #expect(seen == place / 512 * 512)
  }

  /// The work of the reader thread is charged to the consumer.
  @Test func itsWorkIsCharged() throws {
    func units(readsAhead: Bool) throws -> Int {
      let errand = HostErrand()
      _ = try errand.run { try keys(PageReader(Cursor(count: 20_000), mayReadAhead: readsAhead)) }
      return errand.drainUnits()
    }
    #expect(try units(readsAhead: false) >= 20_000)
    #expect(try units(readsAhead: true) == units(readsAhead: false))
  }

  /// Cancelling a task that waits for a page ends the reading.
  @Test func cancellationReachesTheReader() async throws {
    let cursor = Cursor(count: 100_000, isEndless: true)
    let task = Task.detached { [self] in
      try keys(PageReader(cursor, mayReadAhead: true)) { _ in usleep(2000) }.count
    }
    while cursor.calls < 5 { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!cursor.isRunning)
  }

  /// Discarding a walk ends its reader thread.
  @Test func whoGoesTakesTheReaderAlong() throws {
    let cursor = Cursor(count: 100_000, isEndless: true)
    do {
      let reader = PageReader(cursor, mayReadAhead: true)
      for _ in 0..<4 {
        _ = try reader.next(upTo: 512)
        usleep(2000)
      }
    }
    for _ in 0..<2000 where cursor.isRunning { usleep(1000) }
    #expect(!cursor.isRunning)
    let calls = cursor.calls
    usleep(20_000)
    #expect(cursor.calls == calls)
  }

  /// Walks of several contexts beside a writer; faults fired on the way use the reader's session.
  @Test(arguments: StoreKind.allCases) func walksBesideAWriterSeeOneStateEach(_ kind: StoreKind) async throws {
    let bench = try StoreBench(kind)
    let filling = bench.context()
    let department = try filling.insert("Department", values: ["name": "0"])
    for _ in 0..<6000 {
      try filling.insert("Person", values: ["age": 0]).setObject(department, forKey: "department")
    }
    try filling.save()
    let coordinator = bench.coordinator
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<3 {
        group.addTask {
          for _ in 0..<3 {
            let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
            var ages: Set<Value> = []
            var names: Set<Value> = []
            var count = 0
            for person in try context.fetchedObjects(FetchRequest("Person")) {
              ages.insert(person["age"])
              count += 1
              guard count % 1000 == 1, let other = try person.object(forKey: "department") else { continue }
              names.insert(try other.value(forKey: "name"))
            }
            #expect(count == 6000 && ages.count == 1 && names.count == 1)
            #expect(context.pendingErrors.isEmpty)
          }
        }
      }
      group.addTask {
        let context = ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
        for round in 1...4 {
          for person in try context.fetch(FetchRequest("Person")) { person["age"] = .int(Int64(round)) }
          for department in try context.fetch(FetchRequest("Department")) { department["name"] = .string("\(round)") }
          try context.save()
        }
      }
      try await group.waitForAll()
    }
  }
}
