import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseFetchedResults
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing
import MoonbaseHistory

/// Batch requests that a SQLite store executes itself, and those that it leaves to the graph.
@Suite struct BatchStatementTests {
  /// A model with events that refer to a log and have no references to them.
  private static func model() -> ManagedObjectModel {
    var model = People.model()
    var event = EntityDescription("Event")
    event.attributes = [
      AttributeDescription("n", type: .integer32), AttributeDescription("text", type: .string),
      AttributeDescription("at", type: .date), AttributeDescription("price", type: .decimal),
      AttributeDescription("ratio", type: .double), AttributeDescription("big", type: .integer64),
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
      case .new: _ = try SQLiteStore(url: url, model: people.model, options: .init(tracksHistory: true))
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

    /// The statements of a request, without those of every transaction.
    func statements(_ body: () throws -> Void) throws -> [String] {
      try people.statements(body).filter { sql in
        !["BEGIN", "COMMIT", "PRAGMA", "SELECT name GLOB 'Z_DA_*'"].contains { sql.hasPrefix($0) }
      }
    }
  }

  @Test(arguments: [10, 2000]) func anUpdateOfConstantsIsThreeStatements(_ count: Int) throws {
    let bench = try Bench(count)
    var request = BatchUpdateRequest(
      "Event", where: try Predicate(format: "n < %d OR log == nil", .int(Int64(count / 2))), set: ["text": "x"])
    request.resultType = .objectIDs
    var result: BatchResult?
    let statements = try bench.statements { result = try bench.context.execute(request) }
    #expect(statements.count == 3 && statements[0].contains("IS NOT TRUE") && statements[2].hasPrefix("UPDATE"))
    #expect(result?.count == count / 2 && Set(result?.objectIDs ?? []) == Set(bench.ids[..<(count / 2)]))
    // The first two already had the value.
    #expect(Set(result?.changes?.updated ?? []) == Set(bench.ids[2..<(count / 2)]))
    #expect(
      try bench.rows("SELECT Z_OPT, ZTEXT, COUNT(*) FROM ZEVENT GROUP BY 1, 2") == [
        "1||\(count - count / 2)", "1|x|2", "2|x|\(count / 2 - 2)",
      ])
  }

