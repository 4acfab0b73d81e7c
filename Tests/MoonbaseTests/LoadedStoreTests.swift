import Moonbase
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

/// Containers with several stores, some of which cannot be opened.
@Suite struct LoadedStoreTests {
  private var model: ManagedObjectModel {
    var entities = ["A", "B", "C"].map { EntityDescription($0) }
    for index in entities.indices { entities[index].attributes = [AttributeDescription("name", type: .string)] }
    var model = ManagedObjectModel(entities: entities)
    model.configurations = ["one": ["A"], "two": ["B"], "three": ["C"]]
    return model
  }

  /// Files by configuration, the second of which is no store.
  private func description(_ folder: TemporaryFolder) throws -> ContainerDescription {
    try Data("no store".utf8).write(to: folder.file("two"))
    let stores = ["one", "two", "three"].map { PersistentStoreDescription.sqlite(folder.file($0), configuration: $0) }
    return ContainerDescription(model: .value(model), stores: stores)
  }

  private func load(_ container: PersistentContainer) -> [(name: String?, code: GraphError.Code?)] {
    var told: [(String?, GraphError.Code?)] = []
    container.loadPersistentStores { told.append(($0.configuration, ($1 as? GraphError)?.code)) }
    return told
  }

  @Test func eachStoreIsToldAndTheOthersAreThere() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(description(folder), loadsStores: false)
    #expect(container.coordinator.persistentStores.isEmpty && container.persistentStoreDescriptions.count == 3)
    let told = load(container)
    #expect(told.map(\.name) == ["one", "two", "three"] && told.map(\.code) == [nil, .invalidStore, nil])
    #expect(try Data(contentsOf: folder.file("two")) == Data("no store".utf8))
    let context = try ManagedObjectContext(container.coordinator)
    try context.insert("A", values: ["name": "a"])
    try context.insert("C")
    try context.save()
    #expect(throws: GraphError.self) {
      try context.insert("B")
      try context.save()
    }
    try context.rollback()
    // Only the failed store is tried again.
    #expect(load(container).map(\.name) == ["two"])
    try FileManager.default.removeItem(at: folder.file("two"))
    let second = load(container)
    #expect(second.map(\.name) == ["two"] && second[0].code == nil && load(container).isEmpty)
    try context.insert("B")
    try context.save()
    // A removed store is opened again.
    try container.coordinator.remove(#require(container.coordinator.persistentStore(for: folder.file("one"))))
    #expect(load(container).map(\.name) == ["one"] && container.coordinator.persistentStores.count == 3)
    #expect(try ManagedObjectContext(container.coordinator).count(FetchRequest("A")) == 1)
  }

  @Test func aContainerThatOpensItsStoresOpensAllOrNone() throws {
    let folder = try TemporaryFolder()
    let description = try description(folder)
    let error = #expect(throws: GraphError.self) { try PersistentContainer(description) }
    #expect(error?.code == .invalidStore && error?.message.contains(folder.file("two").path) == true)
    // The first is closed and becomes an empty store; the third was not made.
    try SQLiteStore.destroy(storeAt: folder.file("one"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("three").path))
    #expect(throws: GraphError.self) { try PersistentContainer(description) }
    try FileManager.default.removeItem(at: folder.file("two"))
    #expect(try PersistentContainer(description).coordinator.persistentStores.count == 3)
  }

  @Test func storesAreOpenedWithinWhatTheyAreToldBy() throws {
    let folder = try TemporaryFolder()
    let container = try PersistentContainer(description(folder), loadsStores: false)
    var told: [String?] = []
    container.loadPersistentStores { outer, _ in
      told.append(outer.configuration)
      container.loadPersistentStores { inner, _ in told.append(inner.configuration) }
    }
    // The first notification's handler opens the third store and retries the second, which is then retried twice.
    #expect(told == ["one", "two", "three", "two", "two"] && container.coordinator.persistentStores.count == 2)
  }

  @Test(arguments: StoreKind.allCases) func aContainerKeepsAHistory(_ kind: StoreKind) throws {
    let folder = try TemporaryFolder()
    var store = kind == .memory ? PersistentStoreDescription.inMemory : .sqlite(folder.file("a"))
    store.tracksHistory = true
    if kind == .sqlite {
      (store.transactionAuthor, store.busyTimeout, store.allowsCloudKit) = ("tests", .milliseconds(10), true)
    }
    let container = try PersistentContainer(model: model, store: store)
    let context = try ManagedObjectContext(container.coordinator)
    try context.insert("A")
    try context.save()
    let found = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions
    #expect(found?.map(\.author) == [kind == .sqlite ? "tests" : nil])
  }

  @Test func whatAStoreInMemoryDoesNotKnowIsNamed() throws {
    let settings: [(String, WritableKeyPath<PersistentStoreDescription, Bool>)] = [
      ("isReadOnly", \.isReadOnly), ("allowsCloudKit", \.allowsCloudKit),
      ("synchronizesFully", \.synchronizesFully),
    ]
    var wrong: [(String, PersistentStoreDescription)] = settings.map { name, option in
      var store = PersistentStoreDescription.inMemory
      store[keyPath: option] = true
      return (name, store)
    }
    var store = PersistentStoreDescription.inMemory
    store.busyTimeout = .milliseconds(10)
    wrong.append(("busyTimeout", store))
    store = .inMemory
    store.transactionAuthor = "x"
    wrong.append(("transactionAuthor", store))
    store = .inMemory
    store.sqlLog = SQLLog { _ in }
    wrong.append(("sqlLog", store))
    store = .inMemory
    store.triggerStepLimit = 1
    wrong.append(("triggerStepLimit", store))
    store = .inMemory
    store.cacheSize = 1
    wrong.append(("cacheSize", store))
    for (name, store) in wrong {
      let error = #expect(throws: GraphError.self) { try PersistentContainer(model: model, store: store) }
      #expect(error?.code == .invalidRequest && error?.message.contains("has no \(name)") == true)
    }
  }

  @Test(arguments: [false, true])
  func aDescriptionSaysHowFilesAreSynchronizedAndWhoHearsOfStatements(_ isFull: Bool) throws {
    let folder = try TemporaryFolder()
    let lines = Lock<[String]>([])
    var store = PersistentStoreDescription.sqlite(folder.file("a"))
    store.sqlLog = SQLLog { entry in lines.withLock { $0.append(entry.sql) } }
    store.synchronizesFully = isFull
    let copy = store
    #expect(store == copy)
    let container = try PersistentContainer(model: model, store: store)
    let context = try ManagedObjectContext(container.coordinator)
    try context.insert("A")
    try context.save()
    let told = lines.withLock { $0 }
    #expect(told.contains { $0.hasPrefix("INSERT") })
    #expect(told.contains("PRAGMA synchronous = \(isFull ? "FULL" : "NORMAL")"), "\(told)")
  }

  /// A store locked by another connection is waited for as long as the description says: hardly at all, or longer than
  /// the default of five seconds.
  @Test func aBusyStoreIsWaitedForAsLongAsTheDescriptionSays() throws {
    let folder = try TemporaryFolder()
    let model = model
    let insert = { @Sendable (store: PersistentStoreDescription) in
      let context = try ManagedObjectContext(PersistentContainer(model: model, store: store).coordinator)
      try context.insert("A")
      try context.save()
    }
    var store = PersistentStoreDescription.sqlite(folder.file("a"))
    try insert(store)
    let second = try SQLiteStore(url: folder.file("a"), model: model.resolved())
    let session = try second.beginSave(author: nil)
    store.busyTimeout = .milliseconds(1)
    let error = #expect(throws: GraphError.self) { try insert(store) }
    #expect(error?.code == .storeBusy)
    store.busyTimeout = .milliseconds(60_000)
    // Uses threads, since waiting tasks would occupy the pool.
    let waiting = store
    let inserted = Lock<Result<Void, any Error>?>(nil)
    Thread {
      let result = Result { try insert(waiting) }
      inserted.withLock { $0 = result }
    }.start()
    sleep(6)
    session.abort()
    while inserted.withLock({ $0 == nil }) { usleep(2000) }
    try inserted.withLock { $0 }?.get()
  }
}
