import MoonbaseModel
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph
@testable import MoonbaseBatchRequests

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// IDs and dictionaries that are read as they are walked.
@Suite struct LazyFetchResultsTests {
  private func bench(_ kind: StoreKind, count: Int = 1300) throws -> StoreBench {
    let bench = try StoreBench(kind)
    let context = bench.context()
    for number in 0..<count {
      try context.insert("Person", values: ["firstName": .string("n\(number % 7)"), "age": .int(Int64(number % 100))])
    }
    try context.save()
    return bench
  }

  private var sorted: FetchRequest {
    var request = FetchRequest("Person")
    request.sortDescriptors = [SortDescriptor("age"), SortDescriptor("firstName")]
    return request
  }

  /// Requests of every kind that `DictionaryRows` knows.
  private func requests() throws -> [FetchRequest] {
    var plain = sorted
    plain.propertiesToFetch = [FetchColumn("age"), FetchColumn("firstName")]
    var window = plain
    (window.fetchOffset, window.fetchLimit) = (500, 600)
    var distinct = plain
    distinct.returnsDistinctResults = true
    var computed = plain
    computed.propertiesToFetch = [FetchColumn("double", expression: try Expression(format: "age * 2"))]
    var grouped = FetchRequest("Person")
    grouped.propertiesToFetch = [
      FetchColumn("firstName"), FetchColumn("total", expression: try Expression(format: "@sum.age")),
    ]
    grouped.propertiesToGroupBy = ["firstName"]
    grouped.havingPredicate = try Predicate(format: "total > 5")
    var whole = FetchRequest("Person")
    whole.propertiesToFetch = [FetchColumn("number", expression: try Expression(format: "@count"))]
    var repeated = plain
    repeated.propertiesToFetch.append(FetchColumn("greatest", expression: try Expression(format: "@max.age")))
    let nothing = FetchRequest("Person", where: try Predicate(format: "age > 1000"))
    return [plain, window, distinct, computed, grouped, whole, repeated, nothing]
  }

  @Test(arguments: StoreKind.withFolder) func aWalkGivesWhatAFetchGives(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    for (number, request) in try requests().enumerated() {
      let all = try context.fetchDictionaries(request)
      let found = try context.fetchedDictionaries(request)
      #expect(Array(found) == all, "request \(number)")
      #expect(Array(found.prefix(3)) == Array(all.prefix(3)) && Array(found).count == all.count)
      var sizes: [Int] = []
      try found.forEachBatch { sizes.append($0.count) }
      #expect(sizes.reduce(0, +) == all.count && sizes.allSatisfy { 1...512 ~= $0 }, "request \(number)")
    }
    #expect(context.pendingErrors.isEmpty)
  }

