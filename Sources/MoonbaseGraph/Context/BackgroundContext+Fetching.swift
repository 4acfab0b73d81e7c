public import MoonbaseModel
public import MoonbasePlatform

/// Asynchronous fetching in a background context, with progress and cancellation.
extension BackgroundContext {
  /// The IDs of the objects that match a request.
  ///
  /// ```swift
  /// let progress = Progress(totalUnitCount: 0)
  /// let ids = try await background.fetchIDs(FetchRequest("Person", where: "age > 30"), progress: progress)
  /// let people = try viewContext.objects(with: ids)     // faults, whose rows are in the row cache
  /// ```
  ///
  /// With `progress`, the objects are counted first and rows are reported as they are read. Throws `CancellationError`
  /// if the task or the progress is cancelled, even within a store's statement, and the errors of `fetch`.
  public nonisolated func fetchIDs(
    _ request: FetchRequest, progress: Progress? = nil
  ) async throws -> [ManagedObjectID] {
    var ids: [ManagedObjectID] = []
    for try await batch in batches(of: request, progress: progress) { ids += batch }
    return ids
  }

  /// The IDs of the objects that match a request, in batches as they are read.
  ///
  /// Throws as `fetchIDs(_:progress:)` does.
  public nonisolated func batches(
    of request: FetchRequest, size: Int = 512, progress: Progress? = nil
  ) -> FetchBatches<ManagedObjectID> {
    batches(of: request, size: size, progress: progress) { $0.objectID }
  }

  /// The results of `transform` for the objects that match a request, in batches. `transform` runs on the context's
  /// thread.
  ///
  /// ```swift
  /// for try await names in background.batches(of: FetchRequest("Person"), { $0["name"] }) { print(names) }
  /// ```
  ///
  /// All objects are of one state of the store, until the context saves. Throws as `fetchIDs(_:progress:)` does, and
  /// the errors of `transform`.
  public nonisolated func batches<Item: Sendable>(
    of request: FetchRequest, size: Int = 512, progress: Progress? = nil,
    _ transform: @escaping @Sendable (ManagedObject) throws -> Item
  ) -> FetchBatches<Item> {
    FetchBatches(context: self, request: request, size: max(1, size), progress: progress, transform: transform)
  }
}

/// The results of a fetch in a background context, in batches. Each iteration is a separate fetch.
///
/// `next` of the iterator throws, so `for try await` is needed. Leaving the loop early ends the walk. A value may be
/// passed to another task before it is iterated.
public struct FetchBatches<Item: Sendable>: AsyncSequence, Sendable {
  /// The context that fetches.
  let context: BackgroundContext
  /// The request, fetched anew by each iteration.
  let request: FetchRequest
  /// The greatest number of results in a batch.
  let size: Int
  /// Receives the number of read objects.
  let progress: Progress?
  /// Runs on the context's thread for each object.
  let transform: @Sendable (ManagedObject) throws -> Item

  /// The fetch begins when the first batch is requested.
  public func makeAsyncIterator() -> Iterator { Iterator(batches: self) }

  /// Iterates over the batches.
  ///
  /// Not `Sendable`: an iterator belongs to the task that iterates.
  public struct Iterator: AsyncIteratorProtocol {
    /// The request and its options.
    fileprivate let batches: FetchBatches
    /// The fetch in the context; nil before the first batch and after the last.
    fileprivate var walk: BackgroundWalk?
    /// Ends the iteration when the progress is cancelled.
    fileprivate var cancellation: ProgressCancellation?
    /// After the last batch and after an error, further calls return nil.
    private var isOver = false

    fileprivate init(batches: FetchBatches) { self.batches = batches }

