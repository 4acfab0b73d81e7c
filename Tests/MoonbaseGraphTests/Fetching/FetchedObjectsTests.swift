import MoonbaseGraph
import MoonbaseModel
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Fetch results read lazily, as they are walked.
@Suite struct FetchedObjectsTests {
  private func bench(_ kind: StoreKind, count: Int) throws -> StoreBench {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<count {
      try context.insert("Person", values: ["firstName": .string("p\(number)"), "age": .int(Int64(number % 100))])
    }
    try context.save()
    return bench
  }

  private func request(batch: Int = 0) -> FetchRequest {
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age"), SortDescriptor("firstName")]
    request.fetchBatchSize = batch
    return request
  }

  @Test(arguments: StoreKind.allCases, [0, 1, 7, 512])
  func itHasWhatAFetchGivesInWhicheverOrderItIsWalked(_ kind: StoreKind, _ batch: Int) throws {
    let bench = try bench(kind, count: 1100)
    let context = bench.context()
    let found = try context.fetchedObjects(request(batch: batch))
    let expected = try bench.context().fetchIDs(request())
    #expect(found.count == 1100)
    #expect(found.objectIDs == expected)
    #expect(found.map(\.objectID) == expected)
    #expect(found.reversed().map(\.objectID) == expected.reversed())
    for place in [0, 1099, 3, 700, 699, 701, 0] {
      #expect(found[place].objectID == expected[place])
      #expect(try found.existingObject(at: place)?.value(forKey: "firstName") == found[place]["firstName"])
    }
    #expect(found[600] === found[600])
  }

