import MoonbaseGraph
import MoonbaseBatchRequests
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Files in which a reference and a row name different entities of one table: the row is right, and there is a single
/// object.
@Suite struct IdentityTests {
  let folder: TemporaryFolder
  let model: ResolvedModel
  let coordinator: PersistentStoreCoordinator

  /// Two books, of which the second is a graphic novel, and three pages of the first.
  init() throws {
    folder = try TemporaryFolder()
    var book = EntityDescription("Book")
    book.attributes = [AttributeDescription("title", type: .string)]
    book.relationships = [.toMany("pages", destination: "Page", inverse: "book")]
    var novel = EntityDescription("GraphicNovel")
    novel.superentityName = "Book"
    novel.attributes = [AttributeDescription("artist", type: .string)]
    var page = EntityDescription("Page")
    page.attributes = [AttributeDescription("number", type: .integer16)]
    page.relationships = [.toOne("book", destination: "Book", inverse: "pages")]
    model = try ManagedObjectModel(entities: [book, novel, page]).resolved()
    coordinator = try Self.coordinator(folder, model)
    let context = try ManagedObjectContext(Self.coordinator(folder, model))
    let first = try context.insert("Book", values: ["title": "plain"])
    try context.save()
    try context.insert("GraphicNovel", values: ["title": "drawn", "artist": "Ann"])
    for number in 1...3 {
      try context.insert("Page", values: ["number": .int(Int64(number))]).setObject(first, forKey: "book")
    }
    try context.save()
  }

  private static func coordinator(
    _ folder: TemporaryFolder, _ model: ResolvedModel
  ) throws -> PersistentStoreCoordinator {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(SQLiteStore(url: folder.file(), model: model, options: .init(tracksHistory: true)))
    return coordinator
  }

  private func raw(_ sql: String) throws { try RawDatabase(folder.file()).connection.executeScript(sql) }

  /// The number of an entity in the file.
  private func number(_ entity: String) throws -> String {
    try RawDatabase(folder.file()).value("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = '\(entity)'") ?? ""
  }

  private func makeStale() throws { try raw("UPDATE ZPAGE SET Z1_BOOK = \(number("GraphicNovel")) WHERE Z_PK = 2") }

  private func objects(_ entity: String, _ context: ManagedObjectContext) throws -> [ManagedObject] {
    var request = FetchRequest(entity)
    request.sortDescriptors = [SortDescriptor(entity == "Page" ? "number" : "title", ascending: entity == "Page")]
    return try context.fetch(request)
  }

  @Test(arguments: [
    "(SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'GraphicNovel')", "NULL", "0", "77", "'2x'", "x'01'",
  ])
  func aStaleNumberBesideAKeyLeadsToTheOneObject(_ number: String) throws {
    try raw("UPDATE ZPAGE SET Z1_BOOK = \(number) WHERE Z_PK = 2")
    // Either may be read first.
    for readsPagesFirst in [true, false] {
      let context = try ManagedObjectContext(Self.coordinator(folder, model))
      let books = readsPagesFirst ? [] : try objects("Book", context)
      let pages = try objects("Page", context)
      #expect(try pages.map { try $0.value(forKey: "book").objectID?.entityName } == ["Book", "Book", "Book"])
      let found = try #require(try pages[1].object(forKey: "book"))
      #expect(try found === pages[0].object(forKey: "book"))
      #expect(try found.value(forKey: "title") == "plain")
      if let first = books.first { #expect(found === first) }
      #expect(try Set(found.objects(forKey: "pages")) == Set(pages))
      #expect(try context.fetch(FetchRequest("Page", where: "book == %@", .objectID(found.objectID))).count == 3)
      withExtendedLifetime(books) {}
    }
  }

  @Test func whatIsReadAheadIsTheOneObjectToo() throws {
    try makeStale()
    var request = FetchRequest("Page")
    request.relationshipKeyPathsForPrefetching = ["book", "book.pages"]
    let context = try ManagedObjectContext(coordinator)
    let pages = try context.fetch(request)
    let books = try pages.map { try #require(try $0.object(forKey: "book")) }
    #expect(Set(books).count == 1 && books.allSatisfy { $0.hasChanges == false })
    #expect(try books[0].objects(forKey: "pages").count == 3)
    var walked = 0
    for page in try ManagedObjectContext(coordinator).fetchedObjects(request) {
      #expect(try page.object(forKey: "book")?.value(forKey: "title") == "plain")
      walked += 1
    }
    #expect(walked == 3)
  }

  @Test func aPageThatMovesLeavesTheOneBookAndTheFileSaysWhatIs() throws {
    try makeStale()
    let context = try ManagedObjectContext(coordinator)
    let (books, pages) = (try objects("Book", context), try objects("Page", context))
    let (plain, drawn) = (books[0], books[1])
    #expect(try plain.objects(forKey: "pages").count == 3)
    try pages[1].setObject(drawn, forKey: "book")
    #expect(try plain.objects(forKey: "pages").count == 2 && drawn.objects(forKey: "pages") == [pages[1]])
    try context.save()
    #expect(
      try RawDatabase(folder.file()).rows("SELECT ZBOOK || '/' || Z1_BOOK FROM ZPAGE WHERE Z_PK = 2")
        == ["2/\(number("GraphicNovel"))"])
    try plain.add(pages[1], to: "pages")
    try context.save()
    #expect(
      try RawDatabase(folder.file()).rows("SELECT ZBOOK || '/' || Z1_BOOK FROM ZPAGE WHERE Z_PK = 2")
        == ["1/\(number("Book"))"])
  }

