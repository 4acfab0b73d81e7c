import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Histories filtered by predicates and bounded by size.
@Suite struct HistoryFilterTests {
  /// Three saves, by an author, by no author and by another author: two people, a change of one, a deletion of the
  /// other.
  private final class Bench {
    let context: ManagedObjectContext
    private let folder: TemporaryFolder

    init(inMemory: Bool) throws {
      folder = try TemporaryFolder()
      let model = try People.model().changed { model in
        for place in model[entity: "Person"].attributes.indices
        where model[entity: "Person"].attributes[place].name == "firstName" {
          model[entity: "Person"].attributes[place].preservesValueInHistoryOnDeletion = true
        }
      }.resolved()
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(
        inMemory
          ? InMemoryStore(model: model, tracksHistory: true)
          : SQLiteStore(url: folder.file(), model: model, options: .init(tracksHistory: true)))
      context = try ManagedObjectContext(coordinator)
      context.transactionAuthor = "import"
      let ann = try context.insert("Person", values: ["firstName": "Ann"])
      let ben = try context.insert("Employee", values: ["firstName": "Ben"])
      try context.save()
      context.transactionAuthor = nil
      try ann.setValue("Anna", forKey: "firstName")
      try context.save()
      context.transactionAuthor = "editor"
      try context.delete(ben)
      try context.save()
    }

    func transactions(_ predicate: String) throws -> [Int64] {
      var request = PersistentHistoryChangeRequest.fetchHistory(after: PersistentHistoryToken?.none)
      request.fetchRequest = PersistentHistoryTransaction.fetchRequest(where: try Predicate(format: predicate))
      return try (context.execute(request).transactions ?? []).map(\.transactionNumber)
    }

    func changes(_ predicate: String) throws -> [PersistentHistoryChange.ChangeType] {
      var request = PersistentHistoryChangeRequest.fetchHistory(
        withFetch: PersistentHistoryChange.fetchRequest(where: try Predicate(format: predicate)))
      request.resultType = .changesOnly
      return try (context.execute(request).changes ?? []).map(\.changeType)
    }
  }

  @Test(arguments: [true, false]) func transactionsMatchByWhatTheySayOfThemselves(_ inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    #expect(try bench.transactions("author == 'import'") == [1])
    // As in a fetch, a missing author matches only if the predicate asks for a missing value.
    #expect(try bench.transactions("author != 'import'") == [3])
    #expect(try bench.transactions("author == NULL OR transactionNumber > 2") == [2, 3])
    #expect(try bench.transactions("timestamp > CAST(0, 'NSDate')") == [1, 2, 3])
  }

  @Test(arguments: [true, false]) func changesMatchAndBringTheirTransactions(_ inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    #expect(try bench.changes("changeType == 1") == [.update])
    #expect(try bench.changes("changedEntity == 'Employee'") == [.insert, .delete])
    #expect(try bench.changes("'firstName' IN updatedProperties") == [.update])
    #expect(try bench.changes("transaction.author == 'editor'") == [.delete])
    var request = PersistentHistoryChangeRequest.fetchHistory(
      withFetch: PersistentHistoryChange.fetchRequest(where: try Predicate(format: "changedEntity == 'Employee'")))
    let found = try #require(try bench.context.execute(request).transactions)
    #expect(found.map(\.transactionNumber) == [1, 3] && found.map { $0.changes?.count } == [1, 1])
    request.fetchLimit = 1
    #expect(try bench.context.execute(request).transactions?.map(\.transactionNumber) == [1])
    request.resultType = .transactionsOnly
    #expect(try bench.context.execute(request).transactions?.map { $0.changes == nil } == [true])
  }

  @Test(arguments: [true, false]) func textsBesideDatesAndObjectsAreTheseAsInFetches(_ inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    #expect(try bench.transactions("timestamp > '2001-01-01'") == [1, 2, 3])
    #expect(try bench.transactions("timestamp > '2100-01-01'") == [])
    #expect(try bench.changes("transaction.timestamp BETWEEN {'2100-01-01', '2101-01-01'}") == [])
    let ann = try #require(try bench.context.fetch(FetchRequest("Person")).first).objectID.uriRepresentation
    #expect(try bench.changes("changedObjectID == '\(ann)'") == [.insert, .update])
    #expect(try bench.changes("changedObjectID IN {'\(ann)'} AND changeType == 1") == [.update])
    let error = #expect(throws: GraphError.self) { try bench.changes("changedObjectID == 'x-coredata://A/Person/p1'") }
    #expect(error?.code == .predicateMismatch && error?.message.contains("x-coredata://A/Person/p1") == true)
    #expect(throws: (any Error).self) { try bench.changes("changeType == 'delete'") }
    #expect(throws: (any Error).self) { try bench.transactions("timestamp > 'yesterday'") }
  }

  @Test(arguments: [true, false]) func aTombstoneIsWhatIsLeftOfADeletedObject(_ inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    #expect(try bench.changes("tombstone != nil") == [.delete])
    #expect(try bench.changes("tombstone.firstName == 'Ben'") == [.delete])
    #expect(try bench.changes("tombstone == nil") == [.insert, .insert, .update])
  }

