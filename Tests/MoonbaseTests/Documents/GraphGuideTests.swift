import Moonbase
import MoonbasePlatform
import Testing

// shown
final class Author: ManagedObject {
  static let name = Attribute<Author, String>("name")
  var name: String { self[Self.name] }

  override class var keyPaths: [PropertyKeyPath] { [.init(\Author.name, name)] }
}

final class Book: ManagedObject {
  static let title = Attribute<Book, String>("title")
  static let pages = Attribute<Book, Int>("pages")
  static let cover = Attribute<Book, Color?>("cover")
  static let author = ToOne<Book, Author>("author")

  var title: String { self[Self.title] }
  var pages: Int {
    get { self[Self.pages] }
    set { self[Self.pages] = newValue }
  }
  var cover: Color? {
    get { self[Self.cover] }
    set { self[Self.cover] = newValue }
  }
  var author: Author? { self[Self.author] }

  /// The names for `#Predicate` and Foundation's sort descriptors.
  override class var keyPaths: [PropertyKeyPath] {
    [.init(\Book.title, title), .init(\Book.pages, pages), .init(\Book.author, author)]
  }

  /// The getter and the setter of the key `size`.
  override class var customAccessors: [CustomAccessor] {
    [CustomAccessor("size", of: Book.self, get: { try $0.size() }, set: { try $0.setSize($1) })]
  }

  private func size() throws -> Value {
    try willAccessValue(forKey: "size")
    let known = try primitiveValue(forKey: "size")
    try didAccessValue(forKey: "size")
    guard known.isNull, let text = try value(forKey: "sizeText").string else { return known }
    let made = Value.list(text.split(separator: "x").compactMap { Double($0) }.map(Value.double))
    // Primitive values are no change of the object.
    try setPrimitiveValue(made, forKey: "size")
    return made
  }

  private func setSize(_ value: Value) throws {
    try willChangeValue(forKey: "size")
    try setPrimitiveValue(value, forKey: "size")
    try didChangeValue(forKey: "size")
    guard case .list(let numbers) = value else { return try setValue(.null, forKey: "sizeText") }
    let text = numbers.compactMap { $0.double.map { "\($0)" } }.joined(separator: "x")
    try setValue(.string(text), forKey: "sizeText")
  }
}
// end

// shown
/// `place` is made when the row is read, and written when the object is saved.
final class Visit: ManagedObject {
  override func awakeFromFetch() throws {
    let text = try primitiveValue(forKey: "placeText").string
    let parts = text?.split(separator: ",").compactMap { Double($0) }.map(Value.double)
    try setPrimitiveValue(parts.map(Value.list) ?? .null, forKey: "place")
  }

  override func willSave() throws {
    let parts = try primitiveValue(forKey: "place").list?.compactMap(\.double)
    let text = parts.map { $0.map { "\($0)" }.joined(separator: ",") }
    try setPrimitiveValue(text.map(Value.string) ?? .null, forKey: "placeText")
  }
}
// end

// shown
/// A value of the program, as the attribute has it.
struct Color: AttributeValue {
  var red = 0.0
  var green = 0.0
  var blue = 0.0

  static var defaultWhenNull: Color { Color() }
  static func read(_ value: Value) -> Color? {
    guard let parts = value.list?.compactMap(\.double), parts.count == 3 else { return nil }
    return Color(red: parts[0], green: parts[1], blue: parts[2])
  }
  var attributeValue: Value { [.double(red), .double(green), .double(blue)] }
}

/// The bytes of such a value, which the store keeps.
let colorTransformer = ExtensionSource.transformer {
  Moonbase.ValueTransformer(
    "Color",
    transformedValue: { value in
      guard let color = Color.read(value) else { throw GraphError(.invalidValue, message: "\(value) is no color") }
      return .data(Data([color.red, color.green, color.blue].map { UInt8($0 * 255) }))
    },
    reverseTransformedValue: { bytes in .list((bytes.data ?? Data()).map { .double(Double($0) / 255) }) })
}
// end

