import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// A fetch, its pages, its prefetched rows and the faults that follow read one state of the store until the context
/// ends the read view.
@Suite struct ReadViewTests {
  private static let count = 1300

  /// People in four departments, all of the same age.
  private func fill(_ context: ManagedObjectContext) throws {
    let departments = try (0..<4).map { try context.insert("Department", values: ["name": .string("old \($0)")]) }
    for number in 0..<Self.count {
      let person = try context.insert("Person", values: ["firstName": .string("p\(number)"), "age": 1])
      try person.setObject(departments[number % 4], forKey: "department")
    }
    try context.save()
  }

  /// Another context changes every object, deletes a person and inserts one.
  private func meddle(_ context: ManagedObjectContext) throws {
    for department in try context.fetch(FetchRequest("Department")) { department["name"] = "new" }
    let people = try context.fetch(FetchRequest("Person"))
    for person in people { person["age"] = 2 }
    try context.delete(people[1200])
    try context.insert("Person", values: ["firstName": "late", "age": 2])
    try context.save()
  }

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    let bench = try StoreBench(kind)
    try fill(bench.stranger())
    return bench
  }

  /// Requests for each way of walking: streamed rows, lists of keys, windows of the caller's size, and rows evaluated
  /// in the context.
  private static func requests() throws -> [FetchRequest] {
    var keys = FetchRequest("Person")
    keys.includesPropertyValues = false
    var batch = FetchRequest("Person")
    batch.fetchBatchSize = 100
    var sorted = FetchRequest("Person", where: try Predicate(format: "age > 0 AND fullName == NULL"))
    sorted.sortDescriptors = [SortDescriptor("firstName")]
    var prefetching = FetchRequest("Person")
    prefetching.relationshipKeyPathsForPrefetching = ["department.employees"]
    return [FetchRequest("Person"), keys, batch, sorted, prefetching]
  }

  @Test(arguments: StoreKind.withFolder, 0..<5)
  func aWalkWithItsFaultsSeesOneStateBesideAWriter(_ kind: StoreKind, _ place: Int) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let found = try context.fetchedObjects(Self.requests()[place])
    try meddle(bench.stranger())
    var names: Set<Value> = []
    for (number, person) in found.enumerated() {
      #expect(person["age"] == 1)
      names.insert(person["firstName"])
      if number % 300 != 0 { continue }
      let department = try #require(try person.object(forKey: "department"))
      #expect(try "\(department.value(forKey: "name"))".contains("old"))
      #expect(try department.objects(forKey: "employees").count == Self.count / 4)
    }
    #expect(names.count == Self.count && names.contains("p1200") && !names.contains("late"))
    #expect(found.count == Self.count)
    #expect(context.pendingErrors.isEmpty)
    // Another context reads the current rows; cached rows of an older view do not interfere.
    let other = bench.context()
    let people = try other.fetch(FetchRequest("Person", where: "age == 2"))
    #expect(people.count == Self.count)
    #expect(try people[0].object(forKey: "department")?.value(forKey: "name") == "new")
    #expect(try other.existingObject(with: found.objectIDs[7])?.value(forKey: "age") == 2)
  }

  /// A row inserted after the start of the view can still be read.
  @Test(arguments: StoreKind.withFolder) func whatCameLaterCanBeRead(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let found = try context.fetchedObjects(FetchRequest("Person"))
    #expect(found[0]["age"] == 1)
    try meddle(bench.stranger())
    let late = try #require(try context.fetch(FetchRequest("Person", where: "firstName == 'late'")).first)
    #expect(late["age"] == 2)
    #expect(try late.objects(forKey: "friends").isEmpty)
    let ids = try context.fetchIDs(FetchRequest("Person", where: "firstName == 'late'"))
    #expect(try context.existingObject(with: ids[0])?.value(forKey: "age") == 2)
    // The fetch may have refreshed objects that were registered at the time, so later pages are checked.
    #expect(try found.dropFirst(600).allSatisfy { try $0.value(forKey: "age") == 1 })
  }

  @Test(arguments: StoreKind.withFolder, ["save", "rollback", "refresh", "fault", "reset"])
  func itEndsWithWhatItsContextDoes(_ kind: StoreKind, _ what: String) throws {
    let bench = try bench(kind)
    let context = bench.context()
    var other = FetchRequest("Department")
    other.fetchLimit = 1
    let department = try context.fetch(other)[0]
    let found = try context.fetchedObjects(FetchRequest("Person"))
    #expect(found[3]["age"] == 1)
    try meddle(bench.stranger())
    #expect(found[700]["age"] == 1)
    switch what {
    case "save":
      try context.insert("Project")
      try context.save()
    case "rollback":
      try context.insert("Project")
      try context.rollback()
    case "refresh": try context.refresh(department, mergeChanges: true)
    case "fault": try context.refresh(department, mergeChanges: false)
    default: try context.reset()
    }
    #expect(found[1100]["age"] == 2)
    #expect(try found.existingObject(at: 1250)?.object(forKey: "department")?.value(forKey: "name") == "new")
    #expect(found.count == Self.count)
    #expect(try found.existingObject(at: 1200) == nil)
    #expect(try found.indices.filter { try found.existingObject(at: $0) != nil }.count == Self.count - 1)
  }

  /// Another context saves between reading a fetch's rows and prefetching their destinations.
  @Test(arguments: StoreKind.withFolder) func aFetchAndItsPrefetchSeeOneState(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    try fill(bench.stranger())
    let context = bench.context()
    var request = FetchRequest("Department")
    request.relationshipKeyPathsForPrefetching = ["employees"]
    let other = PersistentStoreCoordinator(sharingStoresOf: bench.coordinator)
    store.meddle {
      let context = ManagedObjectContext(other, extensionRegistry: ExtensionRegistry())
      let ids = try context.fetchIDs(FetchRequest("Person"))
      try context.delete(try #require(try context.existingObject(with: ids[1200])))
      try context.insert("Department", values: ["name": "late"])
      try context.save()
    }
    let departments = try context.fetch(request)
    #expect(departments.count == 4)
    let lists = try departments.map { try $0.objectIDs(forRelationshipNamed: "employees") }
    #expect(lists.joined().count == Self.count)
    #expect(try context.count(FetchRequest("Department")) == 5)
  }

  /// Rows of an older view are not put into the row cache after another context's save.
  @Test(arguments: StoreKind.withFolder) func anOlderViewLeavesTheRowCacheAlone(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let (reader, writer) = (bench.context(), bench.context())
    let found = try reader.fetchedObjects(FetchRequest("Person"))
    let ids = found.objectIDs
    try meddle(writer)
    #expect(found[900]["age"] == 1)
    #expect(try reader.existingObject(with: ids[901])?.value(forKey: "age") == 1)
    let third = bench.context()
    for place in [900, 901] { #expect(try third.existingObject(with: ids[place])?.value(forKey: "age") == 2) }
    #expect(try third.existingObject(with: ids[1200]) == nil)
    withExtendedLifetime(found) {}
  }

  /// Each read view needs a connection with its own file descriptors, so their number is limited.
  @Test func manyResultsThatAreKeptHoldFewConnections() throws {
    let bench = try bench(.sqlite)
    let context = bench.context()
    func descriptors() -> Int {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }
    let before = descriptors()
    var kept: [FetchedObjects] = []
    for _ in 0..<300 {
      kept.append(try context.fetchedObjects(FetchRequest("Person")))
      #expect(kept[kept.count - 1][0]["age"] == 1)
    }
    // Concurrent tests open files too.
    #expect(descriptors() - before < 200)
    try meddle(bench.stranger())
    #expect(kept[299][700]["age"] == 1)
    for found in kept { #expect(found.count == Self.count) }
    // The oldest views were closed. Once the other results are released, these results read the current rows.
    kept.removeLast(4)
    #expect(kept[0][600]["age"] == 2)
    #expect(try kept[5].indices.filter { try kept[5].existingObject(at: $0) != nil }.count == Self.count - 1)
  }

  /// Each call of the store fails in turn while a walk reads several pages: the error is reported, and the repeated
  /// call succeeds.
  @Test(arguments: StoreKind.withFolder) func aWalkOfWhichAnyCallFailsTellsIt(_ kind: StoreKind) throws {
    let (bench, store) = try StoreBench.failing(kind)
    try fill(bench.stranger())
    var request = FetchRequest("Person")
    request.relationshipKeyPathsForPrefetching = ["department"]
    for count in 0... {
      let context = bench.stranger()
      store.fail(onceAfterCalls: count)
      let sum = Result {
        var sum = 0
        for person in try context.fetchedObjects(request) where person["age"] == 1 { sum += 1 }
        if let error = context.drainAccessorErrors().first { throw error }
        return sum
      }
      if store.isToFail {
        store.fail(onceAfterCalls: nil)
        #expect(try sum.get() == Self.count)
        #expect(count > 6)
        return
      }
      #expect(throws: GraphError.self, "call \(count) failed, and nothing was told") { try sum.get() }
      #expect(context.brokenInvariants() == [])
    }
  }
}