    /// The next batch; nil at the end. Throws `CancellationError`, the errors of a fetch, and those of the
    /// transformation.
    public mutating func next() async throws -> [Item]? {
      if isOver { return nil }
      if cancellation == nil { cancellation = batches.progress.map(ProgressCancellation.init) }
      do {
        let (batches, walk) = (batches, walk)
        let (next, batch) = try await cancellable {
          let walk =
            if let walk { walk } else {
              try await batches.context.beginWalk(batches.request, progress: batches.progress)
            }
          return (walk, try await batches.context.next(batches.size, of: walk, batches.transform))
        }
        self.walk = next
        if batch.isEmpty { end() }
        return batch.isEmpty ? nil : batch
      } catch {
        end()
        throw error
      }
    }

    /// Ends the walk; its objects are released on the context's thread.
    private mutating func end() { (walk, cancellation, isOver) = (nil, nil, true) }

    /// Runs `body` in a task that is also cancelled with the progress.
    private func cancellable<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws
      -> Result
    {
      guard let cancellation else { return try await body() }
      // If the progress is cancelled already, a task would still run until its first check.
      try cancellation.checkCancellation()
      let task = Task { try await body() }
      cancellation.ends { task.cancel() }
      return try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }
}

/// A handle, usable in any isolation, for a walk over the objects of a background context.
///
/// The context keeps the objects (`BackgroundContext.walks`) and this handle only their number. Its `deinit` releases
/// them.
final class BackgroundWalk: Sendable {
  /// The context with the objects.
  let context: BackgroundContext
  /// The number of the walk in `BackgroundContext.walks`.
  let number: Int

  /// Retains the context.
  init(_ context: BackgroundContext, number: Int) { (self.context, self.number) = (context, number) }

  // The fetched objects must be released on the context's thread.
  deinit { Task { [context, number] in await context.endWalk(number) } }
}

/// The part of a walk that belongs to the context's thread.
///
/// Changed only by `BackgroundContext.next`.
struct WalkState {
  /// The fetched objects, in an open view of the store.
  let found: FetchedObjects
  /// Receives the position.
  let progress: Progress?
  /// The index of the next object.
  var position = 0

  /// The results for the next `count` objects; empty at the end. Deleted objects are skipped. Throws
  /// `CancellationError`, errors of the store, and those of `transform`.
  mutating func next<Item>(_ count: Int, _ transform: (ManagedObject) throws -> Item) throws -> [Item] {
    try Task.checkCancellation()
    var result: [Item] = []
    while result.count < count, try found.reaches(position) {
      if let object = try found.existingObject(at: position) { result.append(try transform(object)) }
      position += 1
    }
    if let progress {
      // Objects that were deleted after counting do not appear.
      if result.isEmpty { progress.totalUnitCount = Int64(position) }
      progress.completedUnitCount = Int64(position)
    }
    return result
  }
}

/// Walks over fetched objects.
extension BackgroundContext {
  /// Fetches, and keeps the result in the context until the walk ends. Waits for a turn. With a progress, the objects
  /// are counted first.
  func beginWalk(_ request: FetchRequest, progress: Progress?) async throws -> BackgroundWalk {
    let turn = try await turns.acquire()
    defer { turn.end() }
    try Task.checkCancellation()
    if let progress {
      progress.totalUnitCount = Int64(try context.count(request))
      progress.completedUnitCount = 0
    }
    let found = try context.fetchedObjects(request)
    return BackgroundWalk(self, number: add(WalkState(found: found, progress: progress)))
  }

  /// The next results; empty at the end and after the end of the walk. Throws `.invalidObject` for a closed context.
  func next<Item: Sendable>(
    _ count: Int, of walk: BackgroundWalk, _ transform: @Sendable (ManagedObject) throws -> Item
  ) async throws -> [Item] {
    let turn = try await turns.acquire()
    defer { turn.end() }
    // A closed context throws, as returning an empty batch would look like the end of the results.
    try context.checkOpen()
    guard var state = walks[walk.number] else { return [] }
    // The transformation may have closed the context, which ends the walk.
    defer { if walks[walk.number] != nil { walks[walk.number] = state } }
    return try state.next(count, transform)
  }

  /// Called when the handle is released.
  func endWalk(_ number: Int) { walks[number] = nil }
}