  @Test(arguments: StoreKind.withFolder, [0, 4]) func whereNothingIsFoundNothingIsWalked(
    _ kind: StoreKind, _ batch: Int
  ) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    var request = FetchRequest("Person")
    request.fetchBatchSize = batch
    for keyPaths in [[], ["department"]] {
      request.relationshipKeyPathsForPrefetching = keyPaths
      let found = try context.fetchedObjects(request)
      #expect(found.isEmpty && found.objectIDs.isEmpty && Array(found).isEmpty)
      #expect(try !context.walk(request).reaches(0) && context.fetch(request).isEmpty)
    }
    #expect(context.pendingErrors.isEmpty)
  }

  @Test(arguments: StoreKind.allCases, [0, 64])
  func objectsGoWhenNobodyHoldsThemAndKeepWhatChanged(_ kind: StoreKind, _ batch: Int) throws {
    let bench = try bench(kind, count: 3000)
    let context = bench.context()
    let found = try context.fetchedObjects(request(batch: batch))
    var most = 0
    for (place, person) in found.enumerated() {
      if place == 10 { person["firstName"] = "changed" }
      most = max(most, context.registeredObjects.count)
    }
    #expect(most <= 600)
    #expect(found[10]["firstName"] == "changed")
    try context.save()
    #expect(found[10]["firstName"] == "changed")
  }

  @Test(arguments: StoreKind.allCases, [0, 4])
  func itStaysAsItWasWhatIsGoneIsLeftOut(_ kind: StoreKind, _ batch: Int) throws {
    let bench = try bench(kind, count: 40)
    let context = bench.context()
    let new = try context.insert("Person", values: ["firstName": "new", "age": 50])
    let found = try context.fetchedObjects(request(batch: batch))
    let place = try #require(found.objectIDs.firstIndex(of: new.objectID))
    #expect(found.count == 41)
    try context.delete(found[3])
    let other = bench.context()
    let victim = try other.existingObject(with: found.objectIDs[20])
    try other.delete(#require(victim))
    try other.save()
    try context.insert("Person", values: ["firstName": "later"])
    try context.save()
    #expect(found.count == 41)
    #expect(try found.existingObject(at: 3) == nil)
    #expect(try found.existingObject(at: 20) == nil)
    #expect(found[20].objectID == found.objectIDs[20])
    #expect(throws: GraphError.self) { try found[20].value(forKey: "firstName") }
    #expect(found[place] === new)
    #expect(found.objectIDs[place] == new.objectID)
    #expect(!new.objectID.isTemporaryID)
    #expect(try (0..<41).compactMap { try found.existingObject(at: $0) }.count == 39)
  }

  /// The results contain a new object that is then rolled back.
  @Test(arguments: StoreKind.allCases) func anObjectThatWasRolledBackIsGone(_ kind: StoreKind) throws {
    let bench = try bench(kind, count: 5)
    let context = bench.context()
    try context.insert("Person", values: ["firstName": "new", "age": 1000])
    let found = try context.fetchedObjects(request())
    try context.rollback()
    #expect(try found.existingObject(at: 5) == nil)
    #expect(found[5].managedObjectContext == nil)
    #expect(found.map(\.objectID).count == 6)
  }

  @Test(arguments: StoreKind.allCases) func relationshipsAreReadAheadWindowByWindow(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let writer = bench.context()
    for number in 0..<30 {
      let department = try writer.insert("Department", values: ["name": .string("d\(number)")])
      let person = try writer.insert("Person", values: ["firstName": .string("p\(number)")])
      try person.setObject(department, forKey: "department")
    }
    try writer.save()
    let context = bench.context()
    var request = FetchRequest("Department")
    request.relationshipKeyPathsForPrefetching = ["employees"]
    let found = try context.fetchedObjects(request)
    for department in found { #expect(try department.objects(forKey: "employees").count == 1) }
    request.relationshipKeyPathsForPrefetching = ["nothing"]
    #expect(throws: (any Error).self) { try context.fetchedObjects(request) }
  }

  /// A few unsaved changes do not make the context read and sort all saved objects.
  @Test func unsavedChangesFindTheirPlacesByHalves() throws {
    let bench = try bench(.sqlite, count: 4000)
    let context = bench.context()
    let whole = try context.fetch(request())
    whole[17]["age"] = 50
    try context.delete(whole[30])
    try context.insert("Person", values: ["firstName": "p0", "age": 0])
    try context.insert("Person", values: ["firstName": "z", "age": 1000])
    let changed = whole[17]
    _ = consume whole
    let ids = try context.fetchIDs(request())
    #expect(context.registeredObjects.count < 100)
    #expect(ids.count == 4001)
    #expect(try context.fetch(request()).map(\.objectID) == ids)
    // The slow path gives the same result: every row is checked again.
    var refreshing = request()
    refreshing.shouldRefreshRefetchedObjects = true
    #expect(try context.fetch(refreshing).map(\.objectID) == ids)
    #expect(ids.contains(changed.objectID))
  }

  /// Rows refused by an in-memory condition are released as they are read.
  @Test(arguments: StoreKind.allCases) func conditionsJudgedHereHoldOneBatchAndStopAtTheLimit(_ kind: StoreKind) throws
  {
    let bench = try bench(kind, count: 2000)
    var (calls, most) = (0, 0)
    let context = bench.context { entry in
      entry.derived = [
        DerivedAttribute("fullName") { person in
          calls += 1
          most = max(most, person.managedObjectContext?.registeredObjects.count ?? 0)
          return try person.value(forKey: "firstName")
        }
      ]
    }
    var request = FetchRequest("Person", where: try Predicate(format: "fullName == 'p1999' OR fullName == 'p3'"))
    #expect(try context.count(request) == 2)
    #expect(try Set(context.fetchIDs(request)).count == 2)
    #expect(try context.fetch(request).count == 2)
    #expect(most <= 600)
    request.sortDescriptors = [SortDescriptor("age")]
    let names = try context.fetchedObjects(request).map { $0["firstName"] }
    #expect(names == ["p3", "p1999"])
    request = FetchRequest("Person", where: try Predicate(format: "fullName BEGINSWITH 'p'"))
    (request.fetchOffset, request.fetchLimit) = (3, 2)
    calls = 0
    #expect(try context.fetch(request).count == 2)
    #expect(try context.fetchIDs(request).count == 2)
    #expect(try context.count(request) == 2)
    #expect(calls < 50)
    request.fetchOffset = 1999
    #expect(try context.count(request) == 1)
  }

  /// A deletion shifts the window even if no changed object is in the window.
  @Test(arguments: StoreKind.allCases, [0, 4])
  func aWindowBesideADeletionIsThatOfAFetch(_ kind: StoreKind, _ batch: Int) throws {
    let bench = try bench(kind, count: 60)
    let context = bench.context()
    let whole = try context.fetch(request())
    for place in [0, 3, 20] { try context.delete(whole[place]) }
    for (offset, limit) in [(0, 5), (2, 5), (55, 10), (70, 3), (4, 0)] {
      var request = request(batch: batch)
      (request.fetchOffset, request.fetchLimit) = (offset, limit)
      let rest = whole.filter { !$0.isDeleted }.dropFirst(offset)
      let expected = (limit > 0 ? Array(rest.prefix(limit)) : Array(rest)).map(\.objectID)
      #expect(try context.fetch(request).map(\.objectID) == expected)
      #expect(try context.fetchIDs(request) == expected)
      #expect(try context.fetchedObjects(request).map(\.objectID) == expected)
    }
  }
}
