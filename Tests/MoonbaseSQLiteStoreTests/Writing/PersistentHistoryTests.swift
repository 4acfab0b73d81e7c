import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Histories of stores as programs read them, in memory and in the tables of a file.
@Suite struct PersistentHistoryTests {
  enum Kind: CaseIterable {
    case memory, file, oldFile
  }

  /// A coordinator over a store with a history; owns the folder.
  private final class Bench {
    let coordinator: PersistentStoreCoordinator
    let store: any PersistentStore
    private let folder: TemporaryFolder

    init(_ kind: Kind) throws {
      var model = People.model()
      model.entities[0].attributes[0].preservesValueInHistoryOnDeletion = true
      model.entities[0].attributes[2].preservesValueInHistoryOnDeletion = true
      let resolved = try model.resolved()
      folder = try TemporaryFolder()
      coordinator = PersistentStoreCoordinator(model: resolved)
      if kind == .memory {
        store = try InMemoryStore(model: resolved, tracksHistory: true)
      } else {
        let url = folder.file()
        if kind == .oldFile {
          _ = try SQLiteStore(url: url, model: resolved)
          try Connection(url.path, mode: .readWrite).executeScript(HistoryTables.old)
        }
        store = try SQLiteStore(url: url, model: resolved, options: .init(tracksHistory: true))
      }
      try coordinator.add(store)
    }

    func context(_ name: String? = nil, author: String? = nil) throws -> ManagedObjectContext {
      let context = try ManagedObjectContext(coordinator)
      (context.name, context.transactionAuthor) = (name, author)
      return context
    }
  }