  /// A request whose result needs no rows reads none.
  @Test func anUpdateThatTellsNoRowsReadsNone() throws {
    let bench = try Bench()
    var request = BatchUpdateRequest("Event", where: try Predicate(format: "n < 4 OR text == 'z'"))
    request.propertiesToUpdate["n"] = try .init(format: "n + 1")
    let statements = try bench.statements { try bench.context.execute(request) }
    let sum = "(t0.ZN + ?)"
    let isNumber = "(t0.ZN | 0) IS t0.ZN AND (t0.ZN BETWEEN -2147483648 AND 2147483647) IS NOT FALSE"
    let version = "(t0.Z_OPT | 0) IS t0.Z_OPT AND t0.Z_OPT IS NOT 9223372036854775807"
    #expect(
      statements == [
        "SELECT 1 FROM ZEVENT AS t0 WHERE ((t0.ZN < ?) OR (t0.ZTEXT = ?)) AND ((\(isNumber) AND "
          + "(\(sum) BETWEEN -2147483648 AND 2147483647) IS NOT FALSE AND \(version)) IS NOT TRUE) LIMIT 1",
        "UPDATE OR ABORT ZEVENT AS t0 SET ZN = \(sum), Z_OPT = COALESCE(Z_OPT, 0) + 1 "
          + "WHERE ((t0.ZN < ?) OR (t0.ZTEXT = ?)) AND (t0.ZN IS NOT \(sum))",
      ])
    request.resultType = .count
    var count: Int?
    let others = try bench.statements { count = try bench.context.execute(request).count }
    // The check also counts the changed rows.
    #expect(others.count == 2 && others[0].hasPrefix("SELECT COUNT(*), COUNT(") && count == 3)
    #expect(
      try bench.rows("SELECT Z_OPT, ZN FROM ZEVENT ORDER BY ZN, Z_OPT DESC LIMIT 5") == [
        "3|2", "3|3", "3|4", "2|4", "1|4",
      ])
    // A function is called once per row, and its result is both compared and set.
    request.resultType = .statusOnly
    request.propertiesToUpdate = ["text": try .init(format: "uppercase(text)")]
    let slot = try #require(bench.people.entity("Event").slot("text"))
    #expect(
      try bench.statements { try bench.context.execute(request) } == [
        "SELECT 1 FROM ZEVENT AS t0 WHERE ((t0.ZN < ?) OR (t0.ZTEXT = ?)) AND (NOT (\(version))) LIMIT 1",
        "WITH given AS MATERIALIZED (SELECT t0.Z_PK AS key, MOONBASE_BATCH_\(slot)(t0.Z_PK, t0.Z_ENT, t0.ZTEXT) AS v0 FROM ZEVENT t0 "
          + "WHERE (t0.ZN < ?) OR (t0.ZTEXT = ?)) UPDATE OR ABORT ZEVENT AS t0 SET ZTEXT = given.v0, "
          + "Z_OPT = COALESCE(Z_OPT, 0) + 1 FROM given WHERE t0.Z_PK = given.key AND (t0.ZTEXT IS NOT given.v0)",
      ])
  }

  /// An invalid or greatest version is an error, as in a save, and nothing is written.
  @Test(arguments: ["'x'", "1.5", "9223372036854775807", "x'01'"], [true, false])
  func aVersionThatCannotRiseIsAnError(_ version: String, hasCondition: Bool) throws {
    let bench = try Bench()
    let values: [(String, BatchUpdateFunction?, String?)] = [
      ("text", nil, "'q'"), ("n", nil, "n + 1"), ("n", nil, "n * 2"), ("text", nil, "uppercase(text)"),
      ("n", BatchUpdateFunction(as: Int64.self) { $0 + 1 }, nil),
    ]
    try RawDatabase(bench.people.folder.file()).connection.execute(
      "UPDATE ZEVENT SET Z_OPT = \(version), ZTEXT = 'a', ZN = 3 WHERE Z_PK = 4")
    let before = try bench.rows("SELECT Z_PK, quote(Z_OPT), quote(ZN), quote(ZTEXT) FROM ZEVENT")
    for (name, function, expression) in values {
      for type in [BatchResultType.statusOnly, .count, .objectIDs] {
        var request = BatchUpdateRequest("Event", where: hasCondition ? try Predicate(format: "n < 1000") : nil)
        if let expression { request.propertiesToUpdate[name] = try .init(format: expression) }
        if let function { request.functionsToUpdate[name] = function }
        request.resultType = type
        let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
        #expect(error?.code == .invalidStore && error?.message.contains("Z_OPT") == true, "\(error as Any)")
        #expect(error?.message.firstMatch(of: /row 4\b|Event\/p4\b/) != nil, "\(error as Any)")
        #expect(try bench.rows("SELECT Z_PK, quote(Z_OPT), quote(ZN), quote(ZTEXT) FROM ZEVENT") == before)
      }
    }
  }

  /// Arithmetic in SQL gives the same results as the graph; otherwise the graph executes the request.
  @Test(arguments: [
    ("n", "n * 2 + 1"), ("n", "n - 2147483648"), ("n", "7 / (n - 3)"), ("n", "n * n * 1000 / 7"), ("n", "-n"),
    ("big", "big + 1"), ("big", "big - 1"), ("big", "big * n"), ("big", "big / (n - 4)"), ("big", "0 - big"),
    ("big", "big + big - big"), ("big", "big * 0"), ("big", "big * 4 / 8"), ("n", "big * 4 / 8 / 9000000000"),
    ("big", "1 + big * 3 / 9"), ("big", "n"), ("ratio", "ratio * 3"), ("ratio", "ratio / n"),
    ("ratio", "n / 3"), ("ratio", "n / 3.0"), ("ratio", "big * 1"), ("ratio", "big * 0.5"), ("ratio", "n - n"),
    ("ratio", "ratio * 1e300 * 1e300"), ("n", "n + ratio"), ("n", "n + log.events.@count"),
  ])
  func arithmeticGivesWhatTheGraphGives(_ key: String, _ expression: String) throws {
    let (bench, other) = (try Bench(), try Bench())
    let big: [Int64] = [.max, .min, .max - 1, .min + 1, 0, 1, -1, 1 << 53 + 1, 3_037_000_500]
    for each in [bench, other] {
      for (object, number) in zip(try each.context.objects(with: each.ids), big) {
        try object.setValue(.int(number), forKey: "big")
        if number > 0 { try object.setValue(.double(Double(number) / 3), forKey: "ratio") }
      }
      try each.context.save()
    }
    try RawDatabase(other.people.folder.file()).connection.executeScript(
      "CREATE TRIGGER idle AFTER UPDATE ON ZEVENT BEGIN SELECT 1; END")
    // Each row in a request of its own, since a row that cannot be computed fails the whole request.
    var messages: [[String]] = [[], []]
    for (place, each) in [bench, other].enumerated() {
      for id in each.ids {
        do {
          var request = BatchUpdateRequest("Event", where: try Predicate(format: "SELF == %@", .objectID(id)))
          request.propertiesToUpdate[key] = try .init(format: expression)
          try each.context.execute(request)
        } catch let error as GraphError {
          messages[place].append(error.reason ?? error.message)
        }
      }
    }
    #expect(messages[0] == messages[1])
    let sql = "SELECT Z_PK, Z_OPT, quote(ZN), quote(ZBIG), quote(ZRATIO) FROM ZEVENT"
    #expect(try bench.rows(sql) == other.rows(sql))
  }

  @Test(arguments: ["ZN = 3000000000", "ZN = 'x'", "ZN = 5.5", "ZN = x'35'", "ZRATIO = 'x'", "ZRATIO = x'35'"])
  func arithmeticWithADamagedValueIsAnError(_ damage: String) throws {
    let bench = try Bench()
    try RawDatabase(bench.people.folder.file()).connection.executeScript(
      "UPDATE ZEVENT SET ZRATIO = 1; UPDATE ZEVENT SET \(damage) WHERE ZN = 3")
    let before = try bench.rows("SELECT Z_PK, Z_OPT, quote(ZN), quote(ZBIG), quote(ZRATIO) FROM ZEVENT")
    let (key, target) = damage.hasPrefix("ZN") ? ("n", "big") : ("ratio", "ratio")
    var request = BatchUpdateRequest("Event")
    request.propertiesToUpdate[target] = try .init(format: "\(key) * 2")
    let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
    #expect(error?.message.contains("Event.\(key)") == true, "\(error as Any)")
    #expect(try bench.rows("SELECT Z_PK, Z_OPT, quote(ZN), quote(ZBIG), quote(ZRATIO) FROM ZEVENT") == before)
  }

  @Test func valuesOfAllTypesAreWhatASaveWouldHaveWritten() throws {
    let date = Date(timeIntervalSinceReferenceDate: 1000.25)
    let values: [String: Value] = ["n": 7, "text": "é", "at": .date(date), "ratio": 2]
    let (bench, other) = (try Bench(), try Bench())
    let statements = try bench.statements { try bench.context.execute(BatchUpdateRequest("Event", set: values)) }
    // A count, and the update of all rows.
    #expect(statements.count == 2 && statements[0].hasPrefix("SELECT COUNT(*)") && statements[1].hasPrefix("UPDATE"))
    for object in try other.context.objects(with: other.ids) {
      for (key, value) in values { try object.setValue(value, forKey: key) }
    }
    try other.context.save()
    let sql = "SELECT Z_PK, Z_ENT, Z_OPT, quote(ZN), quote(ZTEXT), quote(ZAT), quote(ZRATIO) FROM ZEVENT"
    #expect(try bench.rows(sql) == other.rows(sql))
    // Null values; only objects of the subentity; no objects.
    #expect(
      try bench.statements {
        var request = BatchUpdateRequest("Alarm", set: ["text": .null, "level": 3])
        request.includesSubentities = false
        try bench.context.execute(request)
        try bench.context.execute(BatchUpdateRequest("Event", where: try Predicate(format: "n == 99"), set: ["n": 1]))
      }.count == 4)
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
    #expect(others.count == 1 && result?.count == 3)
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

  /// Contexts notified of an entity instead of its rows read their objects again, and controllers fetch again.
  @Test func contextsThatAreToldOfAnEntityReadItsObjectsAnew() throws {
    let bench = try Bench()
    let context = try ManagedObjectContext(bench.coordinator)
    context.automaticallyMergesChangesFromParent = true
    let events = try context.objects(with: bench.ids)
    let person = try context.insert("Person", values: ["firstName": "Ann"])
    try context.save()
    #expect(events.map { $0["n"] } == (0..<10).map { .int($0) })
    try events[2].setValue("mine", forKey: "text")
    var request = FetchRequest("Event", where: try Predicate(format: "n >= 100"))
    request.sortDescriptors = [.init("n")]
    let controller = try FetchedResultsController(request, in: context)
    try controller.performFetch()
    var update = BatchUpdateRequest("Event", where: try Predicate(format: "n < 5"))
    update.propertiesToUpdate["n"] = try .init(format: "n + 100")
    try bench.context.execute(update)
    try context.processPendingChanges()
    #expect(events.prefix(6).map { $0["n"] } == [100, 101, 102, 103, 104, 5])
    #expect(events[2]["text"] == "mine" && context.updatedObjects == [events[2]] && person["firstName"] == "Ann")
    #expect(controller.objectIDs == [Array(bench.ids[..<5])])
    try context.save()
    #expect(try bench.rows("SELECT ZN, ZTEXT FROM ZEVENT WHERE ZTEXT = 'mine'") == ["102|mine"])
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

  /// A history costs one more statement, however many rows there are, and its keys follow the existing ones.
  @Test(arguments: HistoryForm.allCases) func theHistoryIsWrittenBySets(_ form: HistoryForm) throws {
    let bench = try Bench(500, history: form)
    let before = try bench.rows("SELECT MAX(Z_PK) FROM ACHANGE")
    var update = BatchUpdateRequest("Event", set: ["code": "c"])
    update.propertiesToUpdate["n"] = try .init(format: "n + 1")
    func changes(_ body: () throws -> Void) throws -> [String] {
      try bench.statements(body).filter { $0.contains("ACHANGE") }
    }
    #expect(try changes { try bench.context.execute(update) }.count == 1)
    #expect(try changes { try bench.context.execute(BatchDeleteRequest(FetchRequest("Event"))) }.count == 1)
    let first = (Int(before[0]) ?? 0) + 1
    #expect(
      try bench.rows(
        "SELECT ZCHANGETYPE, MIN(Z_PK), MAX(Z_PK), COUNT(*) FROM ACHANGE WHERE Z_PK >= \(first) GROUP BY 1") == [
          "1|\(first)|\(first + 499)|500", "2|\(first + 500)|\(first + 999)|500",
        ])
    #expect(
      try bench.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT IN (16001, 16002) ORDER BY 1 DESC")
        == ["\(first + 999)"] + bench.rows("SELECT MAX(Z_PK) FROM ATRANSACTION"))
    // A request without changes leaves no transaction.
    try bench.context.execute(update)
    #expect(try bench.rows("SELECT MAX(Z_PK) FROM ACHANGE") == ["\(first + 999)"])
  }

  /// Each change names the properties with new values, as for a save.
  @Test(arguments: HistoryForm.allCases) func theHistoryNamesNoPropertyThatKeptItsValue(_ form: HistoryForm) throws {
    let bench = try Bench(history: form)
    let token = try bench.coordinator.currentPersistentHistoryToken()
    var request = BatchUpdateRequest("Event", where: try Predicate(format: "n < 4"), set: ["text": "x"])
    request.propertiesToUpdate["n"] = try .init(format: "max({n, 1})")
    #expect(
      try bench.statements { try bench.context.execute(request) }.contains { $0.contains("UPDATE OR ABORT ZEVENT") })
    let changes = try bench.context.execute(.fetchHistory(after: token)).transactions?.first?.changes ?? []
    let named = Dictionary(uniqueKeysWithValues: changes.map { ($0.changedObjectID, $0.updatedProperties) })
    #expect(named == [bench.ids[0]: ["n"], bench.ids[2]: ["text"], bench.ids[3]: ["text"]])
  }

  /// An expression reads the values that the graph would read, or the graph names the row with the invalid value.
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

  /// Operations that SQL would do differently are left to the graph.
  @Test func whatSQLDoesNotDoExactlyTheGraphDoes() throws {
    let bench = try Bench()
    func isLeft(_ body: () throws -> Void) throws -> Bool {
      try !bench.people.statements(body).contains { $0.contains(" AS t0") }
    }
    var request = BatchUpdateRequest("Event")
    request.propertiesToUpdate["n"] = try .init(format: "n + log.events.@count - 9")
    #expect(try isLeft { try bench.context.execute(request) })
    #expect(try isLeft { try bench.context.execute(BatchUpdateRequest("Event", set: ["price": .decimal(2)])) })
    #expect(try isLeft { try bench.context.execute(BatchUpdateRequest("Event", set: ["ratio": 0])) })
    #expect(try bench.rows("SELECT SUM(ZN), SUM(ZPRICE), SUM(ZRATIO) FROM ZEVENT") == ["55|20|0.0"])
    // Unique values.
    let person = try bench.context.insert("Person", values: ["firstName": "Ann"])
    try bench.context.save()
    #expect(try isLeft { try bench.context.execute(BatchUpdateRequest("Person", set: ["email": "a"])) })
    try bench.context.execute(BatchDeleteRequest(FetchRequest("Person")))
    try bench.context.execute(BatchDeleteRequest(FetchRequest("Log")))
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
    // With a foreign trigger the graph executes the request.
    try RawDatabase(other.people.folder.file()).connection.executeScript(
      "CREATE TRIGGER idle AFTER UPDATE ON ZEVENT BEGIN SELECT 1; END")
    #expect(try other.statements { try other.context.execute(request) }.count > 2)
    let sql = "SELECT Z_PK, Z_OPT, quote(ZN), quote(ZTEXT), quote(ZCODE), quote(ZRATIO), quote(ZAT) FROM ZEVENT"
    #expect(try bench.rows(sql) == other.rows(sql))
    // An expression without new values keeps the version; a value out of range names the object and changes nothing.
    request.propertiesToUpdate = ["n": try .init(format: "n * 1")]
    #expect(try bench.statements { try bench.context.execute(request) }.count == 2)
    #expect(try bench.rows(sql) == other.rows(sql))
    request.propertiesToUpdate = ["n": try .init(format: "n * 1000000000")]
    let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
    #expect(error?.objectID == bench.ids[1] || error?.objectID == bench.ids[2], "\(error as Any)")
    #expect(try bench.rows(sql) == other.rows(sql))
  }

  /// Foreign triggers and indexes.
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
