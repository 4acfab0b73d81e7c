import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore

/// What `moonbase doctor` finds and mends in lists that are kept in order, and in what is derived from pairs.
@Suite struct StoreRepairTests {
  private static let model = ManagedObjectModel {
    EntityDescription("Shelf") {
      AttributeDescription("bookCount", type: .integer64).with { $0.derivationExpression = "books.@count" }
      RelationshipDescription.toMany("books", destination: "Book", inverse: "shelves").with { $0.isOrdered = true }
    }
    EntityDescription("Book") {
      AttributeDescription("title", type: .string)
      RelationshipDescription.toMany("shelves", destination: "Shelf", inverse: "books").with { $0.isOrdered = true }
    }
  }

  private let store: MigratedStore

  /// Two shelves with five books, of which each stands on both.
  init() throws {
    store = try MigratedStore()
    try store.fill(Self.model) { context in
      let books = try (0..<5).map { try context.insert("Book", values: ["title": .string("b\($0)")]) }
      for _ in 0..<2 { try context.insert("Shelf").setObjects(books, forKey: "books") }
    }
  }

  private func findings() throws -> [String] {
    var found: [String] = []
    let check = try StoreCheck(storeAt: store.url, model: Self.model.resolved()) {
      found.append("\($0.place): \($0.message)")
    }
    try check.run()
    return found
  }

  /// The titles of each shelf in order, with the derived number.
  private func shelves() throws -> [[String]] {
    try store.using(Self.model) { context in
      let shelves = try context.fetch(FetchRequest("Shelf")).sorted { $0.objectID.key < $1.objectID.key }
      return try shelves.map { shelf in
        try ["\(shelf.value(forKey: "bookCount"))"]
          + shelf.objects(forKey: "books").map { "\(try $0.value(forKey: "title"))" }
      }
    }
  }

  /// The table of pairs, and its columns with the places: of books on a shelf, and of shelves of a book.
  private func places() throws -> (table: String, columns: [String]) {
    let raw = try RawDatabase(store.url)
    let table = try #require(
      try raw.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[12]*'"))
    return (
      table, try raw.rows("SELECT name FROM pragma_table_info('\(table)') WHERE name GLOB 'Z_FOK*' ORDER BY 1")
    )
  }

  @Test func placesInTablesOfPairsAreGivenOutInTheOrderInWhichTheyAreRead() throws {
    #expect(try findings() == [])
    let (table, columns) = try places()
    #expect(columns.count == 2)
    for column in columns {
      try RawDatabase(store.url).connection.executeScript(
        "UPDATE \(table) SET \(column) = CASE rowid % 3 WHEN 0 THEN 1024 WHEN 1 THEN NULL ELSE \(column) END")
    }
    let before = try shelves()
    let found = try findings()
    #expect(
      found.count { $0.contains("books: of 5 objects") } == 2 && found.contains { $0.contains("shelves: of 2 objects") }
    )
    try StoreRepair.run(storeAt: store.url, model: Self.model.resolved(), allowsCloudKit: false)
    #expect(try findings() == [])
    #expect(try shelves() == before)
  }

  @Test func whatIsDerivedFromPairsIsDerivedAnewWhenTheyGo() throws {
    #expect(try shelves().map { $0[0] } == ["5", "5"])
    try RawDatabase(store.url).connection.executeScript("DELETE FROM ZBOOK WHERE ZTITLE = 'b1' OR ZTITLE = 'b3'")
    #expect(try findings().count { $0.contains("names a row that is not there") } == 4)
    try StoreRepair.run(storeAt: store.url, model: Self.model.resolved(), allowsCloudKit: false)
    #expect(try findings() == [])
    #expect(try shelves() == [["3", "b0", "b2", "b4"], ["3", "b0", "b2", "b4"]])
    let (table, _) = try places()
    #expect(try RawDatabase(store.url).value("SELECT COUNT(*) FROM \(table)") == "6")
  }
}
