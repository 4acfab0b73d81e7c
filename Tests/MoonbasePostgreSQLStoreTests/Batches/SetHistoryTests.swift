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

  /// Batch requests that are one statement, over stores with a history or with derived attributes.
  @Suite struct SetHistoryTests {
    private let statements = Lock<[String]>([])

    /// Items with the numbers 0 to 5, of which the odd ones are of the subentity. A box derives its count of things.
    private func bench() throws -> ServerBench {
      var text = AttributeDescription("text", type: .string)
      text.preservesValueInHistoryOnDeletion = true
      var item = EntityDescription("Item")
      item.attributes = [AttributeDescription("number", type: .integer16), text]
      var odd = EntityDescription("Odd")
      odd.superentityName = "Item"
      var box = EntityDescription("Box")
      var count = AttributeDescription("count", type: .integer64)
      count.derivationExpression = "things.@count"
      box.attributes = [AttributeDescription("name", type: .string), count]
      box.relationships = [.toMany("things", destination: "Thing", inverse: "box")]
      var thing = EntityDescription("Thing")
      thing.attributes = [AttributeDescription("number", type: .integer16)]
      thing.relationships = [.toOne("box", destination: "Box", inverse: "things")]
      var options = PostgreSQLStoreOptions()
      options.tracksHistory = true
      let statements = statements
      options.sqlLog = SQLLog { entry in statements.withLock { $0.append(entry.statement) } }
      let bench = try ServerBench(ManagedObjectModel(entities: [item, odd, box, thing]), options: options)
      let context = try bench.context(bench.store)
      for number in 0..<6 {
        let entity = number % 2 == 0 ? "Item" : "Odd"
        _ = try context.insert(entity, values: ["number": .int(Int64(number)), "text": .string("t\(number)")])
      }
      try context.save()
      return bench
    }

    /// The changes since a transaction, as texts.
    private func changes(of store: PostgreSQLStore, after number: Int64) throws -> [String] {
      let history = try #require(try store.history())
      let found = try history.transactions(.after(number), includingChanges: true, limit: 0)
      return found.flatMap { transaction in
        (transaction.changes ?? []).map { change in
          let names = change.updatedProperties.sorted().joined(separator: ",")
          let tombstone = change.tombstone["text"].map { "\($0)" } ?? ""
          let entity = change.changedObjectID.entityName
          return "\(transaction.author ?? "") \(change.changeType.name) \(entity) \(names)\(tombstone)"
        }
      }
    }

    private func ofItems() -> [String] {
      statements.withLock { all in
        defer { all = [] }
        return all.filter { ["UPDATE", "DELETE"].contains($0.prefix(6)) && $0.contains("ZITEM") }
      }
    }

    @Test func anUpdateAndADeletionAreRecordedForEachRowThatChanges() throws {
      let bench = try bench()
      let context = try bench.context(bench.store)
      context.transactionAuthor = "ann"
      let last = try #require(try bench.store.history()).span().last
      statements.withLock { $0 = [] }
      var update = BatchUpdateRequest("Item", where: try Predicate(format: "number < 4"))
      update.propertiesToUpdate["number"] = .constant(3)
      update.resultType = .count
      #expect(try context.execute(update).count == 4)
      #expect(ofItems().count == 1)
      #expect(
        try changes(of: bench.store, after: last).sorted() == [
          "ann update Item number", "ann update Item number", "ann update Odd number",
        ])
      let second = try #require(try bench.store.history()).span().last
      var deletion = BatchDeleteRequest(FetchRequest("Item", where: try Predicate(format: "number > 3")))
      deletion.resultType = .count
      #expect(try context.execute(deletion).count == 2)
      #expect(ofItems().count == 1)
      #expect(
        try changes(of: bench.store, after: second).sorted() == ["ann delete Item t4", "ann delete Odd t5"])
    }

    /// Each row's change names the attributes whose values change in that row.
    @Test func severalColumnsAreOneStatementAndRecordedForEachRow() throws {
      let bench = try bench()
      let context = try bench.context(bench.store)
      let last = try #require(try bench.store.history()).span().last
      statements.withLock { $0 = [] }
      var update = BatchUpdateRequest("Item", where: try Predicate(format: "number < 3"))
      update.propertiesToUpdate["number"] = .constant(0)
      update.propertiesToUpdate["text"] = .constant("t2")
      _ = try context.execute(update)
      #expect(ofItems().count == 1)
      #expect(
        try changes(of: bench.store, after: last).sorted() == [
          " update Item number", " update Item text", " update Odd number,text",
        ])
    }

    @Test func rowsFromWhichOthersDeriveAreLeftToTheGraph() throws {
      let bench = try bench()
      let context = try bench.context(bench.store)
      let box = try context.insert("Box")
      for number in 0..<3 {
        let values: [String: Value] = ["number": .int(Int64(number)), "box": .objectID(box.objectID)]
        _ = try context.insert("Thing", values: values)
      }
      try context.save()
      let count = try bench.connection().query("SELECT ZCOUNT FROM ZBOX")
      #expect(count.integer(0, 0) == 3)
      var deletion = BatchDeleteRequest(FetchRequest("Thing", where: try Predicate(format: "number > 0")))
      deletion.resultType = .count
      #expect(try context.execute(deletion).count == 2)
      #expect(try bench.connection().query("SELECT ZCOUNT FROM ZBOX").integer(0, 0) == 1)
    }
  }
#endif
