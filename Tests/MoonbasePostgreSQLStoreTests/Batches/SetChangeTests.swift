import MoonbaseBatchRequests
#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// Batch requests that are one statement. The behaviour suites compare their results with those of other stores.
  @Suite struct SetChangeTests {
    private let bench: ServerBench
    private let context: ManagedObjectContext
    private let statements = Lock<[String]>([])

    /// Items with the numbers 0 to 9.
    init() throws {
      var item = EntityDescription("Item")
      item.attributes = [
        AttributeDescription("number", type: .integer16), AttributeDescription("text", type: .string),
        AttributeDescription("code", type: .string),
      ]
      item.uniquenessConstraints = [["code"]]
      var options = PostgreSQLStoreOptions()
      let statements = statements
      options.sqlLog = SQLLog { entry in statements.withLock { $0.append(entry.statement) } }
      bench = try ServerBench(ManagedObjectModel(entities: [item]), options: options)
      context = try bench.context(bench.store)
      for number in 0..<10 { _ = try context.insert("Item", values: ["number": .int(Int64(number)), "text": "a"]) }
      try context.save()
      statements.withLock { $0 = [] }
    }

    /// The statements since the last call that change rows, without the record of the save.
    private func changes() -> [String] {
      statements.withLock { all in
        defer { all = [] }
        return all.filter { ["UPDATE", "DELETE", "INSERT"].contains($0.prefix(6)) && !$0.contains("Z_SAVES") }
      }
    }

    private func versions() throws -> [Int64] {
      let rows = try bench.connection().query("SELECT COALESCE(Z_OPT, 0) FROM ZITEM ORDER BY ZNUMBER")
      return (0..<rows.count).map { rows.integer($0, 0) }
    }

    private func update(
      where format: String? = nil, _ type: BatchResultType = .count, _ change: (inout BatchUpdateRequest) throws -> Void
    ) throws -> BatchResult {
      var request = BatchUpdateRequest("Item", where: try format.map { try Predicate(format: $0) })
      request.resultType = type
      try change(&request)
      return try context.execute(request)
    }

    @Test func anUpdateIsOneStatementAndRaisesTheVersionsOfChangedRows() throws {
      let first = try versions()
      #expect(try update(where: "number < 3") { $0.propertiesToUpdate["text"] = .constant("b") }.count == 3)
      #expect(changes().count == 1)
      #expect(try zip(first, versions()).map { $1 - $0 } == [1, 1, 1, 0, 0, 0, 0, 0, 0, 0])
      // Rows that have the value already are counted, and stay as they are.
      #expect(try update(where: "number < 5") { $0.propertiesToUpdate["text"] = .constant("b") }.count == 5)
      #expect(try zip(first, versions()).map { $1 - $0 } == [1, 1, 1, 1, 1, 0, 0, 0, 0, 0])
      let told = try update(where: "number < 6", .objectIDs) { $0.propertiesToUpdate["text"] = .constant("b") }
      #expect(told.objectIDs?.count == 6 && told.changes?.updated.count == 1)
      _ = try update(.statusOnly) { $0.propertiesToUpdate["text"] = .constant(.null) }
      #expect(try context.count(FetchRequest("Item", where: Predicate(format: "text == NULL"))) == 10)
      #expect(changes().count == 3)
    }

    @Test func aGrowthBeyondTheRangeIsRefusedAndChangesNothing() throws {
      let growth = try MoonbaseModel.Expression(format: "number + 5")
      #expect(try update { $0.propertiesToUpdate["number"] = growth }.count == 10)
      #expect(changes().count == 1)
      let excess = try MoonbaseModel.Expression(format: "number + 32760")
      let error = #expect(throws: GraphError.self) {
        _ = try update { $0.propertiesToUpdate["number"] = excess }
      }
      #expect(error?.message.contains("number") == true && error?.objectID != nil, "\(error?.message ?? "")")
      #expect(try context.count(FetchRequest("Item", where: Predicate(format: "number > 14"))) == 0)
    }

    /// A save that read the row before the batch request is a conflict, also in another store.
    @Test func aSaveOfAnOlderVersionIsAConflict() throws {
      let other = try bench.context(bench.other())
      let item = try #require(try other.fetch(FetchRequest("Item", where: Predicate(format: "number == 4"))).first)
      #expect(try item.value(forKey: "text") == "a")
      _ = try update { $0.propertiesToUpdate["text"] = .constant("b") }
      try item.setValue("c", forKey: "text")
      let error = #expect(throws: GraphError.self) { try other.save() }
      #expect(error?.code == .mergeConflict, "\(error?.message ?? "")")
    }

    @Test func aDeletionIsOneStatement() throws {
      var request = BatchDeleteRequest(FetchRequest("Item", where: try Predicate(format: "number > 6")))
      request.resultType = .count
      #expect(try context.execute(request).count == 3)
      #expect(changes().count == 1)
      var first = FetchRequest("Item")
      first.sortDescriptors = [SortDescriptor("number", ascending: false)]
      first.fetchLimit = 2
      request = BatchDeleteRequest(first)
      request.resultType = .objectIDs
      #expect(try context.execute(request).changes?.deleted.count == 2)
      #expect(try context.count(FetchRequest("Item", where: Predicate(format: "number > 4"))) == 0)
      #expect(try context.count(FetchRequest("Item")) == 5)
    }

    @Test func uniqueValuesAreLeftToTheGraph() throws {
      let error = #expect(throws: GraphError.self) {
        _ = try update { $0.propertiesToUpdate["code"] = .constant("x") }
      }
      #expect(error != nil)
      #expect(try context.count(FetchRequest("Item", where: Predicate(format: "code == 'x'"))) == 0)
      #expect(try update(where: "number == 3") { $0.propertiesToUpdate["code"] = .constant("x") }.count == 1)
    }

    /// Records of sessions without a save for a month.
    @Test func oldRecordsOfSavesAreRemovedWhenTheStoreIsOpened() throws {
      let connection = try bench.connection()
      try connection.execute(
        "INSERT INTO Z_SAVES VALUES ('old', 2, now() - interval '31 days'), ('young', 2, now() - interval '29 days')")
      func sessions() throws -> Set<String> {
        let rows = try connection.query("SELECT Z_SESSION FROM Z_SAVES WHERE Z_SESSION IN ('old', 'young')")
        return Set((0..<rows.count).map { rows.text($0, 0) })
      }
      var options = PostgreSQLStoreOptions()
      options.readOnly = true
      _ = try bench.other(options: options)
      #expect(try sessions() == ["old", "young"])
      _ = try bench.other()
      #expect(try sessions() == ["young"])
    }
  }
#endif
