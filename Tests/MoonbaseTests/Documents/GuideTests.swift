import Moonbase
import MoonbasePlatform
import MoonbaseStoreKit
import Synchronization
import Testing

// shown
final class Person: ManagedObject {
  static let name = Attribute<Person, String>("name")
  static let age = Attribute<Person, Int>("age")
  static let friends = ToMany<Person, Person>("friends")

  var name: String {
    get { self[Self.name] }
    set { self[Self.name] = newValue }
  }
  var age: Int {
    get { self[Self.age] }
    set { self[Self.age] = newValue }
  }
  var friends: [Person] {
    get { self[Self.friends] }
    set { self[Self.friends] = newValue }
  }

  override func validateForInsert() throws {
    if name == "nobody" { throw GraphError(.validation, message: "nobody is no name") }
  }
}
// end

// shown
/// A store that counts what is read, and leaves the work to another one.
final class CountingStore: PersistentStore {
  private let base: any PersistentStore
  private let reads = Mutex(0)

  init(_ base: any PersistentStore) { self.base = base }

  var rowsRead: Int { reads.withLock { $0 } }

  fileprivate func counted(_ rows: [Snapshot]) -> [Snapshot] {
    reads.withLock { $0 += rows.count }
    return rows
  }

  var identifier: String { base.identifier }
  var type: String { "Counting" }
  var url: URL? { base.url }
  var isReadOnly: Bool { base.isReadOnly }
  var entities: [ResolvedEntity] { base.entities }
  func metadata() throws -> [String: Value] { try base.metadata() }

  // What a store does not take over, the context does in memory.
  func plan(_ query: StoreQuery) throws -> QueryPlan { try base.plan(query) }

  func beginReading(_ extent: ReadScope) throws -> any ReadSession {
    CountingView(try base.beginReading(extent), of: self)
  }

  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    try base.reserveKeys(for: entity, count: count)
  }
  func beginSave(author: String?) throws -> any SaveSession { try base.beginSave(author: author) }
}

/// One state of the base, as it is read.
private final class CountingView: ReadSession {
  private let base: any ReadSession
  private let store: CountingStore

  init(_ base: any ReadSession, of store: CountingStore) { (self.base, self.store) = (base, store) }

  var canBeHeldOpen: Bool { base.canBeHeldOpen }
  func rows(matching query: StoreQuery) throws -> any RowCursor { RowList(try snapshots(matching: query)) }
  func snapshots(matching query: StoreQuery) throws -> [Snapshot] {
    store.counted(try base.snapshots(matching: query))
  }
  func ids(matching query: StoreQuery) throws -> any IDCursor { try base.ids(matching: query) }
  func values(matching query: StoreQuery) throws -> any RowCursor { try base.values(matching: query) }
  func count(matching query: StoreQuery) throws -> Int { try base.count(matching: query) }

  func snapshot(of id: ManagedObjectID) throws -> Snapshot? { try snapshots(of: [id]).first }
  func snapshots(of ids: [ManagedObjectID]) throws -> [Snapshot] { store.counted(try base.snapshots(of: ids)) }
  func destinations(of id: ManagedObjectID, relationship slot: Int) throws -> [ManagedObjectID] {
    try base.destinations(of: id, relationship: slot)
  }
  func end() { base.end() }
}
// end

// shown
class Animal: ManagedObject {
  enum Keys { static let legs = Attribute<Animal, Int>("legs") }
}

extension TypedObject where Self: Animal {
  static var legs: Attribute<Self, Int> { Attribute(Animal.Keys.legs) }
}
// end