  /// Also with unsaved changes and with conditions that the context evaluates.
  @Test(arguments: StoreKind.withFolder) func theIDsAreThoseOfAFetch(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context {
      $0.derived = [DerivedAttribute("fullName") { .string("\($0["firstName"].string ?? "")!") }]
    }
    var window = sorted
    (window.fetchOffset, window.fetchLimit) = (100, 700)
    var judged = FetchRequest("Person", where: try Predicate(format: "fullName == 'n3!'"))
    for changes in [false, true] {
      if changes {
        try context.insert("Person", values: ["firstName": "n3", "age": 50])
        try context.delete(#require(context.fetch(sorted).first))
      }
      for request in [FetchRequest("Person"), sorted, window, judged, FetchRequest("Department")] {
        let ids = try context.fetchIDs(request)
        #expect(Array(try context.fetchedObjectIDs(request)) == ids)
        var count = 0
        try context.fetchedObjectIDs(request).forEachBatch { count += $0.count }
        #expect(count == ids.count)
      }
      judged.sortDescriptors = [SortDescriptor("age")]
    }
    #expect(context.pendingErrors.isEmpty)
  }

  @Test(arguments: StoreKind.withFolder) func aWalkIsOfOneStateWhateverIsSavedMeanwhile(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let (context, writer) = (bench.context(), bench.context())
    var request = FetchRequest("Person")
    request.propertiesToFetch = [FetchColumn("age")]
    var computed = request
    computed.propertiesToFetch = [FetchColumn("age", expression: try Expression(format: "age + 0"))]
    for request in [request, computed] {
      let before = try context.fetchDictionaries(request)
      var found: [[String: Value]] = []
      for row in try context.fetchedDictionaries(request) {
        if found.isEmpty {
          for person in try writer.fetch(FetchRequest("Person")) { try person.setValue(.int(99), forKey: "age") }
          try writer.save()
          // The context may save during the walk.
          try context.insert("Department")
          try context.save()
        }
        found.append(row)
      }
      #expect(found == before)
      for (index, person) in try writer.fetch(FetchRequest("Person")).enumerated() {
        try person.setValue(.int(Int64(index % 100)), forKey: "age")
      }
      try writer.save()
    }
    let ids = try context.fetchIDs(FetchRequest("Person"))
    var seen: [ManagedObjectID] = []
    for id in try context.fetchedObjectIDs(FetchRequest("Person")) {
      if seen.isEmpty {
        try writer.execute(BatchDeleteRequest(FetchRequest("Person")))
      }
      seen.append(id)
    }
    #expect(seen == ids)
  }

  @Test(arguments: StoreKind.allCases) func fewRowsAreThereAtATime(_ kind: StoreKind) throws {
    let bench = try bench(kind, count: 4000)
    let context = bench.context()
    var (held, greatest) = (0, 0)
    context.extensionRegistry.weigh = { bytes in
      held += bytes
      greatest = max(greatest, held)
    }
    var request = FetchRequest("Person")
    request.propertiesToFetch = [FetchColumn("double", expression: try Expression(format: "age * 2"))]
    #expect(try context.fetchedDictionaries(request).reduce(0) { count, _ in count + 1 } == 4000)
    // An object and its row weigh more than 600 bytes; all objects together would weigh 2.4 MB.
    #expect(greatest < 1 << 20 && held < 1 << 17)
  }

  @Test(arguments: StoreKind.allCases) func whatDoesNotFitIsSaidAtOnceAndWhatFailsLaterIsKept(_ kind: StoreKind) throws
  {
    let (bench, store) = try StoreBench.failing(kind)
    let context = bench.context()
    for _ in 0..<1100 { try context.insert("Person", values: ["age": 5]) }
    try context.save()
    #expect(throws: (any Error).self) { try context.fetchedDictionaries(FetchRequest("Persn")) }
    #expect(throws: (any Error).self) { try context.fetchedObjectIDs(FetchRequest("Persn")) }
    var request = FetchRequest("Person")
    request.propertiesToFetch = [FetchColumn("age")]
    let (rows, ids) = (try context.fetchedDictionaries(request), try context.fetchedObjectIDs(request))
    #expect(throws: GraphError.self) {
      try ids.forEachBatch { _ in store.fail(onceAfterCalls: 0) }
    }
    store.fail(onceAfterCalls: nil)
    #expect(context.pendingErrors.isEmpty)
    store.fail(afterReads: 0)
    #expect(Array(rows).isEmpty && context.drainAccessorErrors().count == 1)
    store.fail(afterReads: nil)
    #expect(Array(rows).count == 1100 && Array(ids).count == 1100 && context.pendingErrors.isEmpty)
    struct Enough: Error {}
    #expect(throws: Enough.self) { try rows.forEachBatch { _ in throw Enough() } }
    #expect(context.pendingErrors.isEmpty)
  }

  @Test(arguments: StoreKind.allCases) func aRequestOfAnyResultTypeIsReadAsItIsWalked(_ kind: StoreKind) throws {
    let bench = try bench(kind, count: 20)
    let context = bench.context()
    var request = sorted
    guard case .objects(let objects) = try context.execute(request) else { throw Broken() }
    #expect(objects.map(\.objectID) == (try context.fetchIDs(sorted)))
    request.resultType = .objectIDs
    guard case .objectIDs(let ids) = try context.execute(request) else { throw Broken() }
    #expect(Array(ids) == (try context.fetchIDs(sorted)))
    request.resultType = .count
    guard case .count(20) = try context.execute(request) else { throw Broken() }
    request.resultType = .dictionaries
    guard case .dictionaries(let rows) = try context.execute(request) else { throw Broken() }
    #expect(Array(rows) == (try context.fetchDictionaries(sorted)))
  }
}
