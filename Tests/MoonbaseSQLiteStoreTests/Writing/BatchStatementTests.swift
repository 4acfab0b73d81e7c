import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Batch requests that a SQLite store does by itself, and those that it leaves to the graph.
@Suite struct BatchStatementTests {
  /// A model with events that lead to a log, and nothing leads to them.
  private static func model() -> ManagedObjectModel {
    var model = People.model()
    var event = EntityDescription("Event")
    event.attributes = [
      AttributeDescription("n", type: .integer32), AttributeDescription("text", type: .string),
      AttributeDescription("at", type: .date), AttributeDescription("price", type: .decimal),
      AttributeDescription("ratio", type: .double),
      AttributeDescription("code", type: .string).with { $0.preservesValueInHistoryOnDeletion = true },
    ]
    event.relationships = [.toOne("log", destination: "Log", inverse: "events")]
    var alarm = EntityDescription("Alarm")
    alarm.superentityName = "Event"
    alarm.attributes = [AttributeDescription("level", type: .integer16)]
    var log = EntityDescription("Log")
    log.relationships = [.toMany("events", destination: "Event", inverse: "log")]
    model.entities += [event, alarm, log]
    return model
  }

  enum HistoryForm: CaseIterable { case old, new }

  private final class Bench {
    let people: PeopleStore
    let coordinator: PersistentStoreCoordinator
    let context: ManagedObjectContext
    let ids: [ManagedObjectID]

    init(_ count: Int = 10, history: HistoryForm? = nil) throws {
      people = try PeopleStore(BatchStatementTests.model())
      let url = people.folder.file()
      switch history {
      case .old: try RawDatabase(url).connection.executeScript(HistoryTables.old)
      case .new: _ = try SQLiteStore(url: url, model: people.model, options: .init(keepsHistory: true))
      case nil: break
      }
      coordinator = PersistentStoreCoordinator(model: people.model)
      try coordinator.add(people.store)
      context = try ManagedObjectContext(coordinator)
      let log = try context.insert("Log")
      var events: [ManagedObject] = []
      for index in 0..<count {
        let text: Value = index < 2 ? "x" : .null
        let values: [String: Value] = ["n": .int(Int64(index)), "text": text, "log": .objectID(log.objectID)]
        events.append(try context.insert(index % 5 == 4 ? "Alarm" : "Event", values: values))
      }
      try context.save()
      ids = events.map(\.objectID)
    }

    func rows(_ sql: String) throws -> [String] { try RawDatabase(people.folder.file()).rows(sql) }

    /// The statements of a request but for those that every transaction has.
    func statements(_ body: () throws -> Void) throws -> [String] {
      try people.statements(body).filter { sql in
        !["BEGIN", "COMMIT", "PRAGMA", "SELECT 1 FROM sqlite_master"].contains { sql.hasPrefix($0) }
      }
    }
  }

