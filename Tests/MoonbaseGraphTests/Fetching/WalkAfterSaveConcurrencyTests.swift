import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

@testable import MoonbaseGraph

import struct MoonbaseModel.SortDescriptor

/// A walk continues after its context has saved: its read view has ended, and another thread reads the remaining rows
/// by their keys.
@Suite struct WalkAfterSaveConcurrencyTests {
  private static let count = 6000

  /// The model without limits for ages.
  private static var model: ManagedObjectModel {
    var model = People.model()
    let index = model.entities[0].attributes.firstIndex { $0.name == "age" } ?? 0
    model.entities[0].attributes[index] = AttributeDescription("age", type: .integer64)
    return model
  }

  private func bench(_ kind: StoreKind) throws -> StoreBench {
    let bench = try StoreBench(kind, Self.model)
    let context = bench.context()
    for number in 0..<Self.count {
      try context.insert(
        "Person", values: ["firstName": .string("p\(number % 97)"), "age": .int(Int64(number))])
    }
    try context.save()
    return bench
  }

  private func request(isSorted: Bool) -> FetchRequest {
    var request = FetchRequest("Person")
    if isSorted { request.sortDescriptors = [SortDescriptor("firstName"), SortDescriptor("age")] }
    return request
  }

  private func ages(_ bench: StoreBench) throws -> [Int64] {
    let reader = bench.context()
    return try reader.fetchedObjects(FetchRequest("Person")).map { person in
      if case .int(let age) = person["age"] { age } else { -1 }
    }.sorted()
  }

  /// Objects changed ahead of the walk are reached with the saved values.
  @Test(arguments: StoreKind.allCases, [true, false]) func itSeesWhatItSaved(
    _ kind: StoreKind, _ isSorted: Bool
  ) throws {
    let bench = try bench(kind)
    let context = bench.context()
    context.savesAhead = true
    let found = try context.fetchedObjects(request(isSorted: isSorted))
    let ids = found.objectIDs
    let walk = try context.fetchedObjects(request(isSorted: isSorted))
    var random = SplitMix(7)
    var expected = [Int: Int64]()
    var place = 0
    var wrong = 0
    while try walk.reaches(place) {
      let person = try #require(try walk.existingObject(at: place))
      if person.objectID != ids[place] { wrong += 1 }
      if let age = expected[place], person["age"] != .int(age) { wrong += 1 }
      person["age"] = .int(Int64(100_000 + place))
      if place % 1300 == 1299 {
        // After the save only the store has these changes.
        for _ in 0..<100 {
          let other = place + 1 + random.next(2500)
          guard other < ids.count else { continue }
          let age = Int64(1_000_000 + random.next(1000))
          expected[other] = age
          try context.object(with: ids[other]).setValue(.int(age), forKey: "age")
        }
        try context.saveAhead()
        try context.turnIntoFaults(context.registeredObjects.filter { !$0.isOnItsWay && !$0.awaitsSave })
      }
      place += 1
    }
    #expect(wrong == 0 && place == Self.count && expected.count > 100)
    try context.save()
    #expect(try ages(bench) == (0..<Self.count).map { Int64(100_000 + $0) })
    #expect(context.brokenInvariants() == [] && context.pendingErrors.isEmpty)
  }

  /// Rows deleted during the walk are skipped, and the other rows keep their places.
  @Test(arguments: StoreKind.allCases) func rowsThatGoAreLeftOut(_ kind: StoreKind) throws {
    let bench = try bench(kind)
    let context = bench.context()
    let walk = try context.fetchedObjects(request(isSorted: false))
    let ids = try bench.context().fetchIDs(request(isSorted: false))
    var (place, missing) = (0, 0)
    while try walk.reaches(place) {
      if let person = try walk.existingObject(at: place) {
        #expect(person.objectID == ids[place])
      } else {
        missing += 1
      }
      if place == 1000 {
        try walk.existingObject(at: place)?.setValue(.int(7), forKey: "age")
        try context.save()
        let other = bench.context()
        for gone in stride(from: 3000, to: Self.count, by: 7) { try other.delete(other.object(with: ids[gone])) }
        try other.save()
      }
      place += 1
    }
    #expect(place == Self.count && missing == stride(from: 3000, to: Self.count, by: 7).underestimatedCount)
    #expect(walk.managedObjectContext === context && context.pendingErrors.isEmpty)
  }

  /// A discarded walk with a reader thread does not keep the store either.
  @Test func theStoreGoesWithAWalkThatIsGivenUp() throws {
    let folder = try TemporaryFolder()
    let model = try Self.model.resolved()
    for round in 0..<20 {
      weak var store: (any PersistentStore)?
      do {
        let coordinator = PersistentStoreCoordinator(model: model)
        try coordinator.add(SQLiteStore(url: folder.file(), model: model))
        store = coordinator.persistentStores[0]
        let context = try ManagedObjectContext(coordinator)
        if round == 0 {
          for number in 0..<Self.count { try context.insert("Person", values: ["age": .int(Int64(number))]) }
          try context.save()
        }
        let walk = try context.fetchedObjects(FetchRequest("Person"))
        for place in 0..<1600 + round { #expect(try walk.existingObject(at: place) != nil) }
      }
      #expect(store == nil)
    }
  }

  /// The writing thread releases the store before the context stops waiting, so the last owner closes the file.
  @Test func theStoreGoesWithTheLastWhoHoldsIt() throws {
    for _ in 0..<20 {
      weak var store: (any PersistentStore)?
      do {
        let bench = try StoreBench(.sqlite, Self.model)
        store = bench.coordinator.persistentStores[0]
        let context = bench.context()
        context.savesAhead = true
        let people = try (0..<100).map { try context.insert("Person", values: ["age": .int(Int64($0))]) }
        try context.save()
        for person in people { person["age"] = 7 }
        try context.saveAhead()
        #expect(context.writing.pendingSave != nil)
        try context.finishSave()
      }
      #expect(store == nil)
    }
  }
}
