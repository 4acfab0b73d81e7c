import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseTestSupport
import Testing

import struct MoonbaseModel.SortDescriptor

/// Fetched properties may cross stores; relationships may not.
@Suite struct AcrossStoresTests {
  private static let kinds: [(StoreKind, StoreKind)] = [(.memory, .memory), (.memory, .sqlite), (.sqlite, .sqlite)]

  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test(arguments: kinds) func aFetchedPropertyLeadsToAnotherStore(_ one: StoreKind, _ two: StoreKind) throws {
    var (author, book) = (EntityDescription("Author"), EntityDescription("Book"))
    author.attributes = [AttributeDescription("name", type: .string)]
    book.attributes = [AttributeDescription("author", type: .string), AttributeDescription("title", type: .string)]
    var books = FetchedPropertyDescription(
      "books", fetchRequest: try FetchRequest("Book", where: "author == $FETCH_SOURCE.name"))
    books.fetchRequest.sortDescriptors = [SortDescriptor("title")]
    author.fetchedProperties = [books]
    var model = ManagedObjectModel(entities: [author, book])
    model.configurations = ["One": ["Author"], "Two": ["Book"]]
    let coordinator = PersistentStoreCoordinator(model: try model.resolved())
    for (kind, configuration) in [(one, "One"), (two, "Two")] {
      try coordinator.add(kind.store(for: coordinator.model, configuration: configuration, in: folder))
    }
    let context = try ManagedObjectContext(coordinator)
    let ann = try context.insert("Author", values: ["name": "Ann"])
    for (title, name) in [("c", "Ann"), ("a", "Bo"), ("b", "Ann")] {
      try context.insert("Book", values: ["title": .string(title), "author": .string(name)])
    }
    for _ in 0..<2 {
      #expect(try ann.fetchedObjects(forKey: "books").map { $0["title"] } == ["b", "c"])
      try context.save()
    }
    #expect(Set(coordinator.persistentStores.map(\.identifier)).count == 2)
    #expect(ann.objectID.storeIdentifier == coordinator.persistentStores[0].identifier)
    let first = try #require(ann.fetchedObjects(forKey: "books").first)
    #expect(first.objectID.storeIdentifier == coordinator.persistentStores[1].identifier)
    // Unsaved changes are found in both stores.
    try first.setValue("Bo", forKey: "author")
    #expect(try ann.fetchedObjects(forKey: "books").map { $0["title"] } == ["c"])
    try ann.setValue("Bo", forKey: "name")
    #expect(try ann.fetchedObjects(forKey: "books").map { $0["title"] } == ["a", "b"])
  }

  /// Each way to set a relationship refuses an object of a store that is open only elsewhere.
  @Test(arguments: [StoreKind.memory, .sqlite]) func anObjectOfAStoreThatIsNotOpenHereIsRefused(_ kind: StoreKind)
    throws
  {
    let model = try People.model().resolved()
    let coordinators = [PersistentStoreCoordinator(model: model), PersistentStoreCoordinator(model: model)]
    for coordinator in coordinators { try coordinator.add(kind.store(for: model, in: folder)) }
    let (context, elsewhere) = (try ManagedObjectContext(coordinators[0]), try ManagedObjectContext(coordinators[1]))
    let department = try elsewhere.insert("Department")
    let other = try elsewhere.insert("Person")
    try elsewhere.save()
    let person = try context.insert("Person")
    let ways: [() throws -> Void] = [
      { try context.insert("Person", values: ["department": .objectID(department.objectID)]) },
      { try person.setValue(.objectID(department.objectID), forKey: "department") },
      { try person.setValue(.list([.objectID(other.objectID)]), forKey: "friends") },
    ]
    for (index, way) in ways.enumerated() {
      let error = #expect(throws: GraphError.self, "\(index)") { try way() }
      // The IDs of a list are looked up first.
      let expected: GraphError.Code = index == 2 ? .objectNotFound : .externalRelationship
      #expect(error?.code == expected, "\(index): \(String(describing: error))")
    }
    #expect(try context.count(FetchRequest("Person")) == 1)
    try context.save()
  }

  @Test(arguments: kinds) func aRelationshipAcrossStoresNamesBoth(_ one: StoreKind, _ two: StoreKind) throws {
    let coordinator = PersistentStoreCoordinator(model: try People.model().resolved())
    let stores = try [one, two].map { try $0.store(for: coordinator.model, in: folder) }
    for store in stores { try coordinator.add(store) }
    let context = try ManagedObjectContext(coordinator)
    let (person, department) = (try context.insert("Person"), try context.insert("Department"))
    try context.assign(department, to: stores[1])
    for _ in 0..<2 {
      let error = #expect(throws: GraphError.self) { try person.setObject(department, forKey: "department") }
      #expect(error?.code == .externalRelationship && error?.property == "department")
      for store in stores {
        let name = store.url?.relativePath ?? "store \(store.identifier)"
        #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
      }
      #expect(throws: GraphError.self) { try department.add(person, to: "employees") }
      #expect(try person.object(forKey: "department") == nil && department.objects(forKey: "employees").isEmpty)
      try context.save()
    }
  }
}
