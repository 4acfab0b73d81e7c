import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// A history that is narrowed by predicates, and bounded by its size.
@Suite struct HistoryFilterTests {
  /// Three saves by three authors, the second without one: two people, a change of one, a deletion of the other.
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
          ? InMemoryStore(model: model, keepsHistory: true)
          : SQLiteStore(url: folder.file(), model: model, options: .init(keepsHistory: true)))
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
    // As in a fetch, no author is another one only where absence is asked for.
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

  /// Of three transactions with two changes, one and one, of which the last keeps a name of three bytes.
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