  @Test func aDeletionReachesThePageThatNamesItWrongly() throws {
    try makeStale()
    let context = try ManagedObjectContext(coordinator)
    let pages = try objects("Page", context)
    try context.delete(objects("Book", context)[0])
    try context.save()
    #expect(try pages.allSatisfy { try $0.object(forKey: "book") == nil })
    #expect(try RawDatabase(folder.file()).value("SELECT COUNT(*) FROM ZPAGE WHERE ZBOOK IS NOT NULL") == "0")
  }

  @Test func refreshesAndConflictsAreOfTheOneObject() throws {
    try makeStale()
    let (mine, theirs) = (try ManagedObjectContext(coordinator), try ManagedObjectContext(coordinator))
    let book = try #require(try objects("Page", mine)[1].object(forKey: "book"))
    #expect(try book.value(forKey: "title") == "plain")
    try #require(try objects("Page", theirs)[1].object(forKey: "book")).setValue("theirs", forKey: "title")
    try theirs.save()
    try book.setValue("mine", forKey: "title")
    let error = #expect(throws: GraphError.self) { try mine.save() }
    #expect(error?.code == .mergeConflict && error?.objectID == book.objectID && error?.objectID?.entityName == "Book")
    try mine.refresh(book, mergeChanges: false)
    #expect(try book.value(forKey: "title") == "theirs")
    #expect(try mine.existingObject(with: book.objectID) === book)
  }

  @Test func whatABatchRequestTellsAndTheHistoryAreOfTheOneObject() throws {
    try makeStale()
    // The history names the entity that the row had before.
    try raw("UPDATE ACHANGE SET ZENTITY = \(number("GraphicNovel")) WHERE ZENTITY = \(number("Book"))")
    let context = try ManagedObjectContext(coordinator)
    defer { withExtendedLifetime(context) {} }
    let books = try objects("Book", context)
    var request = BatchUpdateRequest("Book", set: ["title": "same"])
    request.resultType = .objectIDs
    #expect(try Set(context.execute(request).objectIDs ?? []) == Set(books.map(\.objectID)))
    let history = try context.execute(PersistentHistoryChangeRequest.fetchHistory(after: nil))
    let changes = (history.transactions ?? []).flatMap { $0.changes ?? [] }
    #expect(Set(changes.map(\.changedObjectID)).isSuperset(of: books.map(\.objectID)))
    #expect(changes.filter { $0.changedObjectID.key == 1 && $0.changedObjectID.entityName == "GraphicNovel" }.isEmpty)
  }
}