  @Test(arguments: Kind.allCases) func eachSaveIsATransactionWithItsChanges(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let context = try bench.context("editor", author: "tests")
    let before = Date()
    let ann = try context.insert("Person", values: ["firstName": "Ann", "age": 30])
    let ben = try context.insert("Employee", values: ["firstName": "Ben"])
    try context.save()
    let ids = [ann.objectID, ben.objectID]
    try ann.setValue(31, forKey: "age")
    try ann.setValue("B", forKey: "lastName")
    try ann.setObjects([ben], forKey: "friends")
    try context.save()
    try context.delete(ann)
    try context.save()
    let result = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil))
    let transactions = try #require(result.transactions)
    #expect(transactions.map(\.transactionNumber) == [1, 2, 3])
    #expect(
      transactions.allSatisfy {
        $0.author == "tests" && $0.contextName == "editor" && $0.storeID == bench.store.identifier
      })
    #expect(transactions.allSatisfy { $0.timestamp >= before && $0.timestamp <= Date() && $0.processID != nil })
    let changes = try transactions.map { try #require($0.changes) }
    #expect(changes[0].map(\.changeType) == [.insert, .insert] && Set(changes[0].map(\.changedObjectID)) == Set(ids))
    let update = try #require(changes[1].first { $0.changedObjectID == ids[0] })
    #expect(update.changeType == .update && update.updatedProperties == ["age", "friends", "lastName"])
    let deletion = try #require(changes[2].first { $0.changeType == .delete })
    #expect(deletion.changedObjectID == ids[0] && deletion.tombstone == ["firstName": "Ann", "age": 31])
    #expect(transactions[2].objectIDs.deleted == [ids[0]])
    #expect(Set(changes.joined().map(\.changeID)).count == changes.joined().count)
  }

  /// The changes of all transactions after the first `number`: kinds, objects and properties.
  private func changes(_ context: ManagedObjectContext, after number: Int) throws -> [String] {
    let result = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    return try (result.transactions ?? []).dropFirst(number).flatMap { transaction in
      try #require(transaction.changes).map { change in
        "\(change.changeType) \(change.changedObjectID.entityName)/\(change.changedObjectID.key) \(change.updatedProperties)"
      }
    }
  }

  @Test(arguments: Kind.allCases) func bothEndsOfALinkAreNamed(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let context = try bench.context()
    let people = try ["a", "b", "c"].map { try context.insert("Person", values: ["firstName": .string($0)]) }
    try people[0].setObjects([people[1]], forKey: "friends")
    try context.save()
    let other = try bench.context()
    let others = try people.map { try other.object(with: $0.objectID) }
    for person in others { _ = try person.objects(forKey: "friends") }
    try people[0].setObjects([people[2]], forKey: "friends")
    let observed = Told()
    let observation = context.observeSaves(didSave: { observed.ids = $0.objectIDs })
    try context.save()
    withExtendedLifetime(observation) {}
    let friends = (1...3).map { "update Person/\($0) [\"friends\"]" }
    #expect(try Set(changes(context, after: 1)) == Set(friends))
    let request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    let saved = try #require(context.execute(request).transactions?.last?.objectIDs)
    #expect(Set(saved.updated) == Set(people.map(\.objectID)))
    #expect(try Set(#require(observed.ids).updated) == Set(people.map(\.objectID)))
    try other.mergeChanges(from: saved)
    #expect(try others.map { try $0.objects(forKey: "friends").count } == [1, 0, 1])
  }

  private final class Told { var ids: SavedObjectIDs? }

  @Test(arguments: Kind.allCases, [false, true]) func whatIsInAListAlreadyIsNoChangeOfIt(_ kind: Kind, _ isNew: Bool)
    throws
  {
    let bench = try Bench(kind)
    let context = try bench.context()
    let people = try (0..<3).map { _ in try context.insert("Person") }
    let (office, project) = (try context.insert("Department"), try context.insert("Project"))
    try people[0].setObjects([people[1]], forKey: "friends")
    try office.setObjects([project], forKey: "projects")
    try office.setObjects([people[0]], forKey: "employees")
    try context.save()
    let other = try bench.context()
    func same(_ object: ManagedObject) throws -> ManagedObject { try other.object(with: object.objectID) }
    try same(people[0]).add(same(people[1]), to: "friends")
    try same(office).add(same(project), to: "projects")
    try same(office).add(same(people[0]), to: "employees")
    if isNew { try same(people[2]).add(same(people[1]), to: "friends") }
    try other.save()
    let friends = [2, 3].map { "update Person/\($0) [\"friends\"]" }
    #expect(try Set(changes(context, after: 1)) == Set(isNew ? friends : []))
  }

  private static let trumps: [MergePolicy] = [.mergeByPropertyObjectTrump, .overwrite, .mergeByPropertyStoreTrump]

  @Test(arguments: Kind.allCases, 0..<3)
  func aDeletionOfARowThatIsNotThereIsNotRecorded(_ kind: Kind, _ policy: Int) throws {
    let bench = try Bench(kind)
    let context = try bench.context()
    let person = try context.insert("Person")
    try context.save()
    let other = try bench.context()
    other.mergePolicy = Self.trumps[policy]
    let same = try other.object(with: person.objectID)
    try same.fireFault()
    try context.delete(person)
    try context.save()
    try other.delete(same)
    try other.save()
    #expect(try changes(context, after: 0) == ["insert Person/1 []", "delete Person/1 []"])
    // A child's object that was never stored.
    let child = ManagedObjectContext(parent: context)
    let new = try child.insert("Person")
    try child.save()
    try child.delete(new)
    try child.save()
    try context.save()
    #expect(try changes(context, after: 2) == [])
  }

  @Test(arguments: Kind.allCases) func tokensDatesAndTransactionsSayFromWhere(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let context = try bench.context()
    #expect(try bench.coordinator.currentPersistentHistoryToken()?.transactionNumbers == [bench.store.identifier: 0])
    let start = try #require(try bench.coordinator.currentPersistentHistoryToken())
    func save() throws {
      try context.insert("Person")
      try context.save()
    }
    for _ in 0..<3 { try save() }
    let token = try #require(try bench.coordinator.currentPersistentHistoryToken(fromStores: [bench.store]))
    func numbers(_ request: PersistentHistoryChangeRequest) throws -> [Int64] {
      try (context.execute(request).transactions ?? []).map(\.transactionNumber)
    }
    #expect(try numbers(.fetchHistory(after: token)).isEmpty)
    for _ in 0..<2 { try save() }
    #expect(try numbers(.fetchHistory(after: token)) == [4, 5])
    #expect(try numbers(.fetchHistory(after: start)) == [1, 2, 3, 4, 5])
    var first = PersistentHistoryChangeRequest.fetchHistory(after: token)
    first.fetchLimit = 1
    let transaction = try #require(try context.execute(first).transactions?.first)
    #expect(transaction.transactionNumber == 4)
    #expect(try numbers(.fetchHistory(after: transaction)) == [5])
    #expect(try numbers(.fetchHistory(after: Date(timeIntervalSinceNow: -60))) == [1, 2, 3, 4, 5])
    #expect(try numbers(.fetchHistory(after: Date(timeIntervalSinceNow: 60))).isEmpty)
    let kept = try JSONDecoder().decode(PersistentHistoryToken.self, from: JSONEncoder().encode(token))
    #expect(kept == token)
  }

  @Test(arguments: Kind.allCases) func resultsComeAsTheyAreAskedFor(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let context = try bench.context()
    let person = try context.insert("Person")
    try context.save()
    try person.setValue(1, forKey: "age")
    try context.save()
    var request = PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)
    request.resultType = .count
    #expect(try context.execute(request).count == 2)
    request.resultType = .objectIDs
    #expect(try context.execute(request).objectIDs == [person.objectID])
    request.resultType = .changesOnly
    #expect(try context.execute(request).changes?.map(\.changeType) == [.insert, .update])
    request.resultType = .transactionsOnly
    let transactions = try #require(try context.execute(request).transactions)
    #expect(transactions.count == 2 && transactions.allSatisfy { $0.changes == nil })
    #expect { try context.mergeChanges(from: transactions[0]) } throws: { ($0 as? GraphError)?.code == .invalidRequest }
    request.resultType = .statusOnly
    let status = try context.execute(request)
    #expect(status.count == nil && status.transactions == nil && status.changes == nil && status.objectIDs == nil)
  }

  @Test(arguments: Kind.allCases) func aTransactionIsMergedIntoAContext(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let (writer, reader) = (try bench.context(), try bench.context())
    let department = try writer.insert("Department", values: ["name": "A"])
    let ann = try writer.insert("Person", values: ["firstName": "Ann", "department": .objectID(department.objectID)])
    try writer.save()
    let seen = try #require(try reader.fetch(FetchRequest("Department")).first)
    let member = try #require(try seen.objects(forKey: "employees").first)
    #expect(member["firstName"] == "Ann")
    let token = try bench.coordinator.currentPersistentHistoryToken()
    try ann.setValue("Anna", forKey: "firstName")
    try writer.insert("Person", values: ["department": .objectID(department.objectID)])
    try writer.save()
    try writer.delete(ann)
    try writer.save()
    let transactions = try #require(
      try reader.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions)
    #expect(transactions.count == 2)
    try reader.mergeChanges(from: transactions[0])
    #expect(try seen.objects(forKey: "employees").count >= 1)
    try reader.mergeChanges(from: transactions[1])
    #expect(member.managedObjectContext == nil)
    #expect(try seen.objects(forKey: "employees").count == 1)
  }

  @Test(arguments: Kind.allCases) func deletedHistoryIsGoneAndATokenBeforeItExpires(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let context = try bench.context()
    let old = try bench.coordinator.currentPersistentHistoryToken()
    for _ in 0..<4 {
      try context.insert("Person")
      try context.save()
    }
    let all = try #require(try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: old)).transactions)
    var deletion = PersistentHistoryChangeRequest.deleteHistory(before: all[2])
    deletion.resultType = .count
    #expect(try context.execute(deletion).count == 2)
    #expect(try context.execute(deletion).count == 0)
    let error = #expect(throws: GraphError.self) {
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: old))
    }
    #expect(error?.code == .historyTokenExpired)
    let rest = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: all[1].token)).transactions
    #expect(rest?.map(\.transactionNumber) == [3, 4] && rest?.allSatisfy { $0.changes?.count == 1 } == true)
    try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: all[3].token))
    #expect(try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: all[2])).transactions?.count == 1)
    try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: 60)))
    // Transaction numbers are not reused.
    #expect(try bench.coordinator.currentPersistentHistoryToken() == all[3].token)
    #expect(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: all[3])).transactions?.isEmpty == true)
    try context.insert("Person")
    try context.save()
    #expect(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: all[3])).transactions?.map(
        \.transactionNumber) == [5])
  }

  @Test(arguments: Kind.allCases) func batchRequestsAndFailedSavesAreInItOrNot(_ kind: Kind) throws {
    let bench = try Bench(kind)
    let context = try bench.context(author: "batch")
    try context.execute(BatchInsertRequest("Person", objects: [["email": "a"], ["email": "b"]]))
    #expect(throws: GraphError.self) { try context.execute(BatchInsertRequest("Person", objects: [["email": "a"]])) }
    try context.execute(BatchUpdateRequest("Person", where: try Predicate(format: "email == 'a'"), set: ["age": 4]))
    try context.execute(BatchDeleteRequest(FetchRequest("Person")))
    let transactions = try #require(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions)
    #expect(
      transactions.map { $0.changes?.map(\.changeType) } == [[.insert, .insert], [.update], [.delete, .delete]])
    #expect(transactions.allSatisfy { $0.author == "batch" })
  }

  @Test(arguments: StoreKind.withFolder) func aStoreWithoutHistorySaysSo(_ kind: StoreKind) throws {
    let bench = try StoreBench(kind)
    let context = bench.context()
    #expect(try bench.coordinator.currentPersistentHistoryToken() == nil)
    #expect {
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date()))
    } throws: { ($0 as? GraphError)?.code == .invalidRequest }
  }

  @Test func aTransactionOfAnotherStoreIsRefused() throws {
    let (one, other) = (try Bench(.memory), try Bench(.memory))
    let context = try one.context()
    try context.insert("Person")
    try context.save()
    let transaction = try #require(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions?.first)
    for request in [
      PersistentHistoryChangeRequest.fetchHistory(after: transaction), .deleteHistory(before: transaction),
    ] {
      #expect { try other.context().execute(request) } throws: { "\($0)".contains("not open here") }
    }
  }

  @Test func severalStoresTellTheirTransactionsByDate() throws {
    var model = People.model()
    model.configurations = ["One": ["Person"], "Two": ["Project"]]
    model.entities[2].relationships = []
    model.entities[0].relationships = []
    model.entities[3].relationships = []
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    for name in ["One", "Two"] {
      try coordinator.add(InMemoryStore(model: resolved, configuration: name, tracksHistory: true))
    }
    let context = try ManagedObjectContext(coordinator)
    for name in ["Project", "Person", "Project"] {
      try context.insert(name)
      try context.save()
    }
    let found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast))
    #expect(
      found.transactions?.map { $0.changes?.first?.changedObjectID.entityName } == ["Project", "Person", "Project"])
    #expect(try coordinator.currentPersistentHistoryToken()?.transactionNumbers.count == 2)
    // Reading one transaction at a time keeps the position in both stores.
    var token = PersistentHistoryToken()
    var seen: [PersistentHistoryTransaction] = []
    while let next = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token)).transactions?.first
    {
      seen.append(next)
      token.advance(past: next)
    }
    #expect(seen == found.transactions)
    #expect(try token == coordinator.currentPersistentHistoryToken())
    token.advance(past: seen[0])
    #expect(try token == coordinator.currentPersistentHistoryToken())
  }

  /// Numbers up to the token's would be assigned again, to other saves.
  @Test(arguments: Kind.allCases) func aTokenOfALaterStateThanTheStoreExpires(_ kind: Kind) throws {
    let (bench, other) = (try Bench(kind), try Bench(kind))
    let (context, ahead) = (try bench.context(), try other.context())
    for _ in 0..<3 {
      try ahead.insert("Person")
      try ahead.save()
    }
    try context.insert("Person")
    try context.save()
    let number = try #require(
      try other.coordinator.currentPersistentHistoryToken()?.transactionNumbers[other.store.identifier])
    let token = PersistentHistoryToken([bench.store.identifier: number])
    let error = #expect(throws: GraphError.self) {
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: token))
    }
    #expect(error?.code == .historyTokenExpired && error?.message.contains("transaction 3 of") == true)
    #expect(error?.message.contains("whose history ends with 1") == true, "\(error as Any)")
    let current = try bench.coordinator.currentPersistentHistoryToken()
    #expect(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: current)).transactions?.isEmpty == true)
  }

  /// Two stores, each with a history of one save.
  private func pair(_ folder: TemporaryFolder) throws -> (ManagedObjectContext, [Half]) {
    var model = People.model()
    model.configurations = ["One": ["Person"], "Two": ["Project"]]
    for index in model.entities.indices { model.entities[index].relationships = [] }
    let resolved = try model.resolved()
    let coordinator = PersistentStoreCoordinator(model: resolved)
    var halves: [Half] = []
    for (name, entity) in [("One", "Person"), ("Two", "Project")] {
      let url = folder.file("\(name).sqlite")
      let half = FailingStore(
        try SQLiteStore(url: url, model: resolved, configuration: name, options: .init(tracksHistory: true)))
      halves.append(Half(entity: entity, url: url, store: half))
      try coordinator.add(half)
    }
    let context = try ManagedObjectContext(coordinator)
    for half in halves {
      try context.insert(half.entity)
      try context.save()
    }
    return (context, halves)
  }

  struct Half {
    let entity: String
    let url: URL
    let store: FailingStore

    func count() throws -> String? { try RawDatabase(url).value("SELECT COUNT(*) FROM ATRANSACTION") }
  }

  /// The order of the two stores depends on their UUIDs.
  @Test(arguments: [0, 1]) func aDeletionThatFailsInOneOfSeveralStoresDeletesNothing(_ failing: Int) throws {
    let folder = try TemporaryFolder()
    let (context, halves) = try pair(folder)
    let all = PersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: 60))
    for calls in 0..<3 {
      halves[failing].store.fail(onceAfterCalls: calls)
      #expect { try context.execute(all) } throws: { ($0 as? GraphError)?.code == .storeFailure }
      #expect(!halves[failing].store.isToFail)
      #expect(try halves.map { try $0.count() } == ["1", "1"])
    }
    try context.execute(all)
    #expect(try halves.map { try $0.count() } == ["0", "0"])
  }

  @Test func aDeletionLooksFirstWhetherAllStoresMayBeWritten() throws {
    let folder = try TemporaryFolder()
    let (context, halves) = try pair(folder)
    let coordinator = PersistentStoreCoordinator(model: context.model)
    for (half, name) in zip(halves, ["One", "Two"]) {
      try coordinator.add(
        SQLiteStore(
          url: half.url, model: context.model, configuration: name, options: .init(readOnly: name == "Two")))
    }
    let other = try ManagedObjectContext(coordinator)
    let error = #expect(throws: GraphError.self) {
      try other.execute(PersistentHistoryChangeRequest.deleteHistory(before: Date(timeIntervalSinceNow: 60)))
    }
    #expect(error?.code == .readOnlyStore && error?.message.contains("Two.sqlite") == true, "\(error as Any)")
    #expect(try halves.map { try $0.count() } == ["1", "1"])
  }

  @Test func aReadOnlyFileIsReadAndNotShortened() throws {
    let folder = try TemporaryFolder()
    let model = try People.model().resolved()
    let url = folder.file()
    do {
      let store = try SQLiteStore(url: url, model: model, options: .init(tracksHistory: true))
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      let context = try ManagedObjectContext(coordinator)
      try context.insert("Person")
      try context.save()
    }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: url, model: model, options: .init(readOnly: true)))
    let context = try ManagedObjectContext(coordinator)
    #expect(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions?.count == 1
    )
    #expect {
      try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: Date()))
    } throws: { ($0 as? GraphError)?.code == .readOnlyStore }
  }

  @Test(.enabled(if: RealStores.areThere, "no fixtures beside the checkout"))
  func theHistoryOfARealStoreIsRead() throws {
    let folder = try TemporaryFolder()
    let url = try RealStores.copy("CoreDataPlus-SampleModel2_V1", to: folder)
    let model = try RealStores.model(of: url)
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: url, model: model))
    let context = try ManagedObjectContext(coordinator)
    let raw = try RawDatabase(url)
    let transactions = try #require(
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions)
    #expect("\(transactions.count)" == (try raw.value("SELECT COUNT(*) FROM ATRANSACTION")))
    let changes = transactions.flatMap { $0.changes ?? [] }
    #expect("\(changes.count)" == (try raw.value("SELECT COUNT(*) FROM ACHANGE")))
    #expect(changes.allSatisfy { ($0.changeType == .update) == !$0.updatedProperties.isEmpty })
    try context.mergeChanges(from: try #require(transactions.last))
    try context.execute(PersistentHistoryChangeRequest.deleteHistory(before: try #require(transactions.last)))
    #expect(try raw.value("SELECT COUNT(*) FROM ATRANSACTION") == "1")
    #expect("\(transactions.last?.changes?.count ?? 0)" == (try raw.value("SELECT COUNT(*) FROM ACHANGE")))
  }
}
