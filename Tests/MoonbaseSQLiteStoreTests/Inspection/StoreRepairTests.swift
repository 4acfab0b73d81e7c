import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

/// Problems that `moonbase doctor` finds and repairs in ordered lists and in values derived from pairs.
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

  /// Two shelves with five books, each of which is on both shelves.
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

  /// The table of pairs and its columns with positions: of books on a shelf, and of shelves of a book.
  private func places() throws -> (table: String, columns: [String]) {
    let raw = try RawDatabase(store.url)
    let table = try #require(
      try raw.value("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'Z_[12]*'"))
    return (
      table, try raw.rows("SELECT name FROM pragma_table_info('\(table)') WHERE name GLOB 'Z_FOK*' ORDER BY 1")
    )
  }

  @Test func aCounterThatLeavesNoKeyBecomesTheGreatestKey() throws {
    let raw = { (sql: String) in try RawDatabase(store.url).connection.executeScript(sql) }
    try raw("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Book'")
    let found = try findings()
    #expect(found.count == 1 && found.first?.contains("leaves no keys for new rows") == true, "\(found)")
    try StoreRepair.run(storeAt: store.url, model: Self.model.resolved(), allowsCloudKit: false)
    #expect(try findings() == [])
    #expect(try RawDatabase(store.url).value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == "5")
    // A row with the greatest key is reported and left for a person to decide.
    try raw("UPDATE ZBOOK SET Z_PK = 9223372036854775806 WHERE Z_PK = 5")
    try raw("UPDATE Z_PRIMARYKEY SET Z_MAX = 9223372036854775807 WHERE Z_NAME = 'Book'")
    #expect(try findings().contains { $0.contains("has a row 9223372036854775806, which needs another key") })
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

  // MARK: Derived values that their types do not hold

  private static let sums = ManagedObjectModel {
    EntityDescription("Shelf") {
      AttributeDescription("pageCount", type: .integer32).with { $0.derivationExpression = "books.pages.@sum" }
      AttributeDescription("longest", type: .integer32).with { $0.derivationExpression = "books.pages.@max" }
      RelationshipDescription.toMany("books", destination: "Book", inverse: "shelf")
    }
    EntityDescription("Book") {
      AttributeDescription("pages", type: .integer32)
      RelationshipDescription.toOne("shelf", destination: "Shelf", inverse: "books")
    }
  }

  /// A shelf with two books, whose table is changed by SQL without the store.
  private func shelf(_ sql: String) throws -> MigratedStore {
    let store = try MigratedStore()
    try store.fill(Self.sums) { context in
      let books = try (1...2).map { try context.insert("Book", values: ["pages": .int(Int64($0) * 100)]) }
      try context.insert("Shelf").setObjects(books, forKey: "books")
    }
    let connection = try RawDatabase(store.url).connection
    try connection.executeScript(sql)
    return store
  }

  private func findings(_ store: MigratedStore) throws -> [String] {
    var found: [String] = []
    try StoreCheck(storeAt: store.url, model: Self.sums.resolved()) {
      found.append("\($0.message)\($0.repair == .none ? "" : " (repairable)")")
    }.run()
    return found
  }

  private func numbers(_ store: MigratedStore) throws -> [String] {
    try RawDatabase(store.url).rows("SELECT ZPAGECOUNT, ZLONGEST FROM ZSHELF")
  }

  @Test func aDerivedColumnThatHoldsNoValueIsDerivedAnew() throws {
    let store = try shelf("UPDATE ZSHELF SET ZPAGECOUNT = 'many', ZLONGEST = x'00'")
    #expect(
      try findings(store).map { $0.prefix(while: { $0 != "," }) } == ["pageCount holds many", "longest holds \u{0}"])
    #expect(try findings(store).allSatisfy { $0.hasSuffix("(repairable)") })
    try StoreRepair.run(storeAt: store.url, model: Self.sums.resolved(), allowsCloudKit: false)
    #expect(try findings(store) == [])
    #expect(try numbers(store) == ["300|200"])
  }

  @Test func whatAnAttributeCannotHoldIsNamedAndNotDerived() throws {
    let store = try shelf(
      "UPDATE ZBOOK SET ZPAGES = 2000000000; UPDATE ZBOOK SET ZPAGES = 'long' WHERE Z_PK = 1; "
        + "UPDATE ZSHELF SET ZPAGECOUNT = 1, ZLONGEST = 2; INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZPAGES, ZSHELF) "
        + "SELECT 3, Z_ENT, 1, ZPAGES, ZSHELF FROM ZBOOK WHERE Z_PK = 2")
    let found = try findings(store)
    let sum = "pageCount holds 1, and books.pages.@sum gives 4000000000, which is no 32-bit integer: put right"
    #expect(found.contains { $0.hasPrefix(sum) && !$0.hasSuffix("(repairable)") }, "\(found)")
    let text = "longest holds 2, and books.pages.@max gives long, which is no 32-bit integer: put right"
    #expect(found.contains { $0.hasPrefix(text) }, "\(found)")
    try StoreRepair.run(storeAt: store.url, model: Self.sums.resolved(), allowsCloudKit: false)
    #expect(try numbers(store) == ["1|2"])
  }

  @Test func aMigrationThatWouldDeriveWhatAnAttributeCannotHoldIsRefused() throws {
    let store = try shelf("UPDATE ZBOOK SET ZPAGES = 'long' WHERE Z_PK = 1")
    let before = try Data(contentsOf: store.url)
    let new = Self.sums.changed { model in
      model[entity: "Shelf"].attributes.append(AttributeDescription("room", type: .string))
    }
    let error = #expect(throws: GraphError.self) { try store.migrate(to: new) }
    #expect(error?.code == .invalidStore && error?.property == "longest", "\(String(describing: error))")
    #expect(error?.message.contains("table ZSHELF, row 1: Shelf.longest would be derived") == true)
    #expect(try Data(contentsOf: store.url) == before)
    try RawDatabase(store.url).connection.executeScript("UPDATE ZBOOK SET ZPAGES = 7 WHERE Z_PK = 1")
    try store.migrate(to: new)
    #expect(try numbers(store) == ["207|200"])
  }
}
