import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import struct MoonbaseModel.SortDescriptor

/// Asynchronous fetches of a background context.
@Suite struct AsynchronousFetchConcurrencyTests {
  private func bench(_ kind: StoreKind, count: Int) throws -> StoreBench {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<count { try context.insert("Person", values: ["age": .int(Int64(number % 100))]) }
    try context.save()
    return bench
  }

  private var request: FetchRequest {
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age")]
    return request
  }

  @Test(arguments: StoreKind.allCases) func itFindsWhatAFetchFindsAndTellsHowFarItIs(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 1300)
    let background = try BackgroundContext(bench.coordinator)
    let progress = Progress(totalUnitCount: 0)
    let ids = try await background.fetchIDs(request, progress: progress)
    #expect(try ids == bench.context().fetchIDs(request))
    #expect(progress.totalUnitCount == 1300 && progress.completedUnitCount == 1300)
    let context = bench.context()
    let objects = try await context.fetch(request, with: background)
    #expect(objects.map(\.objectID) == ids && objects[1299]["age"] == 99)
    #expect(try await background.fetchIDs(FetchRequest("Department")).isEmpty)
    await #expect(throws: GraphError.self) { try await background.fetchIDs(FetchRequest("Persn")) }
  }

  @Test(arguments: StoreKind.allCases) func batchesComeAsTheyAreRead(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 1300)
    let background = try BackgroundContext(bench.coordinator)
    let progress = Progress(totalUnitCount: 0)
    var (sizes, ages, steps): ([Int], [Value], [Int64]) = ([], [], [])
    for try await batch in background.batches(of: request, size: 500, progress: progress, { $0["age"] }) {
      sizes.append(batch.count)
      ages += batch
      steps.append(progress.completedUnitCount)
      if sizes.count == 1 {
        // The walk shows the state at its start.
        let other = bench.context()
        try other.insert("Person", values: ["age": 50])
        try other.save()
      }
    }
    #expect(sizes == [500, 500, 300] && steps == [500, 1000, 1300])
    #expect(ages == ages.sorted { ($0.int ?? 0) < ($1.int ?? 0) })
    struct Refused: Error {}
    await #expect(throws: Refused.self) {
      for try await _ in background.batches(of: request, { _ in throw Refused() }) as FetchBatches<Int> {}
    }
  }

  @Test(arguments: StoreKind.allCases) func aTaskThatIsCancelledEndsIt(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 3000)
    let background = try BackgroundContext(bench.coordinator)
    let request = request
    let task = Task {
      var count = 0
      for try await batch in background.batches(of: request, size: 100) {
        count += batch.count
        if count == 300 { withUnsafeCurrentTask { $0?.cancel() } }
      }
      return count
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    // The context remains usable.
    #expect(try await background.fetchIDs(request).count == 3000)
  }

  @Test(arguments: StoreKind.allCases) func aProgressThatIsCancelledEndsIt(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 3000)
    let background = try BackgroundContext(bench.coordinator)
    let progress = Progress(totalUnitCount: 0)
    await #expect(throws: CancellationError.self) {
      for try await _ in background.batches(of: request, size: 100, progress: progress) { progress.cancel() }
    }
    #expect(progress.completedUnitCount == 100)
    let other = Progress(totalUnitCount: 0)
    other.cancel()
    await #expect(throws: CancellationError.self) { try await background.fetchIDs(request, progress: other) }
  }

  /// Either fetch may end first; the progress still cancels the other one, and afterwards the progress has its former
  /// handler.
  @Test(arguments: StoreKind.allCases) func severalFetchesHaveOneProgress(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 300)
    let request = request
    let called = Switch()
    let progress = Progress(totalUnitCount: 0)
    progress.cancellationHandler = { called.value += 1 }
    func iterator() throws -> FetchBatches<ManagedObjectID>.Iterator {
      try BackgroundContext(bench.coordinator).batches(of: request, size: 100, progress: progress).makeAsyncIterator()
    }
    for order in 0..<2 {
      var walks = [try iterator(), try iterator()]
      // Both walks have started, and one of them ends.
      for index in walks.indices { #expect(try await walks[index].next()?.count == 100) }
      while try await walks[order].next() != nil {}
      #expect(try await walks[order].next() == nil)
      progress.cancellationHandler?()
      #expect(called.value == order + 1)
      #expect(try await walks[1 - order].next()?.count == 100)
    }
    progress.cancellationHandler?()
    #expect(called.value == 3)
    // Another thread ends a waiting walk, whatever other walks with the same progress did.
    let waiting = Switch()
    let background = try BackgroundContext(bench.coordinator)
    var other = try iterator()
    _ = try await other.next()
    let task = Task {
      for try await _ in background.batches(
        of: request, size: 10, progress: progress,
        { object in
          waiting.value = 1
          while !Task.isCancelled { usleep(1000) }
          return object.objectID
        })
      {}
    }
    while waiting.value == 0 { try await Task.sleep(for: .milliseconds(1)) }
    while try await other.next() != nil {}
    progress.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(called.value == 4)
  }

  @Test(arguments: StoreKind.allCases) func aContextThatIsClosedEndsIt(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 300)
    let background = try BackgroundContext(bench.coordinator)
    var count = 0
    await #expect(throws: GraphError.self) {
      for try await batch in background.batches(of: request, size: 100) {
        count += batch.count
        try await background.close()
      }
    }
    #expect(count == 100)
  }

  /// A scan without results can also be cancelled, where the context evaluates each row.
  @Test(arguments: StoreKind.allCases) func aLongScanEndsBeforeItsEnd(_ kind: StoreKind) async throws {
    let bench = try bench(kind, count: 5000)
    let judged = Switch()
    var entry = EntityExtension()
    entry.derived = [
      DerivedAttribute("fullName") { _ in
        judged.value += 1
        if judged.value == 600 { withUnsafeCurrentTask { $0?.cancel() } }
        return "x"
      }
    ]
    let context = bench.context(["Person": [entry]])
    nonisolated(unsafe) let confined = context  // sound: only the task uses it
    let task = Task { try confined.fetch(FetchRequest("Person", where: "fullName == 'y'")).count }
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(judged.value < 2000)
    #expect(context.pendingErrors.isEmpty && !context.hasChanges)
  }

  @Test(arguments: StoreKind.allCases) func aTransformationThatClosesTheContextEndsItsWalk(_ kind: StoreKind)
    async throws
  {
    let bench = try bench(kind, count: 30)
    let background = try BackgroundContext(bench.coordinator)
    let walk = try await background.beginWalk(request, progress: nil)
    #expect(await background.walkCount == 1)
    _ = try? await background.next(10, of: walk) { try $0.managedObjectContext?.close() }
    await #expect(throws: GraphError.self) { try await background.next(10, of: walk) { $0.objectID } }
    withExtendedLifetime(walk) {}
  }
}

extension BackgroundContext {
  fileprivate var walkCount: Int { walks.count }
}
