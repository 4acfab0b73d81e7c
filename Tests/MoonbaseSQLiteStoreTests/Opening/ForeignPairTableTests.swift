import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

/// Tables of pairs that another program changed.
@Suite struct ForeignPairTableTests {
  private func reopened(_ store: TaggedStore) throws -> SQLiteStore {
    try SQLiteStore(url: store.people.folder.file(), model: store.people.model)
  }

  private var relationships: [(entity: String, name: String)] { [("P", "tags"), ("T", "ps")] }

  @Test(arguments: [
    "ALTER TABLE Z_1TAGS ADD COLUMN EXTRA INTEGER", "ALTER TABLE Z_1TAGS ADD COLUMN Z_1PSX TEXT DEFAULT 'x'",
    "CREATE TABLE n (a, Z_2TAGS INTEGER, b, Z_1PS INTEGER, PRIMARY KEY (Z_1PS, Z_2TAGS)); "
      + "INSERT INTO n SELECT 1, Z_2TAGS, 2, Z_1PS FROM Z_1TAGS; DROP TABLE Z_1TAGS; ALTER TABLE n RENAME TO Z_1TAGS",
  ])
  func moreColumnsDoNotHinder(_ sql: String) throws {
    let tagged = try TaggedStore()
    try tagged.people.save { $0.links = [tagged.links(0, added: [tagged.tags[0]])] }
    try tagged.raw.connection.executeScript(sql)
    let store = try reopened(tagged)
    let (tags, ps) = (tagged.people.entity("P").slot("tags")!, tagged.people.entity("T").slot("ps")!)
    #expect(try store.destinations(of: tagged.owners[0], relationship: tags) == [tagged.tags[0]])
    var changes = StoreChanges()
    changes.links = [tagged.links(0, added: tagged.tags), tagged.links(1, added: [tagged.tags[1]])]
    try store.save(changes)
    #expect(try store.destinations(of: tagged.owners[0], relationship: tags) == tagged.tags)
    #expect(try store.destinations(of: tagged.tags[1], relationship: ps) == tagged.owners)
  }

  /// No key prevents the table from having a pair twice.
  @Test func aPairThatStandsTwiceInATableWithoutAKeyCountsOnce() throws {
    let tagged = try TaggedStore()
    try tagged.people.save { $0.links = [tagged.links(0, added: Array(tagged.tags[0...1]))] }
    try tagged.raw.connection.executeScript(
      "CREATE TABLE n AS SELECT * FROM Z_1TAGS UNION ALL SELECT * FROM Z_1TAGS; DROP TABLE Z_1TAGS; "
        + "ALTER TABLE n RENAME TO Z_1TAGS")
    let store = try reopened(tagged)
    let (tags, ps) = (tagged.people.entity("P").slot("tags")!, tagged.people.entity("T").slot("ps")!)
    #expect(try store.destinations(of: tagged.owners[0], relationship: tags) == Array(tagged.tags[0...1]))
    #expect(
      try store.destinationRows(of: tagged.owners, relationship: tags).rows.map(\.id) == Array(tagged.tags[0...1]))
    #expect(try store.destinations(of: tagged.tags[0], relationship: ps) == [tagged.owners[0]])
    let query = tagged.people.query("P", try Predicate(format: "tags.@count == 2"))
    #expect(try store.canEvaluate(#require(query.predicate), for: query))
    #expect(try store.objectIDs(matching: query) == [tagged.owners[0]])
    var changes = StoreChanges()
    changes.links = [tagged.links(0, removed: [tagged.tags[0]])]
    try store.save(changes)
    #expect(try store.destinations(of: tagged.owners[0], relationship: tags) == [tagged.tags[1]])
  }

  @Test(arguments: [
    ("DROP TABLE Z_1TAGS", "it has no table Z_1TAGS for "),
    (
      "ALTER TABLE Z_1TAGS RENAME COLUMN Z_1PS TO A; ALTER TABLE Z_1TAGS RENAME COLUMN Z_2TAGS TO B",
      "its table Z_1TAGS has no columns "
    ),
  ])
  func aTableThatIsNotThereIsNamedWhenItIsReadAndSavedTo(_ sql: String, _ words: String) throws {
    let tagged = try TaggedStore()
    try tagged.raw.connection.executeScript(sql)
    let store = try reopened(tagged)
    func expectNamed(_ error: GraphError?, entity: String, property: String) {
      #expect(error?.code == .invalidStore && error?.entity == entity && error?.property == property)
      #expect(error?.message.contains("store.sqlite: \(words)") == true, "\(error as Any)")
      #expect(error?.message.contains("\(entity).\(property)") == true)
    }
    func expectRefused(_ error: GraphError?) {
      #expect(error?.code == .readOnlyStore && error?.message.contains(words) == true, "\(error as Any)")
    }
    #expect(store.missingFeatures.map(\.property) == relationships.map(\.name))
    for (entity, name) in relationships {
      let ids = entity == "P" ? tagged.owners : tagged.tags
      let slot = tagged.people.entity(entity).slot(name)!
      #expect(try store.snapshots(of: ids).count == ids.count)
      #expect(try store.snapshots(matching: tagged.people.query(entity)).count == ids.count)
      let read = #expect(throws: GraphError.self) { try store.destinations(of: ids[0], relationship: slot) }
      expectNamed(read, entity: entity, property: name)
      var changes = StoreChanges()
      changes.deleted = [.init(id: ids[0], expectedVersion: 1)]
      let saved = #expect(throws: GraphError.self) { try store.save(changes) }
      expectRefused(saved)
    }
    var changes = StoreChanges()
    changes.links = [tagged.links(0, added: tagged.tags)]
    expectRefused(#expect(throws: GraphError.self) { try store.save(changes) })
  }

  @Test func aPredicateOverATableThatIsNotThereFailsToo() throws {
    let tagged = try TaggedStore()
    try tagged.raw.connection.execute("DROP TABLE Z_1TAGS")
    let coordinator = PersistentStoreCoordinator(model: tagged.people.model)
    try coordinator.add(reopened(tagged))
    let context = try ManagedObjectContext(coordinator)
    var request = FetchRequest("P")
    request.predicate = try Predicate(format: "tags.@count == 0")
    let error = #expect(throws: GraphError.self) { try context.fetch(request) }
    #expect(error?.code == .invalidStore && error?.property == "tags")
  }
}
