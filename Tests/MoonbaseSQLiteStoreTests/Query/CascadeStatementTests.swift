import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// A cascade reads the objects to delete in bulk, with a fixed number of statements per level.
@Suite struct CascadeStatementTests {
  /// Houses with rooms with chairs are deleted together, as are the tags of rooms; people in chairs stay.
  private static var model: ManagedObjectModel {
    func cascading(_ name: String, _ destination: String, _ inverse: String) -> RelationshipDescription {
      var relationship = RelationshipDescription.toMany(name, destination: destination, inverse: inverse)
      relationship.deleteRule = .cascade
      return relationship
    }
    return ManagedObjectModel {
      EntityDescription("House") { cascading("rooms", "Room", "house") }
      EntityDescription("Room") {
        RelationshipDescription.toOne("house", destination: "House", inverse: "rooms")
        cascading("chairs", "Chair", "room")
        cascading("tags", "Tag", "rooms")
      }
      EntityDescription("Chair") {
        RelationshipDescription.toOne("room", destination: "Room", inverse: "chairs")
        RelationshipDescription.toOne("person", destination: "Person", inverse: "chair")
      }
      EntityDescription("Person") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toOne("chair", destination: "Chair", inverse: "person")
      }
      EntityDescription("Tag") { RelationshipDescription.toMany("rooms", destination: "Room", inverse: "tags") }
    }
  }

  private struct Town {
    let bench: PeopleStore
    let coordinator: PersistentStoreCoordinator
    let houses: [ManagedObjectID]

    init(rooms: Int, houses count: Int = 2) throws {
      bench = try PeopleStore(CascadeStatementTests.model)
      coordinator = PersistentStoreCoordinator(model: bench.model)
      try coordinator.add(bench.store)
      let context = try ManagedObjectContext(coordinator)
      let tags = try (0..<5).map { _ in try context.insert("Tag") }
      let houses: [ManagedObject] = try (0..<count).map { _ in
        let house = try context.insert("House")
        for number in 0..<rooms {
          let room = try context.insert("Room")
          try room.setObject(house, forKey: "house")
          try room.add(tags[number % 4], to: "tags")
          for _ in 0..<2 {
            let chair = try context.insert("Chair")
            try chair.setObject(room, forKey: "room")
            try chair.setObject(context.insert("Person", values: ["name": .string("\(number)")]), forKey: "person")
          }
        }
        return house
      }
      try context.save()
      self.houses = houses.map { $0.objectID }
    }

    func statements(_ body: (ManagedObjectContext) throws -> Void) throws -> [String] {
      let context = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
      return try bench.statements {
        try body(context)
        try context.processPendingChanges()
      }
    }

    func count(_ entity: String) throws -> Int { try ManagedObjectContext(coordinator).count(FetchRequest(entity)) }
  }

  @Test(arguments: [20, 200])
  func aCascadeReadsEachOfItsLevelsTogether(rooms: Int) throws {
    let town = try Town(rooms: rooms)
    let all = try town.statements { context in try context.delete(context.object(with: town.houses[0])) }
    #expect(all.count <= 20, "\(all.count): \(all.joined(separator: "\n"))")
  }

  /// Rows that were read ahead stay valid.
  @Test func whatIsSavedIntoOtherStoresIsNoReasonToReadAgain() async throws {
    let town = try Town(rooms: 200)
    let (isOver, count, failure) = (Lock(false), Lock(0), Lock<(any Error)?>(nil))
    // A separate thread, since waiting tasks would occupy all threads of the pool.
    let elsewhere = Thread {
      do {
        let context = try StoreBench(.memory).context()
        while !isOver.withLock({ $0 }) {
          try context.insert("Person")
          try context.save()
          count.withLock { $0 += 1 }
        }
      } catch {
        failure.withLock { $0 = error }
      }
    }
    elsewhere.start()
    defer { isOver.withLock { $0 = true } }
    while count.withLock({ $0 }) == 0, failure.withLock({ $0 == nil }) { try await Task.sleep(for: .milliseconds(1)) }
    let all = try town.statements { context in try context.delete(context.object(with: town.houses[0])) }
    #expect(all.count <= 20, "\(all.count)")
    isOver.withLock { $0 = true }
    while !elsewhere.isFinished { try await Task.sleep(for: .milliseconds(1)) }
    #expect(failure.withLock { $0 } == nil)
  }

  @Test func manyDeletionsReadWhatTheyLeadToTogether() throws {
    let town = try Town(rooms: 2, houses: 300)
    let all = try town.statements { context in
      for house in try context.fetch(FetchRequest("House")) { try context.delete(house) }
    }
    // 2,100 objects of three levels, 512 at a time.
    #expect(all.count <= 30, "\(all.count)")
  }

  @Test func whatACascadeTakesAlongIsAllThatGoes() throws {
    let town = try Town(rooms: 50)
    let context = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: town.coordinator))
    try context.delete(context.object(with: town.houses[0]))
    try context.save()
    #expect(try town.count("House") == 1)
    #expect(try town.count("Room") == 50)
    #expect(try town.count("Chair") == 100)
    #expect(try town.count("Tag") == 1)
    #expect(try town.count("Person") == 200)
    let people = try context.fetch(FetchRequest("Person", where: "chair == nil"))
    #expect(people.count == 100)
  }

  /// A tag that another context removes from a room during the cascade is not deleted.
  @Test(arguments: StoreKind.allCases)
  func whatAHookSavesElsewhereMeanwhileIsSeen(kind: StoreKind) throws {
    let bench = try StoreBench(kind, Self.model)
    let (other, hook) = (bench.stranger(), Lock<ManagedObjectID?>(nil))
    let context = bench.context(extending: "Room") { room in
      room.prepareForDeletion = { _ in
        guard let id = hook.withLock({ $0.take() }) else { return }
        let freed = try other.object(with: id)
        try freed.setObjects([], forKey: "tags")
        try other.save()
      }
    }
    let house = try context.insert("House")
    let rooms = try (0..<4).map { _ in
      let room = try context.insert("Room")
      try room.setObject(house, forKey: "house")
      try room.add(context.insert("Tag"), to: "tags")
      return room
    }
    try context.save()
    let (freed, first) = (rooms[3], rooms[0])
    let kept = try #require(try freed.objectIDs(forRelationshipNamed: "tags").first)
    hook.withLock { $0 = freed.objectID }
    try context.refreshAllObjects()
    try context.delete(first)
    for room in rooms.dropFirst() { try context.delete(room) }
    try context.save()
    #expect(try bench.stranger().fetchIDs(FetchRequest("Tag")) == [kept])
  }
}
