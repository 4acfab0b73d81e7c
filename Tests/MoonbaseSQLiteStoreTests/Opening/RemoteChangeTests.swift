import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@testable import MoonbaseSQLiteStore
import MoonbaseHistory

/// Notifications of a store about other writers of its file.
@Suite struct RemoteChangeTests {
  private let folder: TemporaryFolder
  private let model: ResolvedModel

  init() throws {
    folder = try TemporaryFolder()
    model = try People.model().resolved()
  }

  private func open(readOnly: Bool = false) throws -> (ManagedObjectContext, SQLiteStore) {
    let coordinator = PersistentStoreCoordinator(model: model)
    let store = try SQLiteStore(
      url: folder.file(), model: model, options: .init(readOnly: readOnly, tracksHistory: !readOnly))
    try coordinator.add(store)
    return (try ManagedObjectContext(coordinator), store)
  }

  private func save(_ context: ManagedObjectContext) throws {
    try context.insert("Person", values: ["age": 30])
    try context.save()
  }

  @Test func savesOfOthersAreNewsAndOwnOnesAreNot() throws {
    let (context, store) = try open()
    let (other, _) = try open()
    let watch = RemoteChangeWatch(store)
    #expect(watch.look(at: store) == nil)
    try save(context)
    #expect(watch.look(at: store) == nil)
    try save(other)
    let news = try #require(watch.look(at: store))
    #expect(news.storeID == store.identifier && news.url == store.url)
    #expect(news.historyToken?.transactionNumbers == [store.identifier: 2])
    #expect(watch.look(at: store) == nil)
  }

  @Test func aStoreThatIsOnlyReadHearsOfAllSaves() throws {
    let (context, _) = try open()
    try save(context)
    let (_, reader) = try open(readOnly: true)
    let watch = RemoteChangeWatch(reader)
    #expect(watch.look(at: reader) == nil)
    try save(context)
    #expect(watch.look(at: reader) != nil)
  }

  @Test func aCoordinatorTellsOfThemAsTheyCome() async throws {
    let (context, store) = try open()
    let (other, _) = try open()
    let changes = context.coordinator.remoteChanges
    try save(context)
    try save(other)
    var iterator = changes.makeAsyncIterator()
    let news = try #require(await iterator.next())
    #expect(news.historyToken?.transactionNumbers == [store.identifier: 2])
    // The notification's token identifies the saved transactions.
    let token = PersistentHistoryToken([store.identifier: 1])
    #expect(try context.execute(.fetchHistory(after: token)).transactions?.count == 1)
  }

  @Test func storesThatNobodyElseCanWriteHaveNoSuchNews() async throws {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(InMemoryStore(model: model))
    var iterator = coordinator.remoteChanges.makeAsyncIterator()
    #expect(await iterator.next() == nil)
  }
}