  @Test(arguments: [10, 2000]) func anUpdateOfConstantsIsTwoStatements(_ count: Int) throws {
    let bench = try Bench(count)
    var request = BatchUpdateRequest(
      "Event", where: try Predicate(format: "n < %d OR log == nil", .int(Int64(count / 2))), set: ["text": "x"])
    request.resultType = .objectIDs
    var result: BatchResult?
    let statements = try bench.statements { result = try bench.context.execute(request) }
    #expect(statements.count == 2 && statements[1].hasPrefix("UPDATE"))
    #expect(result?.count == count / 2 && Set(result?.objectIDs ?? []) == Set(bench.ids[..<(count / 2)]))
    // The first two had it already.
    #expect(Set(result?.changes?.updated ?? []) == Set(bench.ids[2..<(count / 2)]))
    #expect(
      try bench.rows("SELECT Z_OPT, ZTEXT, COUNT(*) FROM ZEVENT GROUP BY 1, 2") == [
        "1||\(count - count / 2)", "1|x|2", "2|x|\(count / 2 - 2)",
      ])
  }

  @Test func valuesOfAllTypesAreWhatASaveWouldHaveWritten() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1000.25)
    let values: [String: Value] = ["n": 7, "text": "é", "at": .date(date), "ratio": 2]
    let (bench, other) = (try Bench(), try Bench())
    let statements = try bench.statements { try bench.context.execute(BatchUpdateRequest("Event", set: values)) }
    #expect(statements.count == 2)
    for object in try other.context.objects(with: other.ids) {
      for (key, value) in values { try object.setValue(value, forKey: key) }
    }
    try other.context.save()
    let sql = "SELECT Z_PK, Z_ENT, Z_OPT, quote(ZN), quote(ZTEXT), quote(ZAT), quote(ZRATIO) FROM ZEVENT"
    #expect(try bench.rows(sql) == other.rows(sql))
    // Nothing, too; only those of a subentity; and nobody.
    #expect(
      try bench.statements {
        var request = BatchUpdateRequest("Alarm", set: ["text": .null, "level": 3])
        request.includesSubentities = false
        try bench.context.execute(request)
        try bench.context.execute(BatchUpdateRequest("Event", where: try Predicate(format: "n == 99"), set: ["n": 1]))
      }.count == 3)
    #expect(try bench.rows("SELECT COUNT(*) FROM ZEVENT WHERE ZTEXT IS NULL AND ZLEVEL = 3") == ["2"])
  }

  @Test func rowsThatNothingLeadsToAreDeletedByTwoStatements() throws {
    let bench = try Bench(1000)
    var request = BatchDeleteRequest(try FetchRequest("Event", where: "n >= 10"))
    request.resultType = .objectIDs
    var result: BatchResult?
    let statements = try bench.statements { result = try bench.context.execute(request) }
    #expect(statements.count == 2 && statements[1].hasPrefix("DELETE"))
    #expect(Set(result?.objectIDs ?? []) == Set(bench.ids[10...]) && result?.changes?.deleted.count == 990)
    #expect(try bench.rows("SELECT COUNT(*) FROM ZEVENT") == ["10"])
    var window = FetchRequest("Event")
    window.sortDescriptors = [.init("n", ascending: false)]
    (window.fetchLimit, window.fetchOffset) = (3, 1)
    request = BatchDeleteRequest(window)
    request.resultType = .count
    let others = try bench.statements { result = try bench.context.execute(request) }
    #expect(others.count == 2 && result?.count == 3)
    #expect(try bench.rows("SELECT ZN FROM ZEVENT ORDER BY ZN") == ["0", "1", "2", "3", "4", "5", "9"])
    try bench.context.execute(BatchDeleteRequest(objectIDs: Array(bench.ids[..<5])))
    #expect(try bench.rows("SELECT ZN FROM ZEVENT ORDER BY ZN") == ["5", "9"])
  }

  @Test func contextsTakeItInAndRowsThatWereReadAreReadAnew() throws {
    let bench = try Bench()
    bench.context.automaticallyMergesChangesFromParent = true
    let log = try #require(try bench.context.fetch(FetchRequest("Log")).first)
    let events = try bench.context.objects(with: bench.ids)
    #expect(try events[3]["n"] == 3 && log.objects(forKey: "events").count == 10)
    let unsaved = try ManagedObjectContext(bench.coordinator)
    let mine = try unsaved.object(with: bench.ids[3])
    try mine.setValue(30, forKey: "n")
    try bench.context.execute(BatchUpdateRequest("Event", set: ["text": "y"]))
    try bench.context.processPendingChanges()
    #expect(events[3]["text"] == "y")
    let late = try ManagedObjectContext(bench.coordinator)
    #expect(try late.object(with: bench.ids[4])["text"] == "y")
    let error = #expect(throws: GraphError.self) { try unsaved.save() }
    #expect(error?.code == .mergeConflict)
    try bench.context.execute(BatchDeleteRequest(try FetchRequest("Event", where: "n > 4")))
    try bench.context.processPendingChanges()
    #expect(try log.objects(forKey: "events").count == 5 && events[9].managedObjectContext == nil)
    #expect(throws: GraphError.self) { try late.object(with: bench.ids[9]).value(forKey: "n") }
  }

  @Test(arguments: HistoryForm.allCases) func theHistoryTellsOfIt(_ form: HistoryForm) throws {
    let bench = try Bench(history: form)
    (bench.context.transactionAuthor, bench.context.name) = ("me", "batches")
    let token = try bench.coordinator.currentPersistentHistoryToken()
    try bench.context.execute(BatchUpdateRequest("Event", where: try Predicate(format: "n < 6"), set: ["code": "c"]))
    try bench.context.execute(BatchDeleteRequest(try FetchRequest("Event", where: "n < 5")))
    let found = try bench.context.execute(.fetchHistory(after: token)).transactions ?? []
    #expect(found.map(\.author) == ["me", "me"] && found.map(\.contextName) == ["batches", "batches"])
    let changes = found.map { $0.changes ?? [] }
    #expect(changes.map(\.count) == [6, 5])
    #expect(changes[0].allSatisfy { $0.changeType == .update && $0.updatedProperties == ["code"] })
    #expect(changes[1].allSatisfy { $0.changeType == .delete && $0.tombstone == ["code": "c"] })
    #expect(Set(changes[0].map(\.changedObjectID)) == Set(bench.ids[..<6]))
  }

  /// Each change names what has another value, as a save's does.
  @Test(arguments: HistoryForm.allCases) func theHistoryNamesNoPropertyThatKeptItsValue(_ form: HistoryForm) throws {
    let bench = try Bench(history: form)
    let token = try bench.coordinator.currentPersistentHistoryToken()
    var request = BatchUpdateRequest("Event", where: try Predicate(format: "n < 4"), set: ["text": "x"])
    request.propertiesToUpdate["n"] = try .init(format: "max({n, 1})")
    #expect(
      try bench.statements { try bench.context.execute(request) }.contains { $0.hasPrefix("UPDATE OR ABORT ZEVENT") })
    let changes = try bench.context.execute(.fetchHistory(after: token)).transactions?.first?.changes ?? []
    let named = Dictionary(uniqueKeysWithValues: changes.map { ($0.changedObjectID, $0.updatedProperties) })
    #expect(named == [bench.ids[0]: ["n"], bench.ids[2]: ["text"], bench.ids[3]: ["text"]])
  }

  /// An expression sees what the graph would, or the graph says in which row it cannot.
  @Test(arguments: [
    ("n", "ZN = 3000000000"), ("n", "ZN = 'x'"), ("text", "ZTEXT = CAST(x'ff41' AS TEXT)"), ("text", "ZTEXT = x'41'"),
    ("at", "ZAT = 'x'"), ("ratio", "ZRATIO = 'x'"),
  ])
  func aColumnThatHoldsNoValueOfItsAttributeIsNotTakenForOne(_ key: String, _ damage: String) throws {
    let bench = try Bench()
    try RawDatabase(bench.people.folder.file()).connection.executeScript("UPDATE ZEVENT SET \(damage) WHERE ZN = 3")
    let before = try bench.rows("SELECT Z_PK, Z_OPT, ZCODE FROM ZEVENT")
    var request = BatchUpdateRequest("Event")
    request.propertiesToUpdate["code"] = try .init(format: "TERNARY(\(key) == nil, 'none', 'some')")
    let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
    #expect(error?.message.contains("Event.\(key)") == true, "\(error as Any)")
    #expect(try bench.rows("SELECT Z_PK, Z_OPT, ZCODE FROM ZEVENT") == before)
  }

  /// What SQL would do otherwise than the graph.
  @Test func whatSQLDoesNotDoExactlyTheGraphDoes() throws {
    let bench = try Bench()
    func isLeft(_ body: () throws -> Void) throws -> Bool {
      try !bench.people.statements(body).contains { $0.contains("RETURNING") && !$0.contains("Z_PRIMARYKEY") }
    }
    var request = BatchUpdateRequest("Event")
    request.propertiesToUpdate["n"] = try .init(format: "n + log.events.@count - 9")
    #expect(try isLeft { try bench.context.execute(request) })
    #expect(try isLeft { try bench.context.execute(BatchUpdateRequest("Event", set: ["price": .decimal(2)])) })
    #expect(try isLeft { try bench.context.execute(BatchUpdateRequest("Event", set: ["ratio": 0])) })
    #expect(try bench.rows("SELECT SUM(ZN), SUM(ZPRICE), SUM(ZRATIO) FROM ZEVENT") == ["55|20|0.0"])
    // Unique values, transformers, and delete rules.
    let person = try bench.context.insert("Person", values: ["firstName": "Ann"])
    try bench.context.save()
    #expect(try isLeft { try bench.context.execute(BatchUpdateRequest("Person", set: ["email": "a"])) })
    #expect(try isLeft { try bench.context.execute(BatchDeleteRequest(FetchRequest("Person"))) })
    #expect(try isLeft { try bench.context.execute(BatchDeleteRequest(FetchRequest("Log"))) })
    #expect(try bench.rows("SELECT COUNT(*) FROM ZPERSON") == ["0"])
    #expect(try bench.rows("SELECT COUNT(ZLOG) FROM ZEVENT") == ["0"])
    withExtendedLifetime(person) {}
  }

  @Test func expressionsOverColumnsAreComputedWithinTheStatement() throws {
    let (bench, other) = (try Bench(), try Bench())
    var request = BatchUpdateRequest("Event", where: try Predicate(format: "n != 5"))
    request.propertiesToUpdate = [
      "n": try .init(format: "n * 2 + 1"), "text": try .init(format: "uppercase(text)"), "code": .keyPath("text"),
      "ratio": try .init(format: "n / 3"), "at": try .init(format: "CAST(n, 'NSDate')"),
    ]
    #expect(try bench.statements { try bench.context.execute(request) }.count == 2)
    // A trigger leaves it to the graph.
    try RawDatabase(other.people.folder.file()).connection.executeScript(
      "CREATE TRIGGER idle AFTER UPDATE ON ZEVENT BEGIN SELECT 1; END")
    #expect(try other.statements { try other.context.execute(request) }.count > 2)
    let sql = "SELECT Z_PK, Z_OPT, quote(ZN), quote(ZTEXT), quote(ZCODE), quote(ZRATIO), quote(ZAT) FROM ZEVENT"
    #expect(try bench.rows(sql) == other.rows(sql))
    // One that gives nothing new leaves the version; one that does not fit names the object, and changes nothing.
    request.propertiesToUpdate = ["n": try .init(format: "n * 1")]
    #expect(try bench.statements { try bench.context.execute(request) }.count == 2)
    #expect(try bench.rows(sql) == other.rows(sql))
    request.propertiesToUpdate = ["n": try .init(format: "n * 1000000000")]
    let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
    #expect(error?.objectID == bench.ids[1] || error?.objectID == bench.ids[2], "\(error as Any)")
    #expect(try bench.rows(sql) == other.rows(sql))
  }

  /// Somebody else's triggers and indexes.
  @Test func whatTheFileRefusesIsToldAndChangesNothing() throws {
    let bench = try Bench()
    let raw = try RawDatabase(bench.people.folder.file())
    try raw.connection.executeScript("CREATE UNIQUE INDEX own ON ZEVENT (ZRATIO)")
    let error = #expect(throws: GraphError.self) {
      try bench.context.execute(BatchUpdateRequest("Event", set: ["ratio": 5]))
    }
    #expect(error?.code == .constraintConflict)
    #expect(try bench.rows("SELECT COUNT(ZRATIO), MAX(Z_OPT) FROM ZEVENT") == ["0|1"])
    try raw.connection.executeScript(
      """
      DROP INDEX own;
      CREATE TRIGGER ignored BEFORE UPDATE ON ZEVENT WHEN OLD.ZN = 3 BEGIN SELECT RAISE(IGNORE); END
      """)
    #expect(throws: GraphError.self) { try bench.context.execute(BatchUpdateRequest("Event", set: ["text": "z"])) }
    #expect(try bench.rows("SELECT COUNT(*) FROM ZEVENT WHERE ZTEXT = 'z'") == ["0"])
  }
}
