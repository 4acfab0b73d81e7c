import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing
import MoonbaseHistory

/// Functions of batch updates that SQL calls.
@Suite struct BatchFunctionTests {
  private final class Bench {
    let people: PeopleStore
    let context: ManagedObjectContext
    let ids: [ManagedObjectID]

    init(tracksHistory: Bool = false, derives: Bool = false) throws {
      var model = People.model()
      var event = EntityDescription("Event")
      var total = AttributeDescription("total", type: .string)
      total.derivationExpression = "uppercase:(text)"
      event.attributes =
        [
          AttributeDescription("n", type: .integer32), AttributeDescription("text", type: .string),
          AttributeDescription("at", type: .date), AttributeDescription("id", type: .uuid),
          AttributeDescription("link", type: .uri), AttributeDescription("bytes", type: .binaryData),
          AttributeDescription("flag", type: .boolean), AttributeDescription("price", type: .decimal),
          AttributeDescription("ratio", type: .double),
        ] + (derives ? [total] : [])
      model.entities.append(event)
      people = try PeopleStore(model)
      if tracksHistory {
        _ = try SQLiteStore(url: people.folder.file(), model: people.model, options: .init(tracksHistory: true))
      }
      let coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      context = try ManagedObjectContext(coordinator)
      var events: [ManagedObject] = []
      for index in 0..<10 {
        let values: [String: Value] = [
          "n": .int(Int64(index)), "text": .string("t\(index)"), "ratio": .double(Double(index)),
          "at": .date(Date(timeIntervalSinceReferenceDate: Double(index))), "price": .decimal(Decimal(index)),
          "flag": .bool(index % 2 == 0), "bytes": .data(Data([UInt8(index)])),
        ]
        events.append(try context.insert("Event", values: values))
      }
      try context.save()
      ids = events.map(\.objectID)
    }

    func rows(_ sql: String) throws -> [String] { try RawDatabase(people.folder.file()).rows(sql) }

    func statements(_ body: () throws -> Void) throws -> [String] {
      try people.statements(body).filter { sql in
        !["BEGIN", "COMMIT", "PRAGMA", "SELECT name GLOB 'Z_DA_*'"].contains { sql.hasPrefix($0) }
      }
    }
  }

