import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

@Suite struct SavingTests {
  static func everyType() -> ManagedObjectModel {
    var thing = EntityDescription("Thing")
    thing.attributes = [
      AttributeDescription("small", type: .integer16), AttributeDescription("large", type: .integer64),
      AttributeDescription("amount", type: .decimal), AttributeDescription("ratio", type: .double),
      AttributeDescription("text", type: .string), AttributeDescription("flag", type: .boolean),
      AttributeDescription("moment", type: .date), AttributeDescription("bytes", type: .binaryData),
      AttributeDescription("token", type: .uuid), AttributeDescription("link", type: .uri),
      AttributeDescription("shape", type: .transformable),
    ]
    return ManagedObjectModel(entities: [thing])
  }

  @Test func everyTypeOfAttributeComesBackAsItWas() throws {
    let people = try PeopleStore(Self.everyType())
    let values: [String: Value] = [
      "small": -32_768, "large": .int(.max), "amount": .decimal(Decimal(string: "10.11")!), "ratio": 0.1,
      "text": "Zoë 🌙\u{0}end", "flag": true, "moment": .date(Date(timeIntervalSinceReferenceDate: 1.5)),
      "bytes": .data(Data([0, 1, 255])), "token": .uuid(UUID()), "link": .uri(URL(string: "https://example.org/a?b")!),
      "shape": .data(Data(repeating: 7, count: 32)),
    ]
    let id = try people.insert(people.row("Thing", values))[0]
    for (name, value) in values { #expect(try people.value(id, name) == value, "\(name)") }
    let empty = try people.insert(people.row("Thing"))[0]
    for name in values.keys { #expect(try people.value(empty, name) == .null) }
  }

  @Test func whatIsEmptyOrZeroIsNotNull() throws {
    let people = try PeopleStore(Self.everyType())
    let values: [String: Value] = [
      "small": 0, "large": 0, "amount": .decimal(0), "ratio": 0.0, "text": "", "flag": false,
      "moment": .date(Date(timeIntervalSinceReferenceDate: 0)), "bytes": .data(Data()), "shape": .data(Data()),
    ]
    let id = try people.insert(people.row("Thing", values))[0]
    for (name, value) in values { #expect(try people.value(id, name) == value, "\(name)") }
  }

  @Test func anUpdateRaisesTheVersionAndChangesItsSlotsOnly() throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person", ["firstName": "Ada", "age": 36]))[0]
    let change = try people.update(id, ["age": 37])
    let log = try people.statements { try people.save { $0.updated = [change] } }
    #expect(
      log == [
        "BEGIN IMMEDIATE", "PRAGMA schema_version",
        "UPDATE OR ABORT ZPERSON SET ZAGE = ?, Z_OPT = ? WHERE Z_PK = ? AND COALESCE(Z_OPT, 0) = ?", "COMMIT",
      ])
    #expect(try people.store.snapshot(of: id)?.version == 2)
    #expect(try people.value(id, "age") == 37)
    #expect(try people.value(id, "firstName") == "Ada")
  }

  @Test func aRowThatAnotherStoreChangedOrDeletedIsAConflictAndNothingIsWritten() throws {
    let people = try PeopleStore()
    let ids = try people.insert(people.row("Person"), people.row("Person"), people.row("Person"))
    let stale = try ids.map { try people.update($0, ["age": 1]) }
    try people.save { $0.updated = [try people.update(ids[0], ["age": 2])] }
    try people.save { $0.deleted = [.init(id: ids[1], expectedVersion: 1)] }
    let new = try people.row("Person", ["firstName": "New"])
    let error = #expect(throws: GraphError.self) {
      try people.save {
        $0.inserted = [new]
        $0.updated = StoreChanges.Updates(stale)
      }
    }
    #expect(error?.code == .mergeConflict)
    #expect(error?.details.compactMap(\.objectID) == [ids[0], ids[1]])
    #expect(try people.value(ids[2], "age") == 0)
    #expect(try people.store.snapshot(of: new.id) == nil)
    try people.save {
      $0.updated = [.init(snapshot: stale[0].snapshot, changedSlots: stale[0].changedSlots, expectedVersion: nil)]
    }
    #expect(try people.store.snapshot(of: ids[0])?.version == 3)
  }

