import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport

/// Saves of every kind in a fixed sequence: books are inserted, changed, moved on their ordered shelves and deleted,
/// with tags, and with covers in external files.
struct ShelfScript {
  static let saves = Repetition.shelfSaves.count

  static func model() -> ManagedObjectModel {
    ManagedObjectModel {
      EntityDescription("Book") {
        AttributeDescription("title", type: .string)
        AttributeDescription("pages", type: .integer64)
        cover()
        RelationshipDescription.toOne("shelf", destination: "Shelf", inverse: "books")
        RelationshipDescription.toMany("tags", destination: "Tag", inverse: "books")
      }
      EntityDescription("Shelf") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toMany("books", destination: "Book", inverse: "shelf").ordered()
      }
      EntityDescription("Tag") {
        AttributeDescription("name", type: .string)
        RelationshipDescription.toMany("books", destination: "Book", inverse: "tags")
      }
    }
  }

  private static func cover() -> AttributeDescription {
    var cover = AttributeDescription("cover", type: .binaryData)
    cover.allowsExternalBinaryDataStorage = true
    return cover
  }

  let context: ManagedObjectContext
  private(set) var books: [ManagedObject] = []
  private var shelves: [ManagedObject] = []
  private var tags: [ManagedObject] = []
  private var random = SplitMix(12)

  init(_ context: ManagedObjectContext) { self.context = context }

  /// The bytes of a cover, of which some are large enough for a file.
  static func cover(_ number: Int) -> Data {
    Data(repeating: UInt8(truncatingIfNeeded: number), count: 120_000 + number)
  }

  /// Makes the changes of a save.
  mutating func change(_ number: Int) throws {
    if number < 3 {
      shelves.append(try context.insert("Shelf", values: ["name": .string("shelf \(number)")]))
      tags.append(try context.insert("Tag", values: ["name": .string("tag \(number)")]))
    }
    for part in 0...random.next(2) { try insert("book \(number).\(part)", number) }
    guard number > 2 else { return }
    let book = books[random.next(books.count)]
    try book.setValue(.string("changed \(number)"), forKey: "title")
    try book.setObject(shelves[random.next(3)], forKey: "shelf")
    try books[random.next(books.count)].setObjects([tags[random.next(3)]], forKey: "tags")
    // Longer than a page.
    if number % 6 == 0 {
      try book.setValue(.string(String(repeating: "\(number) ", count: 9000)), forKey: "title")
    }
    if number % 4 == 1 { try books[random.next(books.count)].setValue(.data(Self.cover(number)), forKey: "cover") }
    if number % 5 == 4 { try context.delete(books.remove(at: random.next(books.count))) }
  }

  private mutating func insert(_ title: String, _ number: Int) throws {
    let book = try context.insert("Book", values: ["title": .string(title), "pages": .int(Int64(number))])
    try book.setObject(shelves[random.next(shelves.count)], forKey: "shelf")
    try book.setObjects([tags[random.next(tags.count)]], forKey: "tags")
    if number % 3 == 0 { try book.setValue(.data(Self.cover(number)), forKey: "cover") }
    books.append(book)
  }

  /// The observable state of the context: inserted, changed and deleted objects, and every value.
  func state() throws -> [String] {
    let marks =
      context.insertedObjects.map { "new \($0.objectID)" } + context.updatedObjects.map { "changed \($0.objectID)" }
      + context.deletedObjects.map { "deleted \($0.objectID)" }
    let values = try (books + shelves + tags).map { object in
      try "\(object.objectID) "
        + object.entity.properties.map { property in
          if case .toMany(let relationship) = property.kind {
            let ids = try object.objects(forKey: property.name).map { "\($0.objectID)" }
            return "\(property.name) \(relationship.isOrdered ? ids : ids.sorted())"
          }
          return "\(property.name) \(try object.value(forKey: property.name))"
        }.joined(separator: ", ")
    }
    return marks.sorted() + values
  }
}
