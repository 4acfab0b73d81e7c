import MoonbaseFaultyDisk
import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Batch inserts large enough that the store writes the first rows while others are made.
@Suite struct InsertionPipeConcurrencyTests {
  private struct Bench {
    let folder: TemporaryFolder
    let store: SQLiteStore
    let context: ManagedObjectContext

    static let model = ManagedObjectModel {
      EntityDescription("Thing") {
        AttributeDescription("name", type: .string)
        AttributeDescription("number", type: .integer64)
        AttributeDescription("data", type: .binaryData)
        RelationshipDescription.toOne("next", destination: "Thing", inverse: "previous")
        RelationshipDescription.toMany("previous", destination: "Thing", inverse: "next")
      }
      EntityDescription("Part", parent: "Thing") { AttributeDescription("size", type: .double) }
    }

    init(tracksHistory: Bool = false) throws {
      folder = try TemporaryFolder()
      let model = try Self.model.resolved()
      store = try SQLiteStore(url: folder.file(), model: model, options: .init(tracksHistory: tracksHistory))
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      context = try ManagedObjectContext(coordinator)
    }

    /// Inserts rows numbered from 0; `body` is called with each number first.
    @discardableResult
    func insert(_ count: Int, _ type: BatchResultType = .objectIDs, _ body: @escaping (Int) throws -> Void = { _ in })
      throws
      -> BatchResult
    {
      var row = 0
      var request = BatchInsertRequest(
        "Part",
        managedObjectHandler: { object in
          try body(row)
          guard row < count else { return true }
          object["number"] = .int(Int64(row))
          object["name"] = row % 7 == 0 ? .null : .string("n\(row)")
          row += 1
          return false
        })
      request.resultType = type
      return try context.execute(request)
    }

    func raw() throws -> RawDatabase { try RawDatabase(folder.file()) }

    /// The number of rows, and the file's last keys.
    func state() throws -> [String?] {
      let raw = try raw()
      return try [
        "SELECT COUNT(*) FROM ZTHING", "SELECT MAX(Z_PK) FROM ZTHING",
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Thing'",
        "SELECT COUNT(*) FROM ZTHING WHERE ZNUMBER = Z_PK - 1 AND Z_ENT = 2 AND Z_OPT = 1", "PRAGMA integrity_check",
      ].map { try raw.value($0) }
    }
  }

  @Test(arguments: [2047, 2048, 2049, 4095, 4096, 4097, 8192, 30_001]) func rowsAreThereInTheirOrder(_ count: Int)
    throws
  {
    let bench = try Bench()
    let reader = try ManagedObjectContext(bench.context.coordinator)
    let result = try bench.insert(count)
    let ids = try #require(result.objectIDs)
    #expect(result.count == count && ids.count == count && result.changes?.inserted == ids)
    let total = "\(count)"
    #expect(try bench.state() == [total, total, total, total, "ok"])
    #expect(try reader.object(with: ids[count - 1])["number"] == .int(Int64(count - 1)))
    // New keys follow the last ones.
    let next = try bench.context.insert("Thing")
    try bench.context.save()
    #expect(try bench.raw().value("SELECT MAX(Z_PK) FROM ZTHING") == "\(count + 1)")
    withExtendedLifetime(next) {}
  }

  @Test func oneTransactionWritesAllWhileRowsAreMade() throws {
    let bench = try Bench()
    let log = Lock<[String]>([])
    bench.store.statements.listen { statement in log.withLock { $0.append(statement) } }
    try bench.insert(20_000) { row in
      // Reads meanwhile see the state before the insert.
      let found = try row % 5000 == 0 ? bench.context.count(FetchRequest("Thing")) : 0
      #expect(found == 0)
    }
    #expect(log.withLock { $0.filter { $0.hasPrefix("BEGIN IMMEDIATE") || $0 == "COMMIT" }.count } == 2)
    #expect(try bench.context.count(FetchRequest("Thing")) == 20_000)
  }

  private struct Stop: Error {}

