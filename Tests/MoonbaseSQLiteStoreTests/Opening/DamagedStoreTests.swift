import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Damaged numbers in a store.
@Suite struct DamagedStoreTests {
  private static func damage(_ people: PeopleStore, _ sql: String) throws {
    try RawDatabase(people.folder.file()).connection.executeScript(sql)
  }

  @Test(arguments: ["-9e999", "9223372036854775807", "-10", "'text'", "x'00ff'", "1.5"])
  func aGreatestKeyThatNoKeyCanFollowIsRefusedAndLeftAlone(_ value: String) throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    try Self.damage(people, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(value)")
    let before = try RawDatabase(people.folder.file()).rows("SELECT quote(Z_MAX) FROM Z_PRIMARYKEY")
    let error = #expect(throws: GraphError.self) {
      try people.store.reserveKeys(for: people.entity("Person"), count: 3)
    }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("Z_MAX") == true)
    #expect(try RawDatabase(people.folder.file()).rows("SELECT quote(Z_MAX) FROM Z_PRIMARYKEY") == before)
  }

  @Test func theLastKeysThereAreCanBeGivenOut() throws {
    let people = try PeopleStore()
    try Self.damage(people, "UPDATE Z_PRIMARYKEY SET Z_MAX = \(Int64.max - 2)")
    #expect(try people.store.reserveKeys(for: people.entity("Person"), count: 2) == Int64.max - 1)
    #expect(throws: GraphError.self) { try people.store.reserveKeys(for: people.entity("Person"), count: 1) }
  }

  @Test(arguments: [-1, 0, 400_000_000, Int64.max, Int64.min])
  func anEntityNumberThatNoEntityHasIsRefused(_ number: Int64) throws {
    let people = try PeopleStore()
    try Self.damage(people, "UPDATE Z_PRIMARYKEY SET Z_ENT = \(number) WHERE Z_NAME = 'Person'")
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: people.folder.file(), model: people.model)
    }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("Person") == true)
    #expect(error?.message.contains("\(number)") == true)
  }

  @Test func twoEntitiesOfOneNumberAreRefused() throws {
    let people = try PeopleStore()
    // The name is stale, so the entity gets the number of its position, which belongs to another entity.
    try Self.damage(
      people,
      "UPDATE Z_PRIMARYKEY SET Z_NAME = 'Old' WHERE Z_NAME = 'Department'; "
        + "DELETE FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'; UPDATE Z_PRIMARYKEY SET Z_NAME = 'Person' WHERE Z_NAME = 'Old'"
    )
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: people.folder.file(), model: people.model)
    }
    #expect(error?.code == .invalidStore)
  }

  /// The error thrown by reading a value of a row.
  private static func damage(of row: Snapshot?, _ slot: Slot?) throws -> GraphError {
    let value = try #require(row).values[try #require(slot)]
    return try #require(value.object?.damage as? GraphError, "\(value)")
  }

  @Test(arguments: ["Department", "Person"])
  func aRowOfAnUnknownEntityIsNamedAndNotReadAsAnotherOne(_ entity: String) throws {
    let people = try PeopleStore()
    let ids = try people.insert(people.row(entity), people.row(entity))
    try Self.damage(people, "UPDATE Z\(entity.uppercased()) SET Z_ENT = 77 WHERE Z_PK = \(ids[0].key)")
    let rows = try people.store.snapshots(matching: people.query(entity))
    #expect(rows.map(\.id.key) == ids.map(\.key))
    #expect(try people.store.objectIDs(matching: people.query(entity)).map(\.self) == rows.map(\.id))
    #expect(try people.store.count(matching: people.query(entity)) == 2)
    let byKey = try people.store.snapshot(of: rows[0].id)
    for row in [rows[0], try #require(byKey)] {
      let slots = people.entity(entity).attributeSlots + people.entity(entity).toOneSlots
      for slot in slots where !people.entity(entity).properties[slot].isTransient {
        let error = try Self.damage(of: row, slot)
        #expect(error.code == .invalidStore && error.objectID == row.id)
        #expect(error.message.contains("Z\(entity.uppercased()), row \(ids[0].key)"))
        #expect(error.message.contains("its entity number (Z_ENT) is 77, which is none of \(entity)"), "\(error)")
      }
      #expect(row.damagedValues.count == 1)
    }
    #expect(rows[1].damagedValues.isEmpty)
  }

  @Test(arguments: ["Department", "Person"], ["NULL", "'2x'", "3.5", "x'32'", "-1"])
  func anEntityNumberThatIsNoneIsNamed(_ entity: String, _ sql: String) throws {
    let people = try PeopleStore()
    let ids = try people.insert(people.row(entity), people.row(entity))
    try Self.damage(people, "UPDATE Z\(entity.uppercased()) SET Z_ENT = \(sql) WHERE Z_PK > \(ids[0].key)")
    let rows = try people.store.snapshots(matching: people.query(entity))
    #expect(rows[0].damagedValues.isEmpty)
    let error = try Self.damage(of: rows[1], people.entity(entity).attributeSlots.first)
    let found = sql == "NULL" ? "NULL" : sql == "x'32'" ? "2" : sql.filter { $0 != "'" }
    #expect(
      error.message.contains(
        "row \(ids[1].key): its entity number (Z_ENT) is \(found), which is none of \(entity)"), "\(error)")
  }

  /// The destination's entity has subentities, so its number is stored beside its key. The destination's row has the
  /// true number; a missing row makes the key dangling in either case.
  @Test(arguments: ["'2x'", "1.5", "77", "NULL"])
  func theEntityNumberOfADestinationThatIsNoneIsNotNeeded(_ sql: String) throws {
    var person = EntityDescription("P")
    person.relationships = [
      .toOne("boss", destination: "P", inverse: "staff"), .toMany("staff", destination: "P", inverse: "boss"),
    ]
    var special = EntityDescription("S")
    special.superentityName = "P"
    let people = try PeopleStore(ManagedObjectModel(entities: [person, special]))
    let boss = try people.row("S")
    let row = try people.row("P", ["boss": .objectID(boss.id)])
    try people.save { $0.inserted = [boss, row] }
    #expect(try people.value(row.id, "boss") == .objectID(boss.id))
    try Self.damage(people, "UPDATE ZP SET Z1_BOSS = \(sql) WHERE ZBOSS > 0")
    #expect(try people.value(row.id, "boss") == .objectID(boss.id))
    try Self.damage(people, "DELETE FROM ZP WHERE Z_PK = \(boss.id.key)")
    let lost = try #require(try people.value(row.id, "boss")?.objectID)
    #expect(lost.key == boss.id.key && lost.entityName == "P")
    #expect(try people.store.snapshot(of: lost) == nil && people.store.snapshot(of: boss.id) == nil)
  }

  @Test(arguments: ["NULL", "'abc'", "1.5"])
  func aKeyThatIsNoIntegerIsRefusedWhereATableHasNoPrimaryKey(_ sql: String) throws {
    for entity in ["Department", "Person"] {
      let people = try PeopleStore()
      try people.insert(people.row(entity))
      let table = "Z\(entity.uppercased())"
      try Self.damage(
        people,
        "CREATE TABLE n AS SELECT * FROM \(table); DROP TABLE \(table); ALTER TABLE n RENAME TO \(table); "
          + "UPDATE \(table) SET Z_PK = \(sql)")
      let store = try SQLiteStore(url: people.folder.file(), model: people.model)
      for read in [
        { _ = try store.snapshots(matching: people.query(entity)) },
        { _ = try store.objectIDs(matching: people.query(entity)) },
      ] {
        let error = #expect(throws: GraphError.self, performing: read)
        #expect(error?.code == .invalidStore && error?.entity == entity)
        #expect(
          error?.message.contains("table \(table) of \(entity) has a row whose key (Z_PK) is ") == true,
          "\(error as Any)")
      }
    }
  }

  @Test(arguments: [
    ("ZPERSON", "Z_PK"), ("ZPERSON", "Z_ENT"), ("ZDEPARTMENT", "Z_OPT"), ("Z_PRIMARYKEY", "Z_MAX"),
    ("Z_PRIMARYKEY", "Z_ENT"), ("Z_PRIMARYKEY", "Z_NAME"), ("Z_METADATA", "Z_PLIST"), ("Z_METADATA", "Z_UUID"),
  ])
  func aColumnOfTheFormatThatIsNotThereIsNamedWhenTheStoreOpens(_ table: String, _ column: String) throws {
    let people = try PeopleStore()
    try Self.damage(people, "ALTER TABLE \(table) RENAME COLUMN \(column) TO other")
    for readOnly in [false, true] {
      let error = #expect(throws: GraphError.self) {
        try SQLiteStore(url: people.folder.file(), model: people.model, options: .init(readOnly: readOnly))
      }
      #expect(error?.code == .invalidStore)
      #expect(
        error?.message.contains("store.sqlite is damaged: table \(table) has no column \(column)") == true,
        "\(error as Any)")
    }
  }

  @Test func aStoreWithoutTheTableOfKeysIsRefused() throws {
    let people = try PeopleStore()
    try Self.damage(people, "DROP TABLE Z_PRIMARYKEY")
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: people.folder.file(), model: people.model) }
    #expect(error?.code == .invalidStore && error?.message.contains("has no table Z_PRIMARYKEY") == true)
  }

  @Test func aVersionThatNoneCanFollowIsRefusedWhenTheObjectIsSaved() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    try Self.damage(people, "UPDATE ZPERSON SET Z_OPT = \(Int64.max)")
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(people.store)
    let context = try ManagedObjectContext(coordinator)
    let person = try #require(try context.fetch(FetchRequest("Person")).first)
    try person.setValue(.int(7), forKey: "age")
    let error = #expect(throws: GraphError.self) { try context.save() }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("Z_OPT") == true)
  }

  @Test(arguments: [
    ("'abc'", "the text \"abc\""), ("x'414243'", "3 bytes"), ("1.5", "1.5"),
  ])
  func aVersionThatIsNoNumberIsNamedWhenTheObjectIsSavedOrDeleted(_ sql: String, _ found: String) throws {
    for deletes in [false, true] {
      let people = try PeopleStore()
      let id = try people.insert(people.row("Person"))[0]
      try Self.damage(people, "UPDATE ZPERSON SET Z_OPT = \(sql)")
      let coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      let context = try ManagedObjectContext(coordinator)
      let person = try #require(try context.fetch(FetchRequest("Person")).first)
      if deletes { try context.delete(person) } else { try person.setValue(.int(7), forKey: "age") }
      let error = #expect(throws: GraphError.self) { try context.save() }
      #expect(error?.code == .invalidStore && error?.objectID == id)
      #expect(
        error?.message.hasSuffix(
          "is damaged: table ZPERSON, row \(id.key): Z_OPT holds \(found), which is no version number; set it to 1")
          == true, "\(error as Any)")
    }
  }

  private static let foreign = [
    ("small", "'abc'"), ("small", "'12abc'"), ("small", "x'31'"), ("small", "1.5"), ("small", "32768"),
    ("small", "-32769"), ("medium", "2147483648"), ("medium", "'x'"), ("large", "'x'"), ("large", "9.3e18"),
    ("amount", "'12abc'"), ("amount", "'abc'"), ("ratio", "'abc'"), ("ratio", "x'00'"), ("text", "x'4142'"),
    ("flag", "'yes'"), ("flag", "x'01'"), ("moment", "'2024-01-01'"), ("moment", "x'01'"), ("bytes", "7"),
    ("token", "'no uuid'"), ("token", "x'0102'"), ("token", "5"), ("link", "x'4142'"), ("shape", "1.5"),
    ("amount", "'2001-01-01'"), ("amount", "'1.2.3'"), ("amount", "'5-3'"), ("amount", "'12+'"), ("amount", "'--'"),
    ("amount", "'e5'"), ("amount", "'1e'"), ("amount", "''"), ("amount", "x'352d33'"), ("amount", "9e999"),
    ("text", "CAST(x'4a6fff' AS TEXT)"), ("text", "CAST(x'c080' AS TEXT)"), ("text", "CAST(x'eda080' AS TEXT)"),
    ("text", "CAST(x'61f09f98' AS TEXT)"), ("link", "CAST(x'613aff' AS TEXT)"),
    ("flag", "2"), ("flag", "-1"), ("flag", "0.5"), ("bytes", "'AB'"), ("link", "''"), ("link", "'a:b c'"),
    ("token", "'00000000-0000-0000-0000-00000000000A'"), ("token", "'sixteen letters!'"),
  ]

  @Test(arguments: foreign)
  func whatAColumnHoldsAndItsAttributeCannotBeIsNamedWithEntityAttributeAndRow(_ name: String, _ sql: String) throws {
    var model = SavingTests.everyType()
    model.entities[0].attributes.append(AttributeDescription("medium", type: .integer32))
    let people = try PeopleStore(model)
    let ids = try people.insert(people.row("Thing"), people.row("Thing"))
    // A column of BLOB affinity stores values unconverted, and so does a column that another program created.
    try Self.damage(people, "UPDATE ZTHING SET Z\(name.uppercased()) = \(sql) WHERE Z_PK = \(ids[1].key)")
    let rows = try people.store.snapshots(matching: people.query("Thing"))
    #expect(rows.map(\.id) == ids)
    for row in [rows[1], try #require(try people.store.snapshot(of: ids[1]))] {
      let error = try Self.damage(of: row, people.entity("Thing").slot(name))
      #expect(error.code == .invalidStore && error.entity == "Thing" && error.property == name)
      #expect(error.objectID == ids[1])
      #expect(error.message.contains("ZTHING, row \(ids[1].key): Thing.\(name) holds "))
      #expect(row.damagedValues.map(\.message) == [error.message])
      #expect(row.values == rows[1].values)
    }
    #expect(rows[0].damagedValues.isEmpty)
    #expect(rows.flatMap { $0.damagedValues.map(\.property) } == [name])
  }

  @Test(arguments: [
    ("amount", "'abc'", "holds the text \"abc\", which is no decimal; put it right, or set it to NULL"),
    ("token", "x'0102'", "holds 2 bytes, which is no UUID (16 bytes); put it right, or set it to NULL"),
    (
      "text", "CAST(x'4a6fff' AS TEXT)",
      "holds text whose bytes (4a 6f ff) are not UTF-8, which is no text; put it right"
    ),
    ("flag", "2", "holds 2, which is no boolean (0 or 1); put it right, or set it to NULL"),
    ("token", "5", "holds 5, which is no UUID (16 bytes); put it right, or set it to NULL"),
    ("amount", "CAST('\(String(repeating: "9", count: 39))' AS BLOB)", "holds 39 bytes, which is no decimal"),
    ("amount", "CAST('.' AS BLOB)", "holds 1 bytes, which is no decimal"),
    ("amount", "'1.0.0e5'", "which is no decimal"),
    ("amount", "'\(String(repeating: "7", count: 1001))x'", "\"\(String(repeating: "7", count: 60))\", which is no"),
    ("token", "'\(String(repeating: "7", count: 1001))'", "\"\(String(repeating: "7", count: 60))\", which is no"),
    ("amount", "CAST('\(String(repeating: "7", count: 1001))' AS BLOB)", "holds 1001 bytes, which is no"),
  ])
  func theMessageOfAForeignValueShowsItsBeginningAndSaysWhatToDo(_ name: String, _ sql: String, _ end: String) throws {
    let people = try PeopleStore(SavingTests.everyType())
    let id = try people.insert(people.row("Thing"))[0]
    try Self.damage(people, "UPDATE ZTHING SET Z\(name.uppercased()) = \(sql)")
    let error = try Self.damage(of: people.store.snapshot(of: id), people.entity("Thing").slot(name))
    #expect(error.message.contains("table ZTHING, row \(id.key): Thing.\(name) holds "))
    #expect(error.message.contains(end), "\(error)")
  }

  @Test func aNumeralOfAsManyBytesAsAreLookedAtIsADecimal() throws {
    let people = try PeopleStore(SavingTests.everyType())
    let id = try people.insert(people.row("Thing"))[0]
    try Self.damage(people, "UPDATE ZTHING SET ZAMOUNT = CAST('\(String(repeating: "0", count: 999))7' AS BLOB)")
    #expect(try people.value(id, "amount") == .decimal(7))
  }

  @Test(arguments: [
    ("large", "'12'", Value.int(12)), ("ratio", "'2.5'", .double(2.5)), ("text", "17", .string("17")),
    ("moment", "12", .date(Date(timeIntervalSinceReferenceDate: 12))), ("flag", "1.0", .bool(true)),
    ("amount", "x'31322e35'", .decimal(Decimal(string: "12.5")!)), ("amount", "'+5'", .decimal(5)),
    ("amount", "x'312e35653130'", .decimal(15_000_000_000)), ("amount", "1e-128", .decimal(Decimal(string: "1e-128")!)),
    ("text", "CAST(x'61006200' AS TEXT)", .string("a\0b\0")), ("text", "'Grüße 🌙'", .string("Grüße 🌙")),
  ])
  func aValueOfAnotherStorageClassIsTakenWhereNothingOfItIsLost(_ name: String, _ sql: String, _ value: Value) throws {
    let people = try PeopleStore(SavingTests.everyType())
    let id = try people.insert(people.row("Thing"))[0]
    try Self.damage(people, "UPDATE ZTHING SET Z\(name.uppercased()) = \(sql)")
    #expect(try people.value(id, name) == value)
  }

  /// A predicate finds the same objects in SQL as in memory.
  @Test(arguments: ["'2001-01-01'", "'5-3'", "'1e'", "'1.0.0e5'", "x'352d33'"])
  func aDecimalThatIsNoneIsNoNumberInSQLEither(_ sql: String) throws {
    let people = try PeopleStore(SavingTests.everyType())
    try people.insert(people.row("Thing"))
    try Self.damage(people, "UPDATE ZTHING SET ZAMOUNT = \(sql)")
    for predicate in ["amount = 2001", "amount = 5", "amount = 1", "amount = 100000", "amount < 9000"] {
      #expect(try people.store.count(matching: people.query("Thing", Predicate(format: predicate))) == 0)
    }
  }

  @Test func aKeyThatIsNoneIsNamedLikeAValue() throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person"))[0]
    try Self.damage(people, "UPDATE ZPERSON SET ZDEPARTMENT = 'x'")
    let error = try Self.damage(of: people.store.snapshot(of: id), people.entity("Person").slot("department"))
    #expect(error.property == "department" && error.objectID == id)
  }

  @Test(
    arguments: [
      "UPDATE Z_METADATA SET Z_PLIST = zeroblob(70000000)", "UPDATE Z_METADATA SET Z_UUID = hex(zeroblob(35000000))",
      "UPDATE Z_PRIMARYKEY SET Z_NAME = hex(zeroblob(35000000))",
    ])
  func whatAStoreSaysOfItselfIsReadUpToABound(_ sql: String) throws {
    let people = try PeopleStore()
    try Self.damage(people, sql)
    let error = #expect(throws: GraphError.self) { try SQLiteStore(url: people.folder.file(), model: people.model) }
    #expect(error?.code == .invalidStore)
    #expect(
      error?.message.hasSuffix("is damaged: what it says of itself has more than 64 MiB") == true, "\(error as Any)")
  }

  @Test(arguments: [
    ("''", "empty"), ("'abc'", "abc"), ("NULL", "empty"), ("'00000000-0000-0000-0000-00000000000g'", "g,"),
  ])
  func aStoreWhoseUUIDIsNoneIsRefusedWithIt(value: String, shown: String) throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let folder = try TemporaryFolder()
    try RawDatabase(people.folder.file()).connection.executeScript("VACUUM INTO '\(folder.file().path)'")
    try RawDatabase(folder.file()).connection.execute("UPDATE Z_METADATA SET Z_UUID = \(value)")
    let before = try folder.contents()
    for readOnly in [false, true] {
      let error = #expect(throws: GraphError.self) {
        try SQLiteStore(url: folder.file(), model: people.model, options: .init(readOnly: readOnly))
      }
      #expect(error?.code == .invalidStore)
      let message = error?.message ?? ""
      #expect(message.hasPrefix("\(folder.file().path) is damaged: Z_UUID of its Z_METADATA is "), "\(message)")
      #expect(message.contains(shown) && message.contains("which is no UUID"), "\(message)")
    }
    #expect(try folder.contents() == before)
  }
}
