import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Pairs of a relationship without an inverse, when one of their objects is deleted.
@Suite struct LoosePairTests {
  private static let model = ManagedObjectModel {
    EntityDescription("Shelf") {
      AttributeDescription("name", type: .string)
      RelationshipDescription.toMany("books", destination: "Book")
      RelationshipDescription.toMany("best", destination: "Book").with { $0.isOrdered = true }
      RelationshipDescription.toMany("near", destination: "Shelf")
    }
    EntityDescription("Book") { AttributeDescription("title", type: .string) }
    EntityDescription("Novel", parent: "Book") {}
  }

  private let store: MigratedStore

  /// Two shelves with the same books; each shelf is near the other one and itself.
  init() throws {
    store = try MigratedStore()
    try store.fill(Self.model, tracksHistory: true) { context in
      let books = try (0..<4).map {
        try context.insert($0 < 2 ? "Book" : "Novel", values: ["title": .string("b\($0)")])
      }
      let shelves = try (0..<2).map { try context.insert("Shelf", values: ["name": .string("s\($0)")]) }
      for shelf in shelves {
        try shelf.setObjects(books, forKey: "books")
        try shelf.setObjects(books, forKey: "best")
        try shelf.setObjects(shelves, forKey: "near")
      }
    }
  }

  /// The number of pairs of each relationship.
  private func pairs() throws -> [Int] {
    let raw = try RawDatabase(store.url)
    let layout = try SQLiteStore(url: store.url, model: Self.model.resolved()).layout
    let shelf = try layout.layout(#require(layout.model.entity("Shelf")))
    return try ["books", "best", "near"].compactMap { name in
      guard case .join(let join) = shelf.slots[try #require(shelf.entity.slot(name))] else { return nil }
      return try raw.value("SELECT COUNT(*) FROM \(join.table)").flatMap { Int($0) }
    }
  }

  private func delete(_ entity: String, _ condition: String) throws {
    try store.using(Self.model) { context in
      for object in try context.fetch(FetchRequest(entity, where: condition)) { try context.delete(object) }
      try context.save()
    }
  }

  private func findings() throws -> [String] {
    var found: [String] = []
    try StoreCheck(storeAt: store.url, model: Self.model.resolved()) { found.append("\($0.place): \($0.message)") }
      .run()
    return found
  }

  @Test func pairsGoWithTheObjectThatTheyLeadTo() throws {
    #expect(try pairs() == [8, 8, 4])
    try delete("Book", "title == 'b1'")
    #expect(try pairs() == [6, 6, 4])
    // The object of a subentity is in the same table.
    try delete("Novel", "title == 'b2'")
    #expect(try pairs() == [4, 4, 4])
    #expect(try findings() == [])
  }

  @Test func pairsGoWithTheObjectThatHasThem() throws {
    try delete("Shelf", "name == 's0'")
    // The remaining shelf is near itself only.
    #expect(try pairs() == [4, 4, 1])
    #expect(try findings() == [])
  }

  @Test func pairsGoWithTheObjectsOfABatchDeletion() throws {
    try store.using(Self.model) { context in
      var request = BatchDeleteRequest(try FetchRequest("Book", where: "title >= 'b1'"))
      request.resultType = .count
      #expect(try context.execute(request).count == 3)
    }
    #expect(try pairs() == [2, 2, 4])
    try store.using(Self.model) { context in
      _ = try context.execute(BatchDeleteRequest(FetchRequest("Shelf", where: "name == 's1'")))
    }
    #expect(try pairs() == [1, 1, 1])
    #expect(try findings() == [])
  }

  @Test func aPairWhoseObjectIsGoneIsFoundAndRemoved() throws {
    try RawDatabase(store.url).connection.executeScript("DELETE FROM ZBOOK WHERE ZTITLE = 'b3'")
    #expect(try findings().count { $0.contains("names a row that is not there") } == 4)
    try StoreRepair.run(storeAt: store.url, model: Self.model.resolved(), allowsCloudKit: false)
    #expect(try pairs() == [6, 6, 4])
    #expect(try findings() == [])
  }

  /// A relationship that is its own inverse has its pairs in the table in both directions. Another context may have
  /// saved pairs that this context has not read.
  @Test(arguments: [DeleteRule.nullify, .noAction])
  func pairsOfARelationshipThatIsItsOwnInverseGoBothWays(_ rule: DeleteRule) throws {
    var model = People.model()
    let index = try #require(model.entities[0].relationships.firstIndex { $0.name == "friends" })
    model.entities[0].relationships[index].deleteRule = rule
    let people = try PeopleStore(model)
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(people.store)
    for place in 0..<3 {
      let (mine, theirs) = (try ManagedObjectContext(coordinator), try ManagedObjectContext(coordinator))
      let others = try (0..<3).map { _ in try theirs.insert("Person") }
      try theirs.save()
      let seen = try mine.object(with: others[place].objectID)
      #expect(try seen.objects(forKey: "friends").isEmpty)
      // With a pair of the object and itself.
      for friend in others { try others[place].add(friend, to: "friends") }
      try theirs.save()
      try mine.delete(seen)
      try mine.save()
      let pairs = try RawDatabase(people.folder.file()).rows("SELECT Z_2FRIENDS, REFLEXIVE FROM Z_2FRIENDS")
      #expect(pairs == [], "\(place)")
    }
  }
}