  @Test(arguments: [0, 4095, 4096, 9000, 20_000]) func aHandlerThatFailsLeavesTheFileAsItWas(_ place: Int) throws {
    let bench = try Bench()
    try bench.insert(5000)
    let before = try bench.state()
    #expect(throws: Stop.self) { try bench.insert(20_000) { if $0 == place { throw Stop() } } }
    #expect(try bench.state() == before)
    let error = #expect(throws: GraphError.self) {
      try bench.insert(20_000) { if $0 == place { throw GraphError(.invalidValue, message: "no") } }
    }
    #expect(error?.message == "row \(place + 1) of the batch insert: no")
    #expect(try bench.state() == before)
    // The file is not locked.
    try bench.insert(10, .count)
    try bench.raw().connection.transaction {}
  }

  @Test(arguments: [10, 4096, 15_000]) func aRowThatTheFileRefusesLeavesTheFileAsItWas(_ place: Int) throws {
    let bench = try Bench()
    try bench.raw().connection.execute(
      "CREATE TRIGGER no BEFORE INSERT ON ZTHING WHEN NEW.ZNUMBER = \(place) BEGIN SELECT RAISE(ABORT, 'no'); END")
    let error = #expect(throws: GraphError.self) { try bench.insert(20_000) }
    #expect(error?.message.contains("no") == true, "\(String(describing: error))")
    #expect(try bench.state()[0] == "0")
    try bench.raw().connection.transaction {}
    #expect(try bench.insert(5, .count).count == 5)
  }

  @Test func aHandlerDoesNotWriteTheStoreThatItFills() throws {
    let bench = try Bench()
    let other = try ManagedObjectContext(bench.context.coordinator)
    for place in [3, 4096, 10_000] {
      try other.insert("Thing", values: ["name": "other"])
      for attempt in 0..<4 {
        let error = #expect(throws: GraphError.self) {
          try bench.insert(20_000) { row in
            guard row == place else { return }
            switch attempt {
            case 0: try other.save()
            case 1: try other.saveAhead()
            case 2: try other.execute(BatchInsertRequest("Thing", objects: [["name": "b"]]))
            default: try other.execute(BatchUpdateRequest("Thing", set: ["name": "c"]))
            }
          }
        }
        #expect(error?.code == .contextBusy, "\(attempt): \(String(describing: error))")
      }
      #expect(try bench.state()[0] == "\(place == 3 ? 0 : place == 4096 ? 1 : 2)")
      try other.save()
    }
  }

  @Test func whatHandlersMayNotDoIsRefusedInLaterRowsToo() throws {
    let bench = try Bench()
    var kept: ManagedObject?
    for wrong in 0..<3 {
      var row = 0
      let request = BatchInsertRequest(
        "Part",
        managedObjectHandler: { object in
          row += 1
          if row == 9000 {
            switch wrong {
            case 0: try object.managedObjectContext?.delete(object)
            case 1: object["next"] = .objectID(object.objectID)
            default: try object.managedObjectContext?.insert("Thing")
            }
          }
          if row == 100 { kept = object }
          return row == 12_000
        })
      let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
      #expect(error?.code == .invalidRequest && (wrong == 2 || error?.message.contains("row 9000") == true))
      #expect(try bench.state()[0] == "0")
    }
    // A retained object is no longer valid.
    #expect(kept != nil && kept?.managedObjectContext == nil)
  }

  @Test func longTextsGoToTheStoreEarlier() throws {
    let bench = try Bench()
    var row = 0
    let data = Data(repeating: 7, count: 300_000)
    try bench.context.execute(
      BatchInsertRequest(
        "Part",
        dictionaryHandler: { values in
          row += 1
          values = ["data": .data(data), "number": .int(Int64(row - 1))]
          return row > 200
        }))
    #expect(try bench.state() == ["200", "200", "200", "200", "ok"])
    #expect(try bench.raw().value("SELECT SUM(LENGTH(ZDATA)) FROM ZTHING") == "\(200 * 300_000)")
  }

  @Test func aHistoryNamesEachRow() throws {
    let bench = try Bench(tracksHistory: true)
    try bench.insert(9000)
    #expect(try bench.raw().value("SELECT COUNT(*) FROM ACHANGE") == "9000")
    #expect(try bench.raw().value("SELECT COUNT(*) FROM ATRANSACTION") == "1")
  }

  @Test func othersAreToldAndMerge() async throws {
    let bench = try Bench()
    let view = try ManagedObjectContext(bench.context.coordinator)
    view.automaticallyMergesChangesFromParent = true
    let told = bench.context.coordinator.saves
    try bench.insert(6000, .statusOnly)
    for await saved in told {
      #expect(saved.inserted.count == 6000 && saved.updated.isEmpty)
      break
    }
    #expect(try view.count(FetchRequest("Part")) == 6000)
  }

  @Test func severalFillOneStoreAtOnce() async throws {
    let bench = try Bench()
    let coordinator = bench.context.coordinator
    try await withThrowingTaskGroup(of: Void.self) { group in
      for worker in 0..<3 {
        group.addTask {
          let context = try ManagedObjectContext(coordinator)
          for _ in 0..<2 {
            var row = 0
            try context.execute(
              BatchInsertRequest(
                "Part",
                dictionaryHandler: { values in
                  values = ["number": .int(Int64(row)), "name": .string("w\(worker)")]
                  row += 1
                  return row > 9000
                }))
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try Array(bench.state()[0...2]) == ["54000", "54000", "54000"])
    #expect(try bench.raw().value("SELECT COUNT(*) FROM ZTHING WHERE ZNAME = 'w1'") == "18000")
  }

  /// Running out of keys is an error, for few rows and for many.
  @Test(arguments: [Int64.max, Int64.max - 1, Int64.max - 2500]) func keysThatRunOutAreAnError(_ last: Int64) throws {
    let bench = try Bench()
    try bench.raw().connection.execute("UPDATE Z_PRIMARYKEY SET Z_MAX = \(last)")
    for count in [3, 9000] where count == 9000 || last == .max {
      let error = #expect(throws: GraphError.self) { try bench.insert(count) }
      #expect(error?.code == .invalidStore, "\(error as Any)")
      #expect(try bench.state()[0] == "0")
    }
  }

  /// Ending the run before the commit reverts all rows; committed rows stay.
  @Test func aTaskThatIsCancelledInsertsAllOrNothing() async throws {
    for pause in 0..<12 {
      let bench = try Bench()
      let coordinator = bench.context.coordinator
      let task = Task {
        let context = try ManagedObjectContext(coordinator)
        var (row, result) = (0, BatchInsertRequest("Part", objects: []))
        result = BatchInsertRequest(
          "Part",
          dictionaryHandler: { values in
            values = ["number": .int(Int64(row))]
            row += 1
            return row > 12_000
          })
        try context.execute(result)
      }
      try await Task.sleep(for: .milliseconds(pause * 25))
      task.cancel()
      let isDone = await (try? task.value) != nil
      #expect(try bench.state()[0] == (isDone ? "12000" : "0"))
      try bench.raw().connection.transaction {}
    }
  }

  @Test func aHistoryThatIsSwitchedOnMeanwhileIsKept() throws {
    let bench = try Bench()
    let result = try bench.insert(9000, .count) { row in
      if row == 0 { try bench.raw().connection.executeScript(HistoryTables.old) }
    }
    #expect(result.count == 9000)
    #expect(try bench.state()[0] == "9000")
    #expect(try bench.raw().value("SELECT COUNT(*) FROM ACHANGE") == "9000")
  }

  @Test func aDiskThatFailsLeavesTheFileAsItWas() throws {
    let folder = try TemporaryFolder()
    let disk = try FaultyDisk(folder)
    let model = try Bench.model.resolved()
    for rest in [0, 1, 3, 10, 40, 100] {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(SQLiteStore(url: folder.file(), model: model))
      let context = try ManagedObjectContext(coordinator)
      let before = try context.count(FetchRequest("Thing"))
      var row = 0
      disk.fail(.write, after: rest, code: 13, lasting: true)
      let error: GraphError? = {
        do {
          try context.execute(
            BatchInsertRequest(
              "Part",
              dictionaryHandler: { values in
                values = ["number": .int(Int64(row)), "data": .data(Data(repeating: 1, count: 900))]
                row += 1
                return row > 9000
              }))
          return nil
        } catch {
          return error as? GraphError
        }
      }()
      let failures = disk.heal()
      #expect((error != nil) == (failures > 0), "\(rest): \(failures)")
      #expect(try context.count(FetchRequest("Thing")) == before + (error == nil ? 9000 : 0))
    }
  }
}
