import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Copies of the objects in memory, in a file, and unsaved over an empty file, in which a predicate must find the same
/// objects.
struct Worlds {
  let folder: TemporaryFolder
  let model: ResolvedModel
  let store: SQLiteStore
  let memory: ManagedObjectContext
  let file: ManagedObjectContext
  let unsaved: ManagedObjectContext

  /// A thing has numbers of each kind, text, a box, and marks shared with other things.
  static func description() -> ManagedObjectModel {
    var thing = EntityDescription("Thing")
    thing.attributes = [
      AttributeDescription("name", type: .string), AttributeDescription("text", type: .string),
      AttributeDescription("price", type: .decimal), AttributeDescription("ratio", type: .float),
      AttributeDescription("score", type: .double), AttributeDescription("whole", type: .integer64),
      AttributeDescription("flag", type: .boolean), AttributeDescription("born", type: .date),
      AttributeDescription("key", type: .uuid),
      AttributeDescription("bytes", type: .binaryData),
    ]
    thing.indexes = [
      FetchIndexDescription("byText", elements: [FetchIndexDescription.Element("text")]),
      FetchIndexDescription("byPrice", elements: [FetchIndexDescription.Element("price")]),
    ]
    thing.relationships = [
      .toOne("box", destination: "Box", inverse: "things"), .toOne("boss", destination: "Thing", inverse: "staff"),
      .toMany("staff", destination: "Thing", inverse: "boss"), .toMany("marks", destination: "Mark", inverse: "things"),
    ]
    var box = EntityDescription("Box")
    box.attributes = [AttributeDescription("name", type: .string)]
    box.relationships = [.toMany("things", destination: "Thing", inverse: "box")]
    var mark = EntityDescription("Mark")
    mark.attributes = [AttributeDescription("rank", type: .integer64)]
    mark.relationships = [.toMany("things", destination: "Thing", inverse: "marks")]
    return ManagedObjectModel(entities: [thing, box, mark])
  }

  /// Makes the objects by `fill` in each world.
  init(_ fill: (ManagedObjectContext) throws -> Void) throws {
    folder = try TemporaryFolder()
    model = try Self.description().resolved()
    let memoryCoordinator = PersistentStoreCoordinator(model: model)
    try memoryCoordinator.add(InMemoryStore(model: model))
    store = try SQLiteStore(url: folder.file("saved.sqlite"), model: model)
    let fileCoordinator = PersistentStoreCoordinator(model: model)
    try fileCoordinator.add(store)
    let emptyCoordinator = PersistentStoreCoordinator(model: model)
    try emptyCoordinator.add(SQLiteStore(url: folder.file("empty.sqlite"), model: model))
    for coordinator in [memoryCoordinator, fileCoordinator] {
      let context = try ManagedObjectContext(coordinator)
      try fill(context)
      try context.save()
    }
    memory = try ManagedObjectContext(memoryCoordinator)
    file = try ManagedObjectContext(fileCoordinator)
    unsaved = try ManagedObjectContext(emptyCoordinator)
    try fill(unsaved)
  }

  /// Makes things with these values, named by their index.
  init(_ key: String, _ values: [Value]) throws {
    try self.init { context in
      for (index, value) in values.enumerated() {
        let thing = try context.insert("Thing")
        try thing.setValue(.string("\(index)"), forKey: "name")
        try thing.setValue(value, forKey: key)
      }
    }
  }

  func names(_ context: ManagedObjectContext, _ predicate: Predicate, _ sort: [SortDescriptor] = []) throws -> [String]
  {
    var request = FetchRequest("Thing", where: predicate)
    request.sortDescriptors = sort
    let found = try context.fetch(request).map { "\(try $0.value(forKey: "name").text ?? "")" }
    return sort.isEmpty ? found.sorted() : found
  }

  /// Expects all worlds to find the same objects, and returns their names.
  @discardableResult
  func agree(
    _ predicate: Predicate, _ sort: [SortDescriptor] = [], _ location: Testing.SourceLocation = #_sourceLocation
  ) throws -> [String] {
    let expected = try names(memory, predicate, sort)
    #expect(try names(file, predicate, sort) == expected, "in the file: \(predicate)", sourceLocation: location)
    #expect(try names(unsaved, predicate, sort) == expected, "unsaved: \(predicate)", sourceLocation: location)
    return expected
  }

  @discardableResult
  func agree(_ text: String, _ arguments: Value..., at location: Testing.SourceLocation = #_sourceLocation) throws
    -> [String]
  {
    try agree(Predicate(format: text, arguments: arguments), [], location)
  }

  /// Whether the file's store evaluates the whole predicate in SQL.
  func isInSQL(_ predicate: Predicate) throws -> Bool {
    let query = StoreQuery(entity: model.entity("Thing")!, in: model)
    return try store.canEvaluate(FetchRequest("Thing", where: predicate).checked(in: model).predicate!, for: query)
  }
}

extension Worlds {
  /// The statements that the store of the file runs during `body`.
  func statements(_ body: () throws -> Void) throws -> [String] {
    let log = Lock<[String]>([])
    store.statements.listen { sql in log.withLock { $0.append(sql) } }
    defer { store.statements.listen(nil) }
    try body()
    return log.withLock { $0 }.filter { $0.contains("WHERE") }
  }
}