/// The code of `docs/guide.md`, compiled and run.
@Suite struct GuideTests {
  @MainActor @Test func theGuideRuns() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: url.path + suffix) } }
    let storeURL = url
    // shown
    let model = ManagedObjectModel {
      EntityDescription("Person", class: "Person") {
        AttributeDescription("name", type: .string).required()
        AttributeDescription("age", type: .integer16).required(default: 0).between(0, 150)
        AttributeDescription("initials", type: .string).with { $0.isTransient = true }
        RelationshipDescription.toMany("friends", destination: "Person", inverse: "friends")
      }
    }
    // end

    // shown
    let container = try PersistentContainer(
      model: model, store: .sqlite(storeURL), extensions: Self.extensions, classes: ["Person": Person.self])
    // end

    // shown
    let context = try container.viewContext
    let scarlet = try context.insert(Person.self, values: ["name": "Captain Scarlet", "age": 32])
    let blue = try Person(context: context)
    blue.name = "Captain Blue"
    blue.age = 28
    blue.friends = [scarlet]
    try context.save()
    // end

    // shown
    let (name, age) = ("Lieutenant Green", 25)
    let green = try context.insert(Person.self, values: ["name": name, "age": age, "friends": [scarlet, blue]])
    try green.setValuesForKeys(["age": age + 1, "friends": nil])
    let peers = try context.fetch(Person.self, where: "age >= %@ AND name != %@", age, name)
    // end
    #expect(Set(peers) == [scarlet, blue] && green.age == 26 && green.friends.isEmpty)

    // shown
    let token = try scarlet.observe("age") { change in print(change.old, "->", change.new) }
    let friends = try scarlet.mutableSet(Person.friends)
    try friends.formUnion([blue])
    let mean = try scarlet.value(forKeyPath: "friends.@avg.age").double
    scarlet.age = 33
    token.cancel()
    // end
    #expect(mean == 28)

    // shown
    do {
      try scarlet.setValue(200, forKey: "age")
      try context.save()
    } catch let error as GraphError {
      print(error.code, error.entity ?? "", error.property ?? "", error)
      try context.rollback()
    }
    // end
    #expect(scarlet.age == 32 && !scarlet.hasChanges)

    // shown
    var request = Person.fetchRequest()
    request.predicate = try Predicate(format: "age > 20 AND ANY friends.name BEGINSWITH 'Captain'")
    request.sortDescriptors = [SortDescriptor("age", ascending: false)]
    request.fetchLimit = 10
    for person in try context.fetch(request) { print(person.name, person.friends.map(\.name)) }
    let number = try context.count(request)
    let adults = try context.fetch(Person.self, where: "age >= %@", 18)  // [Person]
    // end
    #expect(adults.count == 2)
    #expect(number == 2)

    // shown
    let captains = try context.fetch(
      Person.self, where: Person.age > 20 && Person.name.beginsWith("captain", .caseInsensitive),
      sort: [Person.age.descending, Person.name.ascending(.localizedStandardCompare)])
    let known = try context.count(Person.self, where: Person.friends.any(\.age > 30) || Person.friends.count > 5)
    // end
    #expect(captains == [scarlet, blue] && known == 1)
    #expect(try (Animal.legs > 3).predicate == Predicate(format: "legs > 3"))

    // shown
    var total = 0
    for person in try context.fetchedObjects(Person.self) { total += person.age }
    // end
    #expect(total == 60)

    // shown
    let ids = try await container.newBackgroundContext().perform { context in
      try context.insert("Person", values: ["name": "Lieutenant Green", "age": 25])
      try context.save()
      return try context.fetchIDs(FetchRequest("Person", where: "age < 30"))
    }
    let people = try context.objects(with: ids)
    // end
    #expect(people.map { $0["initials"] }.sorted { "\($0)" < "\($1)" } == ["CB", "LG"])
    #expect(throws: GraphError.self) { try context.insert("Person", values: ["name": "ghost"]).validate() }
    try context.rollback()
    try Self.countsReads(model)
    try Self.reloads(model, greetingURL: url.appendingPathExtension("lua"))
  }

  // shown
  static let extensions: [ExtensionSource] = [
    .entity("Person") {
      var person = EntityExtension()
      person.validate["name"] = { name, _ in name == "ghost" ? .init("is not a person's name") : nil }
      person.derived = [
        DerivedAttribute("initials", ownInputs: ["name"]) { person in
          guard case .string(let name) = try person.value(forKey: "name") else { return .null }
          return .string(String(name.split(separator: " ").compactMap(\.first)))
        }
      ]
      return person
    }
  ]
  // end

  @MainActor private static func reloads(_ model: ManagedObjectModel, greetingURL: URL) throws {
    defer { try? FileManager.default.removeItem(at: greetingURL) }
    // shown
    func write(_ greeting: String) throws {
      let text = """
        return { entities = { Person = { derived = { greeting = {
          type = "string", inputs = { "name" }, get = function(name) return "\(greeting), " .. name end,
        } } } } }
        """
      try Data(text.utf8).write(to: greetingURL)
    }
    try write("Hello")
    let extensions: [ExtensionSource] = [.file(greetingURL)]
    let container = try PersistentContainer(
      model: model, store: .inMemory, extensions: extensions, classes: ["Person": Person.self])
    let context = try container.viewContext
    let ann = try context.insert("Person", values: ["name": "Ann"])
    print(ann["greeting"])  // Hello, Ann
    try write("Welcome back")
    try container.reloadExtensions()
    try context.processPendingChanges()
    print(ann["greeting"])  // Welcome back, Ann
    // end
    #expect(ann["greeting"] == "Welcome back, Ann")
  }

  private static func countsReads(_ model: ManagedObjectModel) throws {
    // shown
    let resolved = try model.resolved()
    let store = CountingStore(try InMemoryStore(model: resolved))
    let coordinator = PersistentStoreCoordinator(model: resolved)
    try coordinator.add(store)
    let context = try ManagedObjectContext(coordinator)
    // end
    try context.insert("Person", values: ["name": "Ann"])
    try context.save()
    let other = try ManagedObjectContext(PersistentStoreCoordinator(sharingStoresOf: coordinator))
    #expect(try other.fetch(FetchRequest("Person")).map { $0["name"] } == ["Ann"])
    #expect(store.rowsRead == 1)
  }

  @Test func theGuideShowsThisVeryCode() throws {
    let blocks = try Documents.swiftBlocks(of: "docs/guide.md")
    let shown = try Documents.shownPieces(ofSourceAt: #filePath)
    for piece in shown { #expect(blocks.contains(piece)) }
    // The block of Package.swift is not part of a program.
    #expect(blocks.count == shown.count + 1)
  }
}