/// The code of `docs/guide-graph.md`, compiled and run.
@Suite struct GraphGuideTests {
  @MainActor @Test func theGuideOfTheGraphRuns() async throws {
    let libraryURL = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    defer {
      for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: libraryURL.path + suffix) }
    }
    // shown
    var model = ManagedObjectModel {
      EntityDescription("Author", class: "Author") {
        AttributeDescription("name", type: .string).required()
        RelationshipDescription.toMany("books", destination: "Book", inverse: "author")
      }
      EntityDescription("Book", class: "Book") {
        AttributeDescription("title", type: .string).required()
        AttributeDescription("pages", type: .integer32).required(default: 0)
        AttributeDescription("sizeText", type: .string)
        AttributeDescription("size", type: .undefined).transient()
        AttributeDescription("cover", type: .transformable).transformed(by: "Color")
        RelationshipDescription.toOne("author", destination: "Author", inverse: "books")
      }
      EntityDescription("Visit", class: "Visit") {
        AttributeDescription("moment", type: .date)
        AttributeDescription("placeText", type: .string)
        AttributeDescription("place", type: .undefined).transient()
      }
    }
    model.configurations = ["Library": ["Author", "Book"], "Passing": ["Visit"]]
    // end

    // shown
    var library = PersistentStoreDescription.sqlite(libraryURL, configuration: "Library")
    library.tracksHistory = true
    var passing = PersistentStoreDescription.inMemory
    passing.configuration = "Passing"
    var description = ContainerDescription(model: .value(model), stores: [library, passing])
    description.classes = ["Author": Author.self, "Book": Book.self, "Visit": Visit.self]
    description.extensions = [colorTransformer]
    let container = try PersistentContainer(description, loadsStores: false)
    container.loadPersistentStores { store, error in
      if let error { print(store.url?.path ?? "in memory", error) }
    }
    // end
    #expect(container.coordinator.persistentStores.count == 2)

    // shown
    let context = try container.viewContext
    let verne = try context.insert(Author.self, values: ["name": "Verne"])
    let book = try context.insert(Book.self, values: ["title": "The Mysterious Island", "pages": 600])
    try book.setObject(verne, forKey: "author")
    try book.setValue(.list([12.5, 19.0]), forKey: "size")
    print(book["sizeText"])  // 12.5x19.0
    book.cover = Color(red: 1)
    try context.save()
    // end
    #expect(book["sizeText"] == "12.5x19.0")
    try context.refresh(book, mergeChanges: false)
    #expect(book.cover?.red == 1 && book.cover?.blue == 0 && !context.hasChanges)
    let visit = try context.insert(Visit.self, values: ["place": [48.5, 2.25]])
    try context.save()
    try context.refresh(visit, mergeChanges: false)
    #expect(visit["placeText"] == "48.5,2.25" && visit["place"] == [48.5, 2.25])
    try visit.setValue(.null, forKey: "place")
    try context.save()
    #expect(visit["placeText"].isNull && !context.hasChanges)

    // shown
    let long = try context.fetch(#Predicate<Book> { $0.pages > 300 && $0.author?.name == "Verne" })
    // end
    #expect(long == [book])

    // shown
    var columns = FetchRequest("Book")
    columns.propertiesToFetch = [
      FetchColumn("author.name"), FetchColumn("sum", expression: try .init(format: "@sum.pages")),
    ]
    columns.propertiesToGroupBy = ["author.name"]
    columns.havingPredicate = try Predicate(format: "sum > 100")
    let rows = try context.fetchDictionaries(columns)
    for row in rows { print(row["author.name"] ?? .null, row["sum"] ?? .null) }
    // end
    #expect(rows.map { $0["sum"] } == [600])

    // shown
    var request = Book.fetchRequest()
    request.sortDescriptors = [SortDescriptor("author.name"), SortDescriptor("title")]
    let controller = try FetchedResultsController(request, in: context, sectionNameKeyPath: "author.name")
    controller.didChangeContent = { change in for object in change.objects { print(object) } }
    try controller.performFetch()
    for section in controller.sections { print(section.name, section.objects.map(\.title)) }
    // end
    #expect(controller.sections.map(\.name) == ["Verne"])

    // shown
    context.undoManager = UndoManager()
    book.pages = 601
    try context.processPendingChanges()  // ends a group, as a save does
    try context.undo()
    print(book.pages)  // 600
    // end
    #expect(book.pages == 600)

    // shown
    let draft = ManagedObjectContext(parent: context)
    try draft.object(with: book.objectID).setValue(602, forKey: "pages")
    try draft.save()  // into the context, where it is an unsaved change
    print(book.pages)  // 602
    try context.save()
    // end
    #expect(book.pages == 602)

    // shown
    let token = try container.coordinator.currentPersistentHistoryToken()
    var update = BatchUpdateRequest("Book", where: try Predicate(format: "pages > 500"), set: ["title": "A long one"])
    update.resultType = .objectIDs
    if let changes = try context.execute(update).changes { try context.mergeChanges(from: changes) }
    print(book.title)  // A long one
    // end
    #expect(book.title == "A long one")

    // shown
    let history = try context.execute(.fetchHistory(after: token))
    for transaction in history.transactions ?? [] {
      for change in transaction.changes ?? [] { print(change.changedObjectID, change.updatedProperties) }
    }
    // end
    #expect(history.transactions?.flatMap { $0.changes ?? [] }.map(\.updatedProperties) == [["title"]])

    // shown
    let observation = context.observeSaves(didSave: { save in print(save.inserted.count, save.updated.count) })
    let saves = container.coordinator.saves  // an asynchronous sequence of IDs
    Task { for await saved in saves { print(saved.inserted, saved.updated, saved.deleted) } }
    observation.cancel()
    // end

    // shown
    let background = try container.newBackgroundContext()
    let progress = Progress(totalUnitCount: 0)
    var titles: [Value] = []
    for try await batch in background.batches(
      of: FetchRequest("Book"), size: 100, progress: progress, { book in book["title"] })
    {
      titles += batch
    }
    // end
    #expect(titles == ["A long one"])
    try await background.close()
  }

  @Test func theGuideOfTheGraphShowsThisVeryCode() throws {
    let blocks = try Documents.swiftBlocks(of: "docs/guide-graph.md")
    let shown = try Documents.shownPieces(ofSourceAt: #filePath)
    for piece in shown { #expect(blocks.contains(piece)) }
    #expect(blocks.count == shown.count)
  }
}
