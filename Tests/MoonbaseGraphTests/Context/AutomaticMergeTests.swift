import MoonbaseGraph
import MoonbaseFetchedResults
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Contexts that merge the saves of other contexts automatically.
@Suite(.timeLimit(.minutes(20))) struct AutomaticMergeTests {
  private let bench: StoreBench
  private let follower: BackgroundContext
  private let other: ManagedObjectContext

  init() throws {
    bench = try StoreBench(.memory)
    follower = try BackgroundContext(bench.coordinator)
    other = try ManagedObjectContext(bench.coordinator)
  }

  private func waits(until isTrue: () async throws -> Bool) async throws -> Bool {
    let end = ContinuousClock.now + .seconds(30)
    while try await !isTrue() {
      guard ContinuousClock.now < end else { return false }
      try await Task.sleep(for: .milliseconds(1))
    }
    return true
  }

  /// The results and the observation of a test.
  private final class Kept: @unchecked Sendable {  // used on the context's thread only
    var controller: FetchedResultsController<ManagedObject>?
    var observation: Observation?
  }

  @Test func listsAndObserversFollowWithoutACall() async throws {
    let ann = try other.insert("Person", values: ["firstName": "Ann", "age": 30])
    try other.save()
    let (id, told, count) = (ann.objectID, Lock<[Value]>([]), Lock(0))
    let kept = Kept()
    try await follower.perform { context in
      var request = try FetchRequest("Person", where: "age >= 0")
      request.sortDescriptors = [SortDescriptor("firstName")]
      let controller = try FetchedResultsController<ManagedObject>(request, in: context)
      controller.didChangeContent = { [unowned controller] _ in count.withLock { $0 = controller.count } }
      try controller.performFetch()
      kept.controller = controller
      kept.observation = try context.object(with: id).observe("age") { change in told.withLock { $0.append(change.new) }
      }
    }
    try ann.setValue(31, forKey: "age")
    try other.insert("Person", values: ["firstName": "Ben"])
    try other.save()
    #expect(try await waits { told.withLock { $0 } == [31] && count.withLock { $0 } == 2 })
    try await follower.perform { _ in (kept.controller, kept.observation) = (nil, nil) }
  }

  @Test func sequencesAndObserversOfEventsFollowWithoutACall() async throws {
    let ann = try other.insert("Person", values: ["firstName": "Ann"])
    try other.save()
    let id = ann.objectID
    let changes = try await follower.perform { context in
      context.retainsRegisteredObjects = true
      _ = try context.object(with: id)["firstName"]
      return context.didChangeObjectIDs
    }
    try ann.setValue("Anna", forKey: "firstName")
    try other.save()
    var iterator = changes.makeAsyncIterator()
    #expect(await iterator.next()?.refreshed == [id])
    // The end of the closure ends the event, which reports the change.
    try await follower.perform { context in try context.object(with: id).setValue("A.", forKey: "firstName") }
    #expect(await iterator.next()?.updated == [id])
  }

  @Test func aSuspendedClosureIsNotChangedFromElsewhere() async throws {
    let ann = try other.insert("Person", values: ["firstName": "Ann"])
    try other.save()
    let id = ann.objectID
    let isSame = try await follower.perform { [other = UncheckedBox(other)] context in
      let copy = try context.object(with: id)
      let before = copy["firstName"]
      try await MainActor.run {
        try other.value.object(with: id).setValue("Anna", forKey: "firstName")
        try other.value.save()
      }
      try await Task.sleep(for: .milliseconds(30))
      return copy["firstName"] == before
    }
    #expect(isSame)
    #expect(
      try await waits { try await follower.perform { try $0.object(with: id)["firstName"] == "Anna" } })
  }

  private struct UncheckedBox: @unchecked Sendable {  // nothing else uses the context meanwhile
    let value: ManagedObjectContext
    init(_ value: ManagedObjectContext) { self.value = value }
  }

  @Test func aContextThatDoesNotMergeStaysAsItIs() async throws {
    let ann = try other.insert("Person", values: ["firstName": "Ann"])
    try other.save()
    let id = ann.objectID
    try await follower.perform { context in
      context.automaticallyMergesChangesFromParent = false
      context.retainsRegisteredObjects = true
      _ = try context.object(with: id)["firstName"]
    }
    try ann.setValue("Anna", forKey: "firstName")
    try other.save()
    try await Task.sleep(for: .milliseconds(30))
    #expect(try await follower.perform { try $0.object(with: id)["firstName"] } == "Ann")
  }
}