  @Test func aWholeTableIsOneUpdateThatCallsTheFunctionOnceForEachRow() throws {
    let bench = try Bench()
    let calls = Lock<[Value]>([])
    var request = BatchUpdateRequest("Event")
    request.functionsToUpdate["text"] = BatchUpdateFunction { value in
      calls.withLock { $0.append(value) }
      return value == "t3" ? value : "new"
    }
    request.resultType = .count
    var count: Int?
    let slot = try #require(bench.people.entity("Event").slot("text"))
    #expect(
      try bench.statements { count = try bench.context.execute(request).count } == [
        "UPDATE OR ABORT ZEVENT AS t0 SET ZTEXT = MOONBASE_BATCH_\(slot)_GIVEN(), "
          + "Z_OPT = COALESCE(Z_OPT, 0) + 1 WHERE MOONBASE_BATCH_\(slot)_DIFFERS(t0.ZTEXT, t0.Z_ENT, t0.Z_OPT)"
      ])
    #expect(count == 10 && calls.withLock { $0 } == (0..<10).map { .string("t\($0)") })
    #expect(try bench.rows("SELECT Z_OPT, ZTEXT, COUNT(*) FROM ZEVENT GROUP BY 1, 2") == ["1|t3|1", "2|new|9"])
    // The objects that the function retains are released.
    for call in ["(1, 1, 1)", "_DIFFERS(1, 1, 1)", "_GIVEN()"] {
      #expect(throws: (any Error).self) {
        try bench.people.store.writersAnswer("SELECT MOONBASE_BATCH_\(slot)\(call)")
      }
    }
  }

  /// A trigger makes SQLite collect the rows before the first write, so the values come from a table.
  @Test func derivedAttributesFollowAndEachRowGetsItsOwnValue() throws {
    let bench = try Bench(derives: true)
    var request = BatchUpdateRequest("Event")
    request.functionsToUpdate["text"] = BatchUpdateFunction(as: String.self) { $0 + "x" }
    let statements = try bench.statements { try bench.context.execute(request) }
    #expect(statements.contains { $0.hasPrefix("WITH given") })
    #expect(
      try bench.rows("SELECT ZTEXT, ZTOTAL, Z_OPT FROM ZEVENT ORDER BY Z_PK") == (0..<10).map { "t\($0)x|T\($0)X|2" })
  }

  @Test func aHistoryNamesTheRowsThatHaveAnotherValue() throws {
    let bench = try Bench(tracksHistory: true)
    let coordinator = bench.context.coordinator
    let token = try coordinator.currentPersistentHistoryToken()
    var request = BatchUpdateRequest("Event")
    request.functionsToUpdate["n"] = BatchUpdateFunction(as: Int64.self) { max($0, 8) }
    try bench.context.execute(request)
    let changes = try bench.context.execute(.fetchHistory(after: token)).transactions?.first?.changes ?? []
    #expect(Set(changes.map(\.changedObjectID)) == Set(bench.ids[..<8]))
    #expect(changes.allSatisfy { $0.changeType == .update && $0.updatedProperties == ["n"] })
    #expect(try bench.rows("SELECT Z_OPT, COUNT(*) FROM ZEVENT GROUP BY 1") == ["1|2", "2|8"])
  }

  /// The stored values equal those of a save.
  @Test func valuesOfAllTypesAreWhatASaveWouldHaveWritten() throws {
    let uuid = UUID()
    let values: [String: Value] = [
      "n": 7, "text": "a\0é", "at": .date(Date(timeIntervalSinceReferenceDate: 5)), "id": .uuid(uuid), "ratio": 2,
      "link": .uri(try #require(URL(string: "https://example.org/a"))), "bytes": .data(Data()), "flag": .bool(true),
      "price": .decimal(Decimal(5)),
    ]
    let (bench, other) = (try Bench(), try Bench())
    for (key, value) in values {
      var request = BatchUpdateRequest("Event")
      request.functionsToUpdate[key] = BatchUpdateFunction { $0.isNull ? value : $0 }
      try bench.context.execute(request)
      request.functionsToUpdate[key] = BatchUpdateFunction { _ in value }
      try bench.context.execute(request)
      // A repeated request changes nothing.
      let before = try bench.rows("SELECT SUM(Z_OPT) FROM ZEVENT")
      try bench.context.execute(request)
      #expect(try bench.rows("SELECT SUM(Z_OPT) FROM ZEVENT") == before, "\(key)")
    }
    for object in try other.context.objects(with: other.ids) {
      for (key, value) in values { try object.setValue(value, forKey: key) }
    }
    try other.context.save()
    let sql =
      "SELECT Z_PK, quote(ZN), quote(ZTEXT), quote(ZAT), quote(ZID), quote(ZLINK), quote(ZBYTES), quote(ZFLAG), "
      + "quote(ZPRICE), quote(ZRATIO), typeof(ZAT), typeof(ZRATIO) FROM ZEVENT"
    #expect(try bench.rows(sql) == other.rows(sql))
  }

  @Test(arguments: ["ZTEXT = CAST(x'ff41' AS TEXT)", "ZTEXT = x'41'"])
  func aColumnThatHoldsNoValueOfItsAttributeIsAnErrorWithItsRow(_ damage: String) throws {
    let bench = try Bench()
    try RawDatabase(bench.people.folder.file()).connection.executeScript("UPDATE ZEVENT SET \(damage) WHERE ZN = 3")
    let before = try bench.rows("SELECT Z_PK, Z_OPT, quote(ZTEXT) FROM ZEVENT")
    var request = BatchUpdateRequest("Event")
    request.functionsToUpdate["text"] = BatchUpdateFunction { _ in "x" }
    let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
    #expect(error?.message.contains("Event.text") == true, "\(error as Any)")
    #expect(try bench.rows("SELECT Z_PK, Z_OPT, quote(ZTEXT) FROM ZEVENT") == before)
  }
}
