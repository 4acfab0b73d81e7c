import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
@testable import MoonbaseSQLiteTools

import enum MoonbaseModel.Predicate
import MoonbaseHistory

/// Composite attributes in a file: each element has a column, and all elements together are one value.
@Suite struct CompositeTests {
  private let store: MigratedStore
  private let model = Addresses.model()
  private let whole: [String: Value] = [
    "street": "Elm", "city": "Rome", "number": 7, "since": .date(Date(timeIntervalSinceReferenceDate: 1.5)),
    "rent": .decimal(Decimal(literal: "12.34") ?? 0), "owned": true,
    "key": .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))),
    "page": URL(string: "https://example.org/a").map(Value.uri) ?? .null, "photo": .data(Data([0, 255])),
    "place": ["latitude": 1.5, "longitude": -2.25, "height": 0.5],
  ]

  init() throws { store = try MigratedStore() }

  private func raw(_ sql: String) throws -> [String] { try RawDatabase(store.url).rows(sql) }
  private func change(_ sql: String) throws { try RawDatabase(store.url).connection.executeScript(sql) }

  private func person(_ name: String, in context: ManagedObjectContext) throws -> ManagedObject {
    try #require(
      try context.fetch(FetchRequest("Person", where: Predicate(format: "name == %@", arguments: [.string(name)])))
        .first)
  }

  private func columns() throws -> String? {
    try raw("SELECT group_concat(name || ' ' || type, ', ') FROM pragma_table_info('ZPERSON')").first
  }

  // MARK: Columns

  @Test func elementsHaveColumnsLikeThoseOfAttributes() throws {
    try store.fill(model) { _ in }
    #expect(
      try columns()
        == "Z_PK INTEGER, Z_ENT INTEGER, Z_OPT INTEGER, ZNUMBER INTEGER, ZOWNED INTEGER, ZBOSS INTEGER, "
        + "ZHEIGHT FLOAT, ZLATITUDE FLOAT, ZLONGITUDE FLOAT, ZSINCE TIMESTAMP, ZRENT DECIMAL, ZCITY VARCHAR, ZNAME VARCHAR, "
        + "ZPAGE VARCHAR, ZSTREET VARCHAR, ZKEY BLOB, ZPHOTO BLOB")
  }

  @Test func elementsWantTheirColumnsBehindAllPropertiesAndInTheOrderOfTheirNames() throws {
    let model = Addresses.model { person in
      let home = AttributeDescription("home", type: .composite).with {
        $0.elements = [AttributeDescription("name", type: .string), AttributeDescription("city", type: .string)]
      }
      let work = AttributeDescription("work", type: .composite).with {
        $0.elements = [AttributeDescription("name", type: .string), AttributeDescription("city", type: .string)]
      }
      person.attributes = [work, home, AttributeDescription("name", type: .string)]
    }
    try store.fill(model) { context in
      _ = try context.insert(
        "Person", values: ["name": "n", "home": ["name": "h", "city": "hc"], "work": ["name": "w", "city": "wc"]])
    }
    #expect(try raw("SELECT ZNAME, ZNAME1, ZNAME2, ZCITY, ZCITY1 FROM ZPERSON") == ["n|h|w|hc|wc"])
    // The order of a model's attributes varies among its forms.
    let other = model.changed { $0[entity: "Person"].attributes.reverse() }
    try store.using(other) { context throws in
      let person = try #require(try context.fetch(FetchRequest("Person")).first)
      #expect(try person.value(forKey: "home") == ["name": "h", "city": "hc"])
      #expect(try person.value(forKey: "work") == ["name": "w", "city": "wc"])
    }
  }

  // MARK: Values

  @Test func aCompositeIsWrittenAndReadBack() throws {
    try store.fill(model) { context in
      _ = try context.insert("Person", values: ["name": "a", "address": .map(whole)])
      _ = try context.insert("Person", values: ["name": "b", "address": ["place": ["latitude": 3]]])
      _ = try context.insert("Person", values: ["name": "c"])
    }
    #expect(try raw("SELECT ZCITY, ZNUMBER, ZLATITUDE FROM ZPERSON ORDER BY ZNAME") == ["Rome|7|1.5", "||3.0", "||"])
    try store.using(model) { context throws in
      #expect(try person("a", in: context).value(forKey: "address") == .map(whole))
      #expect(try person("b", in: context).value(forKey: "address") == ["place": ["latitude": 3.0]])
      #expect(try person("c", in: context).value(forKey: "address") == .null)
      #expect(try person("a", in: context).value(forKeyPath: "address.place.latitude") == 1.5)
    }
  }

  @Test(arguments: StoreKind.withFolder)
  func aValueWithoutAnyElementIsNoValue(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind, model)
    let context = bench.context()
    for (name, value) in [("a", [:]), ("b", ["city": .null]), ("c", ["place": [:]])] as [(String, Value)] {
      let person = try context.insert("Person", values: ["name": .string(name), "address": value])
      #expect(try person.value(forKey: "address") == .null)
    }
    let half = try context.insert("Person", values: ["name": "d", "address": ["city": "Rome", "street": .null]])
    #expect(try half.value(forKey: "address") == ["city": "Rome"])
    try context.save()
    let fresh = bench.stranger()
    #expect(try fresh.fetch(FetchRequest("Person", where: Predicate(format: "address != NULL"))).count == 1)
    #expect(try fresh.fetch(FetchRequest("Person", where: Predicate(format: "address == NULL"))).count == 3)
  }

  @Test func aChangeWritesAllElementsAndNothingElse() throws {
    try store.fill(model, tracksHistory: true) { context in
      _ = try context.insert("Person", values: ["name": "a", "address": .map(whole)])
    }
    try store.using(model) { context throws in
      try person("a", in: context).setValue(["city": "Oslo"], forKey: "address")
      try context.save()
      #expect(try person("a", in: context).value(forKey: "address") == ["city": "Oslo"])
    }
    #expect(try raw("SELECT ZNAME, ZCITY, ZSTREET, ZNUMBER, ZLATITUDE, Z_OPT FROM ZPERSON") == ["a|Oslo||||2"])
    try store.using(model) { context throws in
      let change = try #require(
        try context.execute(.fetchHistory(after: nil)).transactions?.last?.changes?.first)
      #expect(change.updatedProperties == ["address"])
      try person("a", in: context).setValue(.null, forKey: "address")
      try context.save()
    }
    #expect(try raw("SELECT ZNAME, ZCITY FROM ZPERSON") == ["a|"])
  }

  @Test func aDamagedElementIsTheErrorOfTheWholeValueAlone() throws {
    try store.fill(model) { context in
      for name in ["a", "b"] {
        _ = try context.insert("Person", values: ["name": .string(name), "address": .map(whole)])
      }
    }
    try change("UPDATE ZPERSON SET ZLATITUDE = 'x' WHERE ZNAME = 'a'")
    try store.using(model) { context throws in
      let damaged = try person("a", in: context)
      let error = try #require(throws: GraphError.self) { try damaged.value(forKey: "address") }
      #expect(error.code == .invalidStore && error.property == "address")
      #expect(
        error.message.contains("Person.address.place.latitude holds the text \"x\", which is no number"), "\(error)")
      #expect(try person("b", in: context).value(forKey: "address") == .map(whole))
      try damaged.setValue("c", forKey: "name")
      try context.save()
    }
    #expect(
      try raw("SELECT ZNAME, ZLATITUDE, ZCITY FROM ZPERSON WHERE Z_PK IN (SELECT Z_PK FROM ZPERSON WHERE ZNAME = 'c')")
        == ["c|x|Rome"])
    try store.using(model) { context throws in
      try person("c", in: context).setValue(["city": "Oslo"], forKey: "address")
      try context.save()
    }
    #expect(try raw("SELECT ZLATITUDE, ZCITY FROM ZPERSON WHERE ZNAME = 'c'") == ["|Oslo"])
  }

  @Test func theDoctorNamesTheElementThatIsDamaged() throws {
    let ruled = Addresses.model { $0.attributes[1].elements[2].validation.maximum = 5 }
    try store.fill(model) { context in
      _ = try context.insert("Person", values: ["name": "a", "address": .map(whole)])
      _ = try context.insert("Person", values: ["name": "b", "address": .map(whole)])
    }
    try change("UPDATE ZPERSON SET ZOWNED = 2 WHERE ZNAME = 'a'")
    var found: [String] = []
    try StoreCheck(storeAt: store.url, model: ruled.resolved()) {
      found.append("\($0.kind) \($0.place): \($0.message)")
    }.run()
    #expect(found.count == 2, "\(found)")
    #expect(
      found.contains { $0.hasPrefix("value Person/") && $0.contains("address.owned holds 2, which is no boolean") })
    #expect(
      found.contains { $0.hasPrefix("rule Person/") && $0.hasSuffix("address number must be at most 5") }, "\(found)")
  }

  // MARK: Files from elsewhere

  /// The store as another program would have made it: nothing in the file tells the columns of the elements.
  private func foreign(_ changes: String) throws {
    try store.fill(model) { context in
      _ = try context.insert("Person", values: ["name": "a", "address": ["city": "Rome", "place": ["latitude": 1.5]]])
    }
    let metadata = try RawDatabase(store.url)
    var entries = try StoreMetadata(metadata.connection, path: "")
    entries.elementColumns = [:]
    try entries.write(metadata.connection)
    try change(changes)
  }

  @Test(arguments: [
    "", "ALTER TABLE ZPERSON RENAME COLUMN ZCITY TO ZADDRESS_CITY",
    "ALTER TABLE ZPERSON RENAME COLUMN ZCITY TO ZADDRESSCITY",
    "ALTER TABLE ZPERSON RENAME COLUMN ZLATITUDE TO ZADDRESS_PLACE_LATITUDE",
    "ALTER TABLE ZPERSON RENAME COLUMN ZLATITUDE TO ZPLACE_LATITUDE",
  ])
  func aFileFromElsewhereWhoseColumnsLeaveNoDoubtIsWritten(_ changes: String) throws {
    try foreign(changes)
    try store.using(model) { context throws in
      let found = try person("a", in: context)
      #expect(try found.value(forKey: "address") == ["city": "Rome", "place": ["latitude": 1.5]])
      try found.setValue(["city": "Oslo", "place": ["latitude": 2]], forKey: "address")
      try context.save()
    }
    try store.using(model) { context throws in
      #expect(try person("a", in: context).value(forKeyPath: "address.city") == "Oslo")
    }
  }

  @Test(arguments: [
    ("ALTER TABLE ZPERSON DROP COLUMN ZCITY", "city has no column"),
    ("ALTER TABLE ZPERSON ADD COLUMN ZADDRESS_CITY VARCHAR", "city has 2 that may be its: ZADDRESS_CITY, ZCITY"),
  ])
  func aFileWhoseColumnsLeaveADoubtIsReadOnlyAndTheValueIsTheError(_ changes: String, _ reason: String) throws {
    try foreign(changes)
    let resolved = try model.resolved()
    let opened = try SQLiteStore(url: store.url, model: resolved)
    #expect(opened.isReadOnly && opened.missingFeatures.map(\.property) == ["address"])
    #expect(opened.missingFeatures.first?.reason.contains("(\(reason))") == true, "\(opened.missingFeatures)")
    try store.using(model) { context throws in
      let found = try person("a", in: context)
      let error = try #require(throws: GraphError.self) { try found.value(forKey: "address") }
      #expect(error.code == .invalidStore && error.property == "address")
    }
  }

  @Test func twoElementsThatMayBothLieInAColumnAreInDoubt() throws {
    let twice = Addresses.model { person in
      person.attributes[1].elements = [AttributeDescription("city", type: .string)]
      person.attributes.append(
        AttributeDescription("work", type: .composite).with {
          $0.elements = [AttributeDescription("city", type: .string)]
        })
    }
    try store.fill(twice) { _ in }
    let file = try RawDatabase(store.url)
    var entries = try StoreMetadata(file.connection, path: "")
    #expect(entries.elementColumns == ["Person.address.city": "ZCITY", "Person.work.city": "ZCITY1"])
    entries.elementColumns = [:]
    try entries.write(file.connection)
    let opened = try SQLiteStore(url: store.url, model: twice.resolved())
    #expect(opened.missingFeatures.map(\.property) == ["address", "work"])
  }

  @Test(arguments: [
    (AttributeDescription("x", type: .transformable), "its element x, which is transformable"),
    (
      AttributeDescription("x", type: .binaryData).with { $0.allowsExternalBinaryDataStorage = true },
      "its element x, which allows external storage"
    ),
    (AttributeDescription("x", type: .composite), "its element x, which is a composite without elements"),
  ])
  func anElementThatNoColumnHoldsIsNamedAndNoFileIsMade(_ element: AttributeDescription, _ reason: String) throws {
    let model = Addresses.model { $0.attributes[1].elements = [AttributeDescription("city", type: .string), element] }
    let error = try #require(throws: GraphError.self) { try store.fill(model) { _ in } }
    #expect(error.property == "address" && error.message.contains(reason), "\(error)")
    #expect(try model.resolved().warnings.contains { $0.hasPrefix("Person.address has the element x, which ") })
  }
}
