import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// A walk over a history reads a few changes at a time, in memory and in a file.
@Suite struct HistoryWalkTests {
  /// A context over a store with a history; owns the folder.
  private final class Bench {
    let context: ManagedObjectContext
    private let folder: TemporaryFolder

    init(inFile: Bool) throws {
      let model = try People.model().resolved()
      folder = try TemporaryFolder()
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(
        inFile
          ? SQLiteStore(url: folder.file(), model: model, options: .init(tracksHistory: true))
          : InMemoryStore(model: model, tracksHistory: true))
      context = try ManagedObjectContext(coordinator)
    }

    func insert(_ counts: Int...) throws {
      for count in counts {
        for _ in 0..<count { try context.insert("Person") }
        try context.save()
      }
    }

    func transactions() throws -> [PersistentHistoryTransaction] {
      try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil)).transactions ?? []
    }
  }

  private func rest(
    of walk: inout HistoryWalk
  ) throws -> (numbers: [Int64], changes: [PersistentHistoryChange], most: Int) {
    var result: (numbers: [Int64], changes: [PersistentHistoryChange], most: Int) = ([], [], 0)
    while let found = try walk.next() {
      let changes = found.flatMap { $0.changes ?? [] }
      result.numbers += found.map(\.transactionNumber)
      result.changes += changes
      result.most = max(result.most, changes.count)
    }
    return result
  }

  @Test(arguments: [false, true]) func aTransactionOfManyChangesComesInParts(_ inFile: Bool) throws {
    let bench = try Bench(inFile: inFile)
    try bench.insert(3, 10_000, 1)
    var walk = try HistoryWalk(bench.context, from: .token(nil))
    let read = try rest(of: &walk)
    #expect(read.numbers == [1, 2, 2, 2, 3] && read.most == 4096)
    #expect(try read.changes == bench.transactions().flatMap { $0.changes ?? [] })
    #expect(try walk.next() == nil)
  }

  @Test(arguments: [false, true]) func aPartThatIsTheWholeTransactionComesOnce(_ inFile: Bool) throws {
    let bench = try Bench(inFile: inFile)
    try bench.insert(4096, 2)
    var walk = try HistoryWalk(bench.context, from: .token(nil))
    let read = try rest(of: &walk)
    #expect(read.numbers == [1, 2] && read.changes.count == 4098)
  }

  @Test(arguments: [false, true]) func aWalkFromADateHasWhatWasSavedLater(_ inFile: Bool) throws {
    let bench = try Bench(inFile: inFile)
    try bench.insert(2, 2)
    let date = Date()
    usleep(2000)
    try bench.insert(5000, 1)
    var walk = try HistoryWalk(bench.context, from: .date(date))
    let read = try rest(of: &walk)
    #expect(read.numbers == [3, 3, 4] && read.changes.count == 5001)
    var end = try HistoryWalk(bench.context, from: .date(Date(timeIntervalSinceNow: 60)))
    #expect(try rest(of: &end).numbers.isEmpty)
  }

  @Test(arguments: [false, true]) func aHistoryThatIsDeletedMeanwhileEndsTheWalk(_ inFile: Bool) throws {
    let bench = try Bench(inFile: inFile)
    try bench.insert(5000, 1, 1)
    var walk = try HistoryWalk(bench.context, from: .token(nil))
    #expect(try walk.next()?.map(\.transactionNumber) == [1])
    try bench.context.execute(PersistentHistoryChangeRequest.deleteHistory(keepingLast: 1))
    let error = #expect(throws: GraphError.self) { try walk.next() }
    #expect(error?.code == .historyTokenExpired)
  }
}
