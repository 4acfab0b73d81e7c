import Foundation
import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// Stores that Core Data wrote.
@Suite(.enabled(if: RealStores.areThere, "the fixtures are not beside the checkout"))
struct RealStoreTests {
  /// Any finding about a store that Core Data wrote is a false alarm.
  @Test(arguments: RealStores.all) func placesAndDerivedAttributesOfRealStoresAreFoundAsTheyShouldBe(_ name: String)
    throws
  {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    var found: [StoreFinding] = []
    try StoreCheck(storeAt: url, model: RealStores.model(of: url)) { found.append($0) }.run()
    #expect(found.filter { $0.kind == .order || $0.kind == .derived } == [])
  }

  @Test(arguments: RealStores.all)
  func everyRowOfEveryEntityIsRead(name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let store = try SQLiteStore(url: url, model: RealStores.model(of: url))
    let raw = try RawDatabase(url)
    for entity in store.entities where !entity.isAbstract {
      let query = StoreQuery(entity: entity, in: try RealStores.model(of: url), includesSubentities: false)
      let rows = try store.snapshots(matching: query)
      let table = "Z" + store.entities.first { $0.index == entity.root }!.name.uppercased()
      let number = try raw.value("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity.name)'")!
      #expect(
        try "\(rows.count)" == raw.value("SELECT COUNT(*) FROM \(table) WHERE Z_ENT = \(number)"), "\(entity.name)")
      #expect(try store.count(matching: query) == rows.count)
      #expect(try store.snapshots(of: rows.map(\.id)).map(\.id.key).sorted() == rows.map(\.id.key).sorted())
    }
  }

  @Test(arguments: RealStores.all)
  func theValuesAreThoseOfTheColumns(name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model)
    let raw = try RawDatabase(url)
    let columns = try PlainColumns(model, in: raw)
    for entity in store.entities where !entity.isAbstract {
      let rows = try store.snapshots(matching: StoreQuery(entity: entity, in: model, includesSubentities: false))
      let table = try "FROM \(columns.table(of: entity)) WHERE Z_ENT = \(columns.number(of: entity))"
      for property in entity.properties where !property.isTransient {
        if case .toMany = property.kind { continue }
        let column = try columns.column(of: property)
        let text =
          "CASE typeof(\(column)) WHEN 'blob' THEN hex(\(column)) WHEN 'real' THEN printf('%!.17g', \(column)) ELSE \(column) END"
        var expected: [Int64: String] = [:]
        for row in try raw.rows("SELECT Z_PK || ':' || \(text) \(table) AND \(column) NOT NULL") {
          let parts = row.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
          expected[try #require(Int64(parts[0]))] = String(parts[1])
        }
        for row in rows {
          let value = row.values[property.slot]
          #expect(
            Self.holds(value, expected[row.id.key], property), "\(entity.name).\(property.name) of \(row.id.key)")
        }
        #expect(rows.count { !$0.values[property.slot].isNull } == expected.count, "\(entity.name).\(property.name)")
      }
    }
  }

  /// Whether a value equals a column's text; blobs are written in hexadecimal digits.
  private static func holds(_ value: Value, _ shown: String?, _ property: ResolvedProperty) -> Bool {
    guard let shown else { return value.isNull }
    let isApart = property.attribute?.allowsExternalBinaryDataStorage == true
    switch value {
    case .bool(let flag): return shown == (flag ? "1" : "0")
    case .int(let number): return shown == "\(number)"
    case .double(let number): return Double(shown) == number || Float(shown).map(Double.init) == number
    case .date(let date): return Double(shown) == date.timeIntervalSinceReferenceDate
    case .decimal(let number):
      // SQLite's own output is inexact in the last digit.
      guard let real = Double(shown), let ours = Double("\(number)") else { return false }
      return abs(real - ours) <= 1e-15 * abs(ours)
    case .string(let text): return shown == text
    case .uri(let url): return shown == url.absoluteString
    case .uuid(let uuid): return shown == uuid.uuidString.replacing("-", with: "")
    case .data(let data):
      return shown == (isApart ? "01" : "")
        + data.map { String($0 >> 4, radix: 16, uppercase: true) + String($0 & 15, radix: 16, uppercase: true) }
        .joined()
    case .objectID(let id): return shown == "\(id.key)"
    case .object: return isApart && shown.hasPrefix("02")
    default: return false
    }
  }

  @Test(arguments: RealStores.all)
  func everyEntityTakesAnInsertionAChangeAndADeletionAndTheFileStaysSound(name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model)
    for entity in store.entities where !entity.isAbstract {
      let key = try store.reserveKeys(for: entity, count: 1)
      let id = ManagedObjectID(store: StoreNumber(store.identifier), entity: entity.symbol, key: key)
      var values = entity.initialValues
      for slot in entity.attributeSlots where entity.properties[slot].attribute?.type == .string {
        if !entity.properties[slot].isTransient { values[slot] = .string("Grüße \(UUID())") }
      }
      var changes = StoreChanges()
      changes.inserted = [Snapshot(id: id, version: 1, values: values)]
      try store.save(changes)
      let saved = try #require(try store.snapshot(of: id))
      let derived = entity.attributeSlots.filter { entity.properties[$0].attribute?.derivationExpression != nil }
      let transient = values.indices.filter { entity.properties[$0].isTransient }
      for slot in values.indices where !derived.contains(slot) && !transient.contains(slot) {
        #expect(saved.values[slot] == values[slot])
      }

      changes = StoreChanges()
      let slots = entity.attributeSlots.filter {
        entity.properties[$0].attribute?.type == .string && !entity.properties[$0].isTransient
      }
      for slot in slots { values[slot] = .string("\(UUID())") }
      changes.updated = [
        .init(snapshot: Snapshot(id: id, version: 2, values: values), changedSlots: slots, expectedVersion: 1)
      ]
      try store.save(changes)
      #expect(try store.snapshot(of: id)?.version == 2)

      changes = StoreChanges()
      changes.deleted = [.init(id: id, expectedVersion: 2)]
      try store.save(changes)
      #expect(try store.snapshot(of: id) == nil)
    }
    #expect(try RawDatabase(url).rows("PRAGMA integrity_check") == ["ok"])
  }

  @Test(arguments: RealStores.all)
  func noByteChangesWhereAStoreIsOnlyRead(name: String) throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy(name, to: folder)
    let before = try folder.contents()
    do {
      let model = try RealStores.model(of: url)
      let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: true))
      for entity in store.entities {
        _ = try store.snapshots(matching: StoreQuery(entity: entity, in: model))
      }
      #expect(throws: GraphError.self) { try store.reserveKeys(for: store.entities[0], count: 1) }
      #expect(try folder.contents() == before)
    }
    #expect(try folder.contents() == before)
  }

  @Test func theBookmarksKeepTheirOrderAndTheirFavourites() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("Bookmarks_V5", to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: true))
    let entity = try #require(model.entity("BookmarkEntity"))
    let rows = try store.snapshots(matching: StoreQuery(entity: entity, in: model))
    let raw = try RawDatabase(url)
    for row in rows {
      let children = try store.destinations(of: row.id, relationship: entity.slot("children")!).map(\.key)
      let sql = "SELECT Z_PK FROM ZBOOKMARKENTITY WHERE ZPARENT = \(row.id.key) ORDER BY Z_FOK_PARENT"
      #expect(try children.map(String.init) == raw.rows(sql))
      let favorites = try store.destinations(of: row.id, relationship: entity.slot("favorites")!).map(\.key)
      let join =
        "SELECT Z_1FAVORITES FROM Z_1FAVORITES WHERE Z_1FAVORITEFOLDERS = \(row.id.key) ORDER BY Z_FOK_1FAVORITES"
      #expect(try favorites.map(String.init) == raw.rows(join))
    }
    #expect(
      rows.contains { (try? store.destinations(of: $0.id, relationship: entity.slot("children")!).count > 1) ?? false })
  }

  @Test func theClashingColumnsOfTheNotesAreToldApart() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("plaso-NoteStore", to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: true))
    let raw = try RawDatabase(url)
    for (name, column) in [("ICAttachment", "ZTITLE"), ("ICNote", "ZTITLE1"), ("ICFolder", "ZTITLE2")] {
      let entity = try #require(model.entity(name))
      let rows = try store.snapshots(matching: StoreQuery(entity: entity, in: model)).sorted { $0.id.key < $1.id.key }
      let titles = rows.map { row in
        if case .string(let title) = row.values[entity.slot("title")!] { title } else { "" }
      }
      let sql =
        "SELECT \(column) FROM ZICCLOUDSYNCINGOBJECT WHERE Z_ENT = "
        + "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(name)') ORDER BY Z_PK"
      #expect(try titles == raw.rows(sql))
    }
  }

  @Test func polymorphicDestinationsHaveTheirOwnEntity() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("CoreDataPlus-SampleModel2_V1", to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model, options: .init(readOnly: true))
    let page = try #require(model.entity("Page"))
    let books = try store.snapshots(matching: StoreQuery(entity: page, in: model)).compactMap { row in
      if case .objectID(let id) = row.values[page.slot("book")!] { id } else { nil }
    }
    let raw = try RawDatabase(url)
    for (name, number) in [("Book", 1), ("GraphicNovel", 2)] {
      let expected = try raw.value("SELECT COUNT(*) FROM ZPAGE WHERE Z1_BOOK = \(number)")
      #expect("\(books.filter { $0.entityName == name }.count)" == expected)
    }
    #expect(try store.snapshots(of: Array(Set(books))).count == Set(books).count)
  }

  @Test func aStoreWithHistoryGetsATransactionAndItsChanges() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("CoreDataPlus-SampleModel2_V1", to: folder)
    let model = try RealStores.model(of: url)
    let store = try SQLiteStore(url: url, model: model, options: .init(transactionAuthor: "tests"))
    let raw = try RawDatabase(url)
    let before = try #require(Int(raw.value("SELECT COUNT(*) FROM ACHANGE")!))
    let entity = try #require(model.entity("Author"))
    let id = ManagedObjectID(
      store: StoreNumber(store.identifier), entity: entity.symbol, key: try store.reserveKeys(for: entity, count: 1))
    var values = entity.initialValues
    values[entity.slot("alias")!] = "somebody"
    var changes = StoreChanges()
    changes.inserted = [Snapshot(id: id, version: 1, values: values)]
    try store.save(changes)
    values[entity.slot("alias")!] = "nobody"
    changes = StoreChanges()
    changes.updated = [
      .init(
        snapshot: Snapshot(id: id, version: 2, values: values), changedSlots: [entity.slot("alias")!],
        expectedVersion: 1)
    ]
    try store.save(changes)
    #expect(try raw.value("SELECT COUNT(*) FROM ACHANGE") == "\(before + 2)")
    let last = try raw.rows("SELECT ZCHANGETYPE, ZENTITYPK, hex(ZCOLUMNS) FROM ACHANGE ORDER BY Z_PK DESC LIMIT 2")
    #expect(last[0] == "1|\(id.key)|40", "its age, of the parent entity, has the first bit, and its alias the second")
    #expect(last[1] == "0|\(id.key)|")
    let author =
      "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS ORDER BY t.Z_PK DESC"
    #expect(try raw.value(author) == "tests")
    #expect(try raw.value("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 16001") == "\(before + 2)")
  }

  /// Notes stores this relationship on one side only: ZCLOUDSYNCINGOBJECT is NULL in all rows.
  @Test func whatARealStoreLinksOnOneSideOnlyCanBeDeletedAndMoved() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("plaso-NoteStore", to: folder)
    let model = try RealStores.model(of: url)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: url, model: model))
    let context = try ManagedObjectContext(coordinator)
    let folders = try context.fetch(FetchRequest("ICFolder"))
    let state = try #require(try folders[0].object(forKey: "cloudState"))
    try folders[1].setObject(state, forKey: "cloudState")
    try context.save()
    let raw = try RawDatabase(url)
    let pointing = "SELECT Z_PK FROM ZICCLOUDSYNCINGOBJECT WHERE ZCLOUDSTATE = \(state.objectID.key)"
    #expect(try raw.rows(pointing) == ["\(folders[1].objectID.key)"])
    for state in try context.fetch(FetchRequest("ICCloudState")) {
      try context.delete(state)
      try context.save()
    }
    #expect(try raw.rows("SELECT COUNT(*) FROM ZICCLOUDSTATE") == ["0"])
    #expect(try raw.rows("SELECT COUNT(ZCLOUDSTATE) FROM ZICCLOUDSYNCINGOBJECT") == ["0"])
  }
}
