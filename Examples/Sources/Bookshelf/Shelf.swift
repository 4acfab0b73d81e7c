import Foundation
import Moonbase

/// A book as requests and answers have it.
struct BookRecord: Codable, Sendable {
  var title: String
  var author: String?
  var pages: Int32?
  var status: Book.Status?
  /// The derived attribute of the extension.
  var label: String?
}

/// The books of a store.
final class Shelf: Sendable {
  private let container: PersistentContainer
  private let watch: ExtensionWatch

  /// `say` gets a line for each reload of the extensions.
  init(store: URL, extensions: URL, say: @escaping @Sendable (String) -> Void) throws {
    container = try PersistentContainer(
      model: BookshelfClasses.model, store: .sqlite(store), extensions: [.directory(extensions)],
      classes: BookshelfClasses.byName)
    watch = container.watchExtensions { outcome in say("\(outcome)") }
  }

  /// All books, or those of a status, by title.
  func books(_ status: Book.Status?) async throws -> [BookRecord] {
    try await container.withContext { context in
      let books = try context.fetch(
        Book.self, where: status.map { Book.status == $0 }, sort: [Book.title.ascending])
      return books.map(\.record)
    }
  }

  /// Saves a book. Throws what the model and the extensions refuse.
  func add(_ record: BookRecord) async throws -> BookRecord {
    try await container.withContext { context in
      let book = try Self.insert(record, into: context)
      try context.save()
      return book.record
    }
  }

  /// Saves many books, five hundred at a time, beside other requests. Returns how many there were.
  func add(all records: [BookRecord]) async throws -> Int {
    let background = try container.newBackgroundContext()
    var count = 0
    while count < records.count {
      let some = Array(records[count..<min(count + 500, records.count)])
      try await background.perform { context in
        for record in some { _ = try Self.insert(record, into: context) }
        try context.save()
        try context.reset()
      }
      count += some.count
    }
    return count
  }

  /// Says each save of this process, from now on, until the store is closed.
  func follow(_ say: @escaping @Sendable (String) -> Void) async {
    for await save in container.coordinator.saves {
      say("saved: \(save.inserted.count) new, \(save.updated.count) changed, \(save.deleted.count) deleted")
    }
  }

  private static func insert(_ record: BookRecord, into context: ManagedObjectContext) throws -> Book {
    let book = try context.insert(Book.self)
    book.title = record.title
    book.pages = record.pages ?? 0
    book.status = record.status ?? .wanted
    if let name = record.author {
      let known = try context.fetch(Author.self, where: Author.name == name).first
      let author = try known ?? context.insert(Author.self)
      author.name = name
      book.author = author
    }
    return book
  }

  @MainActor func close() throws {
    watch.cancel()
    try container.close()
  }
}

extension Book {
  fileprivate var record: BookRecord {
    BookRecord(title: title, author: author?.name, pages: pages, status: status, label: label)
  }
}
