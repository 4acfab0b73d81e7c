// swift-format-ignore-file
// The lines are those of the documents.
import Moonbase
import MoonbaseLua
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The Swift code of documents that is compiled and not run. The code between `shown` and `end` is that of a document.
private enum DocumentSamples {
  private static func batch() throws {
    // shown
    var request = BatchUpdateRequest("Book")
    request.functionsToUpdate["title"] = BatchUpdateFunction(as: String.self) { $0.capitalized }
    request.functionsToUpdate["label"] = BatchUpdateFunction(of: "title", "pages") { .string("\($0[0]), \($0[1]) pages") }
    // end
    _ = request
  }

  private static func model() throws {
    // shown
    let model = ManagedObjectModel {
      EntityDescription("Person", class: "Person") {
        AttributeDescription("lastName", type: .string).required().length(1...80)
        AttributeDescription("age", type: .integer16).required(default: 0).between(0, 150)
        RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends").ordered()
        UniquenessConstraint("lastName")
      }
      EntityDescription("Employee", parent: "Person") {
        AttributeDescription("number", type: .integer32).required()
      }
    }
    // end
    _ = model
  }

  private static func predicates() throws {
    // shown
    let text = try Predicate(format: "age BETWEEN {%d, %d} AND name CONTAINS[cd] %@", 18, 65, "é")
    let swift = Expression.key("age").isBetween(18, 65)
      && Expression.key("name").contains("é", options: [.caseInsensitive, .diacriticInsensitive])
    print(text == swift)             // true
    print(text.description)          // age BETWEEN {18, 65} AND name CONTAINS[cd] "é"
    // end
  }

  private static func placeholders(prefix: String, bytes: Data) throws {
    // shown
    let typed = try Predicate(format: "born > %@ AND id = %@ AND price IN %@", .date(Date()), .uuid(UUID()), [.decimal(1), .decimal(2)])
    let named = try Predicate(format: "%K BEGINSWITH %@ AND data = %@", "name", .string(prefix), .data(bytes))
    // end
    _ = typed
    _ = named
  }

  private static func opening(at url: URL, model: ManagedObjectModel, in coordinator: PersistentStoreCoordinator) throws
  {
    // shown
    let store = try SQLiteStore(url: url, model: model.resolved())
    try coordinator.add(store)

    let metadata = try SQLiteStore.metadata(ofStoreAt: url)      // without opening it
    let model = try SQLiteStore.cachedModel(ofStoreAt: url)      // the model that the store carries
    // end
    _ = metadata
    _ = model
  }

  private static func migrating(at url: URL, to model: ResolvedModel) throws {
    // shown
    print(try SQLiteStore.migrationPlan(forStoreAt: url, to: model))       // what would be done; the file is only read
    try SQLiteStore.migrate(storeAt: url, to: model, allowsLoss: false)
    // end
  }

  private final class PersonPolicy: EntityMigrationPolicy {}

  private static func mapping(from url: URL, storeAt store: URL, to model: ResolvedModel) throws {
    // shown
    let mapping = try MappingModel(ModelSource(contentsOf: url))        // an .xcmappingmodel
    try SQLiteStore.migrate(storeAt: store, to: model, with: mapping, policies: ["App.PersonPolicy": PersonPolicy()])
    // end
  }

  @MainActor private static func watching(model: ManagedObjectModel, url: URL, folder: URL) throws {
    // shown
    let container = try PersistentContainer(model: model, store: .sqlite(url), extensions: [.directory(folder)])
    let watch = container.watchExtensions { outcome in print(outcome) }    // reloaded colors 1.1
    // end
    _ = watch
  }

  private static func limits(description: inout ContainerDescription, colorsURL: URL, palettesURL: URL) throws {
    // shown
    let limits = ExtensionLimits(instructions: 1_000_000, memory: 16 << 20, time: .milliseconds(500), onExceeding: .disable)
    description.extensions = [.file(colorsURL, limits: limits, grants: LuaFileAccess(readable: [palettesURL]))]
    description.extensionLimits = ["packages": ExtensionLimits(time: .seconds(2))]     // by the name of the extension, or of its file
    description.onExceeding = { excess in print(excess.name, excess.function, excess.limit, excess.place ?? "") }
    // end
  }

  // shown
  struct Book: KeyPathAnswering {
    var title: String
    var predicateValue: Value { .string(title) }
    func predicateAnswer(forKey key: String) throws -> PredicateAnswer<Book> { .value(key == "title" ? .string(title) : .null) }
  }
  // end

  private static func ownTypes(books: [Book]) throws {
    // shown
    let short = try CompiledPredicate(Predicate(format: "title.length < 5"))      // once, for many subjects
    let found = try books.filter { try short.evaluate(with: $0) }
    // end
    _ = found
  }

  private static func postgreSQL() {
    // shown
    let store = PersistentStoreDescription.postgreSQL(URL(string: "postgresql:///shop?schema=people")!)
    // end
    _ = store
  }
}
