import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Notifications in an app about another process's saves to its store.
@Suite struct RemoteSaveTests {
  @Test(arguments: [true, false])
  func savesOfAnotherProcessAreNewsThatLeadToWhatWasSaved(tracksHistory: Bool) async throws {
    let bench = try Workbench()
    let url = bench.file("s.sqlite")
    let model = ManagedObjectModel {
      EntityDescription("P") { AttributeDescription("i", type: .integer64) }
    }
    var store = PersistentStoreDescription.sqlite(url)
    store.tracksHistory = tracksHistory
    let container = try PersistentContainer(model: model, store: store)
    let context = try ManagedObjectContext(container.coordinator)
    try context.insert("P", values: ["i": 1])
    try context.save()
    let changes = container.coordinator.remoteChanges
    var iterator = changes.makeAsyncIterator()
    for number in 2...4 {
      let run = try bench.moonbase(
        "run", "--store", "s.sqlite", "-e",
        "local c = moonbase.context c:insert('P', { i = \(number) }) assert(c:save())")
      #expect(run.status == 0, "\(run.complaints)")
      let news = try #require(await iterator.next())
      #expect(news.url == url)
      #expect(try context.count(FetchRequest("P")) == number)
      guard tracksHistory else { continue }
      let token = try #require(news.historyToken)
      #expect(token.transactionNumbers.values.first == Int64(number))
      let saved = try context.execute(.fetchHistory(after: PersistentHistoryToken([news.storeID: Int64(number - 1)])))
      #expect(saved.transactions?.flatMap { $0.changes ?? [] }.count == 1)
    }
  }
}