  @Test func aTakenUniqueValueIsNamedAndNothingIsWritten() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person", ["email": "a@b"]))
    let error = #expect(throws: GraphError.self) {
      try people.insert(people.row("Person", ["email": "c@d"]), people.row("Employee", ["email": "a@b"]))
    }
    #expect(error?.code == .constraintConflict)
    #expect(error?.property == "email")
    #expect(error?.entity == "Employee")
    #expect(try people.store.count(matching: people.query("Person")) == 1)
  }

  @Test func aUniqueValueThatAnUpdateWouldTakeIsNamedToo() throws {
    let people = try PeopleStore()
    let ids = try people.insert(people.row("Person", ["email": "a@b"]), people.row("Employee", ["email": "c@d"]))
    let error = #expect(throws: GraphError.self) {
      try people.save { $0.updated = [try people.update(ids[1], ["email": "a@b"])] }
    }
    #expect(error?.code == .constraintConflict)
    #expect(error?.property == "email")
    #expect(error?.objectID == ids[1])
    #expect(try people.value(ids[1], "email") == "c@d")
  }

  @Test func whatATriggerOfTheFileRefusesIsToldInItsWords() throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person"))[0]
    let raw = try RawDatabase(people.folder.file())
    for event in ["INSERT", "UPDATE"] {
      try raw.connection.execute(
        "CREATE TRIGGER no\(event) BEFORE \(event) ON ZPERSON BEGIN SELECT RAISE(ABORT, 'no \(event)'); END")
    }
    let inserted = #expect(throws: GraphError.self) { try people.insert(people.row("Employee")) }
    let updated = #expect(throws: GraphError.self) {
      try people.save { $0.updated = [try people.update(id, ["age": 3])] }
    }
    for (error, words) in [(inserted, "no INSERT"), (updated, "no UPDATE")] {
      #expect(error?.code == .constraintConflict)
      #expect(error?.message.hasSuffix(words) == true)
      #expect(error?.message.contains("primary key") == false)
    }
    #expect(updated?.objectID == id)
  }

  @Test(arguments: ["email", "lastName"]) func uniqueValuesCanChangePlacesWithinOneSave(attribute: String) throws {
    let people = try PeopleStore()
    // The model has the first index, only the file has the second.
    try RawDatabase(people.folder.file()).connection.execute("CREATE UNIQUE INDEX extra ON ZPERSON (ZLASTNAME)")
    let ids = try people.insert(
      people.row("Person", [attribute: "a"]), people.row("Person", [attribute: "b"]),
      people.row("Person", [attribute: "c"]))
    try people.save {
      $0.updated = [
        try people.update(ids[0], [attribute: "b"]), try people.update(ids[1], [attribute: "c"]),
        try people.update(ids[2], [attribute: "a"]),
      ]
    }
    #expect(try ids.map { try people.value($0, attribute) } == ["b", "c", "a"])
    let heir = try people.row("Person", [attribute: "b"])
    try people.save {
      $0.deleted = [.init(id: ids[0], expectedVersion: 2)]
      $0.inserted = [heir]
    }
    #expect(try people.value(heir.id, attribute) == "b")
  }

  @Test func aTakenPrimaryKeyIsAConflictAndKeysAreNeverGivenAgain() throws {
    let people = try PeopleStore()
    let row = try people.row("Person")
    try people.insert(row)
    let error = #expect(throws: GraphError.self) { try people.insert(row) }
    #expect(error?.code == .mergeConflict)
    try people.save { $0.deleted = [.init(id: row.id, expectedVersion: 1)] }
    #expect(try people.store.reserveKeys(for: people.entity("Employee"), count: 5) == row.id.key + 1)
    #expect(try people.store.reserveKeys(for: people.entity("Person"), count: 1) == row.id.key + 6)
    let raw = try RawDatabase(people.folder.file())
    #expect(try raw.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (2, 3)") == ["\(row.id.key + 6)", "0"])
  }

  @Test func largeValuesWithExternalStorageLieInFilesWhichGoWithTheirRows() throws {
    var model = Self.everyType()
    model.entities[0].attributes[7].allowsExternalBinaryDataStorage = true
    let people = try PeopleStore(model)
    let files = {
      try? FileManager.default.contentsOfDirectory(atPath: people.folder.file(".store_SUPPORT/_EXTERNAL_DATA").path)
    }
    let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
    let ids = try people.insert(
      people.row("Thing", ["bytes": .data(large)]), people.row("Thing", ["bytes": .data(Data([5]))]))
    #expect(try people.value(ids[0], "bytes") == .data(large))
    #expect(try people.value(ids[1], "bytes") == .data(Data([5])))
    let raw = try RawDatabase(people.folder.file())
    #expect(try raw.rows("SELECT length(ZBYTES), hex(substr(ZBYTES, 1, 1)) FROM ZTHING") == ["38|02", "2|01"])
    #expect(files()?.count == 1)
    try people.save { $0.updated = [try people.update(ids[0], ["bytes": .data(Data(large.reversed()))])] }
    #expect(try people.value(ids[0], "bytes") == .data(Data(large.reversed())))
    #expect(files()?.count == 1)
    let stale = StoreChanges.Update(
      snapshot: people.snapshot(
        ids[0], version: 9, ContiguousArray(try people.store.snapshot(of: ids[0])!.values), ["bytes": .data(large)]),
      changedSlots: [people.entity("Thing").slot("bytes")!], expectedVersion: 8)
    #expect(throws: GraphError.self) { try people.save { $0.updated = [stale] } }
    #expect(files()?.count == 1)
    try people.save { $0.deleted = [.init(id: ids[0], expectedVersion: 2)] }
    #expect(files() == [])
  }

  @Test func relationshipsAreSavedAndReadFromBothSides() throws {
    let people = try PeopleStore()
    let department = try people.row("Department", ["name": "Moon"])
    let ada = try people.row("Person", ["department": .objectID(department.id)])
    let bob = try people.row("Employee", ["department": .objectID(department.id)])
    try people.insert(department, ada, bob)
    let employees = people.entity("Department").slot("employees")!
    #expect(try people.store.destinations(of: department.id, relationship: employees) == [ada.id, bob.id])
    let friends = people.entity("Person").slot("friends")!
    try people.save {
      $0.links = [.init(owner: ada.id, slot: friends, added: [bob.id, ada.id], removed: [], order: nil)]
    }
    #expect(try Set(people.store.destinations(of: ada.id, relationship: friends)) == [bob.id, ada.id])
    #expect(try people.store.destinations(of: bob.id, relationship: friends) == [ada.id])
    try people.save { $0.links = [.init(owner: bob.id, slot: friends, added: [], removed: [ada.id], order: nil)] }
    #expect(try people.store.destinations(of: ada.id, relationship: friends) == [ada.id])
    try people.save { $0.deleted = [.init(id: ada.id, expectedVersion: 1)] }
    #expect(try RawDatabase(people.folder.file()).value("SELECT COUNT(*) FROM Z_2FRIENDS") == "0")
  }

  @Test func theOrderOfAnOrderedRelationshipIsKeptAndAMoveWritesOnePlace() throws {
    let people = try PeopleStore()
    let department = try people.row("Department")
    let projects = try (0..<5).map {
      try people.row("Project", ["title": .string("\($0)"), "department": .objectID(department.id)])
    }
    let slot = people.entity("Department").slot("projects")!
    let ids = projects.map(\.id)
    try people.save {
      $0.inserted = RowBatch([department] + projects)
      $0.links = [.init(owner: department.id, slot: slot, added: [], removed: [], order: .all(ids.reversed()))]
    }
    #expect(try people.store.destinations(of: department.id, relationship: slot) == ids.reversed())
    let moved = [ids[0], ids[4], ids[3], ids[2], ids[1]]
    let log = try people.statements {
      try people.save {
        $0.links = [.init(owner: department.id, slot: slot, added: [], removed: [], order: .all(moved))]
      }
    }
    #expect(log.filter { $0.hasPrefix("UPDATE") }.count == 1)
    #expect(try people.store.destinations(of: department.id, relationship: slot) == moved)
    try people.save { $0.updated = [try people.update(ids[3], ["department": .null])] }
    let raw = try RawDatabase(people.folder.file())
    #expect(try raw.rows("SELECT Z_FOK_DEPARTMENT IS NULL FROM ZPROJECT WHERE ZDEPARTMENT IS NULL") == ["1"])
  }

  @Test func readingTakesOneStatementFor512RowsOrOwners() throws {
    let people = try PeopleStore()
    let department = try people.row("Department")
    let rows = try (0..<1000).map { _ in try people.row("Person", ["department": .objectID(department.id)]) }
    try people.save { $0.inserted = RowBatch([department] + rows) }
    let ids = rows.map(\.id)
    #expect(try people.statements { _ = try people.store.snapshots(of: ids) }.count == 2)
    #expect(try Set(people.store.snapshots(of: ids).map(\.id)) == Set(ids))
    #expect(try people.statements { _ = try people.store.snapshot(of: ids[0]) }.count == 1)
    let friends = people.entity("Person").slot("friends")!
    #expect(try people.statements { _ = try people.store.destinations(of: ids, relationship: friends) }.count == 2)
    #expect(try people.statements { _ = try people.store.snapshots(matching: people.query("Person")) }.count == 1)
  }

  /// Ascending keys close together are read by a scan of their range, others individually.
  @Test func rowsThatLieCloseTogetherAreScanned() throws {
    let people = try PeopleStore()
    let rows = try (0..<400).map { number in
      try people.row(number % 5 == 0 ? "Employee" : "Person", ["age": .int(Int64(number % 100))])
    }
    try people.save { $0.inserted = RowBatch(rows) }
    try people.save { $0.deleted = [StoreChanges.Deletion(id: rows[150].id, expectedVersion: nil)] }
    let ids = rows.map(\.id)
    var random = SplitMix(3)
    var lists: [(ids: [ManagedObjectID], isScanned: Bool)] = [
      (ids, true), (Array(ids[100..<200]), true), (stride(from: 0, to: 400, by: 2).map { ids[$0] }, true),
      (stride(from: 0, to: 400, by: 3).map { ids[$0] }, false), (ids.reversed(), false), (Array(ids[3..<10]), false),
      ([], false), (ids.filter { $0.entityName == "Person" }, true),
    ]
    lists.append((Array(ids[..<100] + ids[..<100]), false))
    lists.append(((0..<50).map { _ in ids[random.next(400)] }, false))
    for (list, isScanned) in lists {
      var found: [ManagedObjectID] = []
      let log = try people.statements { found = try people.store.snapshots(of: list).map(\.id) }
      #expect(Set(found) == Set(list).subtracting([ids[150]]) && found.count == Set(found).count)
      #expect(log.contains { $0.contains("BETWEEN") } == isScanned, "\(list.count) keys: \(log)")
      #expect(log.count == (list.isEmpty ? 0 : list.count <= 512 ? 1 : 2))
    }
    let scanned = try people.store.snapshots(of: ids)
    #expect(try scanned.allSatisfy { try people.store.snapshot(of: $0.id)?.values == $0.values })
  }
}