  @Test(
    arguments: [
      ("transaction.authr == 'x'", "a transaction of a history has no authr; did you mean author? (there are author, "),
      ("tombstone.fistName != nil", "a tombstone has no fistName; did you mean firstName? (there are firstName)"),
      ("tombstone.age == 1", "a tombstone has no age (there are firstName)"),
      ("timestamp > '2001-01-01'", "a change of a history has no timestamp; did you mean transaction.timestamp?"),
      ("changeTyp == 1", "(there are changeID, changeType, changedEntity, changedObjectID, tombstone, transaction, "),
    ]) func aMisspeltKeyIsNamedWithThoseThatThereAre(_ predicate: String, _ message: String) throws
  {
    let bench = try Bench(inMemory: true)
    let error = #expect(throws: GraphError.self) { try bench.changes(predicate) }
    #expect(error?.code == .unknownName && error?.message.contains(message) == true, "\(error as Any)")
  }

  @Test(arguments: [true, false]) func aTokenOfAnotherStoreIsRefusedWithBothStores(_ inMemory: Bool) throws {
    let (bench, other) = (try Bench(inMemory: inMemory), try Bench(inMemory: inMemory))
    let token = try #require(try other.context.coordinator.currentPersistentHistoryToken())
    let stores = [bench, other].flatMap(\.context.coordinator.persistentStores).map(\.identifier)
    for request in [PersistentHistoryChangeRequest.fetchHistory(after: token), .deleteHistory(before: token)] {
      let error = #expect(throws: GraphError.self) { try bench.context.execute(request) }
      #expect(error?.code == .invalidRequest)
      for store in stores { #expect(error?.message.contains(store) == true, "\(error as Any)") }
    }
    // A token for a store does not limit other stores that it contains.
    let both = PersistentHistoryToken([stores[0]: 2, stores[1]: 1])
    #expect(try bench.context.execute(.fetchHistory(after: both)).transactions?.map(\.transactionNumber) == [3])
  }

  @Test func whatAHistoryHasNotIsRefused() throws {
    let bench = try Bench(inMemory: true)
    #expect(throws: GraphError.self) { try bench.transactions("authr == 'x'") }
    #expect(throws: GraphError.self) { try bench.transactions("changeType == 1") }
    var request = PersistentHistoryChangeRequest.fetchHistory(withFetch: FetchRequest("Person"))
    #expect(throws: GraphError.self) { try bench.context.execute(request) }
    request.fetchRequest = FetchRequest(PersistentHistoryChange.entityName)
    request.fetchRequest?.fetchLimit = 1
    #expect(throws: GraphError.self) { try bench.context.execute(request) }
    var deletion = PersistentHistoryChangeRequest.deleteHistory(before: Date())
    deletion.fetchRequest = PersistentHistoryChange.fetchRequest(where: .constant(true))
    #expect(throws: GraphError.self) { try bench.context.execute(deletion) }
    #expect(try bench.transactions("TRUEPREDICATE") == [1, 2, 3])
  }

  @Test(arguments: [true, false]) func theLastTransactionsStay(_ inMemory: Bool) throws {
    let bench = try Bench(inMemory: inMemory)
    func delete(keeping count: Int) throws -> Int? {
      var request = PersistentHistoryChangeRequest.deleteHistory(keepingLast: count)
      request.resultType = .count
      return try bench.context.execute(request).count
    }
    let token = try bench.context.coordinator.currentPersistentHistoryToken()
    #expect(throws: GraphError.self) { try delete(keeping: 0) }
    #expect(try delete(keeping: 4) == 0 && delete(keeping: 3) == 0)
    #expect(try delete(keeping: 1) == 2)
    #expect(try bench.transactions("TRUEPREDICATE") == [3])
    #expect(try bench.context.execute(.fetchHistory(after: token)).transactions?.isEmpty == true)
  }

  /// Three transactions with two, one and one changes; the last one keeps a name of three bytes.
  @Test(arguments: [true, false]) func theLastBytesStayAndTheLastTransactionWhateverItIs(_ inMemory: Bool) throws {
    func left(of bytes: Int) throws -> [Int64] {
      let bench = try Bench(inMemory: inMemory)
      let all = try #require(try bench.context.execute(.fetchHistory(after: PersistentHistoryToken?.none)).transactions)
      #expect(all.map(\.size) == [256, 192, 195])
      var request = PersistentHistoryChangeRequest.deleteHistory(keepingBytes: bytes)
      request.resultType = .count
      let count = try bench.context.execute(request).count
      let numbers = try bench.transactions("TRUEPREDICATE")
      #expect(count == 3 - numbers.count)
      return numbers
    }
    #expect(throws: GraphError.self) { try left(of: 0) }
    #expect(try left(of: 643) == [1, 2, 3] && left(of: 642) == [2, 3])
    #expect(try left(of: 387) == [2, 3] && left(of: 386) == [3])
    #expect(try left(of: 1) == [3])
  }

  @Test func aTokenIsText() throws {
    let token = PersistentHistoryToken(["B": 2, "A": 17])
    #expect(token.description == "A:17,B:2" && PersistentHistoryToken(token.description) == token)
    for text in ["", "A", "A:", ":1", "A:1,", "A:1,A:2", "A:x"] {
      #expect(PersistentHistoryToken(text) == nil, "\(text)")
    }
  }
}
