import MoonbaseGraph
import MoonbaseHistory
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate
import struct MoonbaseModel.SortDescriptor

/// Files that lack tables or columns of their model open read-only: the store names the missing features and reads all
/// others.
@Suite struct MissingFeatureTests {
  let people: PeopleStore
  private var url: URL { people.folder.file() }

  /// A department with three people and a project; Ann and Bob are friends.
  init() throws {
    people = try PeopleStore()
    let context = try Self.context(people.store, people.model)
    let department = try context.insert("Department", values: ["name": "Maths"])
    let ann = try context.insert("Person", values: ["firstName": "Ann", "lastName": "a"])
    let bob = try context.insert("Employee", values: ["firstName": "Bob", "lastName": "B", "salary": 7.0])
    let cyd = try context.insert("Person", values: ["firstName": "Cyd", "lastName": "A"])
    for person in [ann, bob, cyd] { try person.setObject(department, forKey: "department") }
    try ann.setObjects([bob], forKey: "friends")
    let project = try context.insert("Project", values: ["title": "Proof"])
    try department.setObjects([project], forKey: "projects")
    try context.save()
  }

  private static func context(_ store: SQLiteStore, _ model: ResolvedModel) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    return try ManagedObjectContext(coordinator)
  }

  /// The store after some SQL, opened for writing.
  private func opened(after sql: String) throws -> (store: SQLiteStore, context: ManagedObjectContext) {
    try RawDatabase(url).connection.executeScript(sql)
    let store = try SQLiteStore(url: url, model: people.model)
    return (store, try Self.context(store, people.model))
  }

  private func fetch(_ format: String, sortedBy key: String? = nil) throws -> FetchRequest {
    var request = FetchRequest("Person", where: try Predicate(format: format))
    if let key { request.sortDescriptors = [SortDescriptor(key)] }
    return request
  }

  private func refused(_ body: () throws -> Void) throws -> GraphError {
    try #require(throws: GraphError.self, performing: body)
  }

  /// The files with saved data, without the log's index, in which readers leave marks.
  private func contents() throws -> [String: Data] { try people.folder.contents().filter { !$0.key.hasSuffix("-shm") } }

  @Test func aWholeStoreLacksNothing() throws {
    let store = try SQLiteStore(url: url, model: people.model)
    #expect(store.missingFeatures.isEmpty && !store.isReadOnly)
  }

  // MARK: Tables

  @Test func aStoreWithoutATableIsReadWithoutIt() throws {
    let (store, context) = try opened(after: "DROP TABLE ZPROJECT")
    #expect(store.isReadOnly && store.missingFeatures.map(\.entity) == ["Project"])
    #expect(store.missingFeatures.map(\.table) == ["ZPROJECT"])
    #expect(try context.count(FetchRequest("Person")) == 3)
    let department = try #require(try context.fetch(FetchRequest("Department")).first)
    #expect(try department.value(forKey: "name") == "Maths")
    let uses: [() throws -> Void] = [
      { _ = try context.fetch(FetchRequest("Project")) }, { _ = try context.count(FetchRequest("Project")) },
      { _ = try department.objects(forKey: "projects") },
      { _ = try context.fetch(FetchRequest("Department", where: Predicate(format: "projects.@count == 0"))) },
      { _ = try context.fetch(FetchRequest("Department", where: Predicate(format: "ANY projects.title == 'x'"))) },
    ]
    for use in uses {
      let error = try refused(use)
      #expect(
        error.code == .invalidStore && error.message.hasPrefix("\(url.path): it has no table ZPROJECT"), "\(error)")
    }
  }

  /// A table holds all entities of a hierarchy. If the table is missing, a fetch of the parent entity is refused
  /// instead of returning fewer rows.
  @Test func aFetchOfAParentNeverHasFewerRowsThanThereWere() throws {
    let (store, context) = try opened(after: "DROP TABLE ZPERSON")
    #expect(store.missingFeatures.map(\.entity) == ["Person"])
    for name in ["Person", "Employee"] {
      let error = try refused { _ = try context.fetch(FetchRequest(name)) }
      #expect(error.message.contains("objects of Person and its subentities cannot be read"), "\(error)")
    }
    let project = try #require(try context.fetch(FetchRequest("Project")).first)
    #expect(try project.object(forKey: "department")?.value(forKey: "name") == "Maths")
  }

  @Test func aDestinationInATableThatIsMissingKeepsItsIDAndCannotBeRead() throws {
    let (_, context) = try opened(after: "DROP TABLE ZDEPARTMENT")
    let ann = try #require(try context.fetch(try fetch("firstName == 'Ann'")).first)
    let department = try #require(try ann.object(forKey: "department"))
    #expect(department.objectID.entityName == "Department" && department.objectID.key == 1)
    let error = try refused { _ = try department.value(forKey: "name") }
    #expect(error.message.contains("it has no table ZDEPARTMENT"), "\(error)")
    let path = try refused { _ = try context.fetch(try fetch("department.name == 'Maths'")) }
    #expect(path.message.contains("it has no table ZDEPARTMENT"), "\(path)")
  }

  // MARK: Columns

  @Test func aValueWhoseColumnIsMissingIsAnErrorAndNotNil() throws {
    let (store, context) = try opened(after: "ALTER TABLE ZPERSON DROP COLUMN ZFIRSTNAME")
    #expect(store.missingFeatures.map(\.property) == ["firstName"])
    let bob = try #require(try context.fetch(try fetch("lastName == 'B'")).first)
    #expect(try bob.value(forKey: "salary") == 7.0)
    let uses: [() throws -> Void] = [
      { _ = try bob.value(forKey: "firstName") }, { _ = try context.fetch(try fetch("firstName == NULL")) },
      { _ = try context.fetch(try fetch("lastName != NULL", sortedBy: "firstName")) },
    ]
    for use in uses {
      let error = try refused(use)
      #expect(error.code == .invalidStore && error.property == "firstName", "\(error)")
      #expect(error.message.contains("table ZPERSON has no column ZFIRSTNAME"), "\(error)")
    }
  }

  @Test func aRelationshipWhoseColumnIsMissingIsAnErrorInBothDirections() throws {
    let (store, context) = try opened(
      after: "DROP INDEX ZPERSON_ZDEPARTMENT_INDEX; ALTER TABLE ZPERSON DROP COLUMN ZDEPARTMENT")
    #expect(store.missingFeatures.map(\.property) == ["department"])
    let ann = try #require(try context.fetch(try fetch("firstName == 'Ann'")).first)
    let department = try #require(try context.fetch(FetchRequest("Department")).first)
    for use in [
      { _ = try ann.object(forKey: "department") }, { _ = try department.objects(forKey: "employees") },
      { _ = try context.fetch(FetchRequest("Department", where: Predicate(format: "employees.@count == 0"))) },
    ] as [() throws -> Void] {
      #expect(try refused(use).message.contains("table ZPERSON has no column ZDEPARTMENT"))
    }
  }

  @Test func theOrderOfAListWhoseColumnIsMissingIsNamed() throws {
    let (store, context) = try opened(after: "ALTER TABLE ZPROJECT DROP COLUMN Z_FOK_DEPARTMENT")
    #expect(store.missingFeatures.first?.reason.contains("the places of Department.projects") == true)
    let department = try #require(try context.fetch(FetchRequest("Department")).first)
    #expect(try department.objects(forKey: "projects").count == 1)
  }

  @Test func theOrderOfPairsWhoseColumnIsMissingIsNamed() throws {
    var tags = RelationshipDescription.toMany("tags", destination: "T", inverse: "ps")
    tags.isOrdered = true
    let ordered = tags
    let people = try PeopleStore(
      ManagedObjectModel {
        EntityDescription("P") { ordered }
        EntityDescription("T") { RelationshipDescription.toMany("ps", destination: "P", inverse: "tags") }
      })
    let url = people.folder.file()
    try RawDatabase(url).connection.execute("ALTER TABLE Z_1TAGS DROP COLUMN Z_FOK_2TAGS")
    let store = try SQLiteStore(url: url, model: people.model)
    #expect(store.isReadOnly && store.missingFeatures.map(\.property) == ["tags"])
    #expect(
      store.missingFeatures.first?.reason
        == "table Z_1TAGS has no column Z_FOK_2TAGS, which holds the places of P.tags")
  }

  /// The meaning of a bit in a history follows from the columns that the model requires.
  @Test func aHistoryNamesWhatChangedWhereAColumnIsMissing() throws {
    let people = try PeopleStore(PeopleStore.bosses, options: .init(tracksHistory: true))
    let (writer, url) = (try Self.context(people.store, people.model), people.folder.file())
    let one = try writer.insert("P")
    let other = try writer.insert("S")
    try one.setObject(other, forKey: "boss")
    try writer.save()
    try one.setValue("x", forKey: "name")
    try writer.save()
    try RawDatabase(url).connection.execute("ALTER TABLE ZP DROP COLUMN Z1_BOSS")
    let store = try SQLiteStore(url: url, model: people.model)
    #expect(store.missingFeatures.first?.reason.contains("Z1_BOSS, which holds the entity of P.boss") == true)
    let reader = try Self.context(store, people.model)
    let transactions = try #require(
      try reader.execute(PersistentHistoryChangeRequest.fetchHistory(after: Date.distantPast)).transactions)
    #expect(transactions.last?.changes?.map(\.updatedProperties) == [["name"]])
    let found = try #require(try reader.existingObject(with: one.objectID))
    #expect(try found.object(forKey: "boss")?.objectID == other.objectID)
  }

  @Test(arguments: ["ACHANGE", "ATRANSACTION"]) func halfAHistoryIsNamedAndNothingIsSavedPastIt(_ lost: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.file()
    _ = try SQLiteStore(url: url, model: people.model, options: .init(tracksHistory: true))
    try RawDatabase(url).connection.execute("DROP TABLE \(lost)")
    let store = try SQLiteStore(url: url, model: people.model)
    #expect(store.isReadOnly && store.missingFeatures.map(\.table) == [lost])
    let context = try Self.context(store, people.model)
    #expect(try context.count(FetchRequest("Person")) == 0)
    try context.insert("Person")
    let saved = try refused { try context.save() }
    #expect(saved.code == .readOnlyStore && saved.message.contains("but no \(lost)"), "\(saved)")
    let read = try refused { try context.execute(.fetchHistory(after: Date.distantPast)) }
    #expect(read.code == .invalidStore && read.message.contains("but no \(lost)"), "\(read)")
    #expect(try SQLiteStore.facts(ofStoreAt: url, model: people.model).missingFeatures == store.missingFeatures)
  }

  @Test func aHistoryOfWhichHalfIsDroppedWhileTheStoreIsOpenIsNotSavedPast() throws {
    let people = try PeopleStore(options: .init(tracksHistory: true))
    let context = try Self.context(people.store, people.model)
    try context.insert("Person")
    try context.save()
    try RawDatabase(people.folder.file()).connection.execute("DROP TABLE ACHANGE")
    try context.insert("Person")
    let error = try refused { try context.save() }
    #expect(error.code == .storeFailure && error.message.contains("but no ACHANGE"), "\(error)")
    #expect(try RawDatabase(people.folder.file()).value("SELECT COUNT(*) FROM ZPERSON") == "1")
  }

  // MARK: Text that SQLite compares in a way of its own

  @Test func aColumnWithACollationIsReadAndComparedInMemory() throws {
    let folder = try TemporaryFolder()
    try RawDatabase(url).copy(
      to: folder.file(), replacing: "ZLASTNAME VARCHAR", with: "ZLASTNAME VARCHAR COLLATE NOCASE")
    let store = try SQLiteStore(url: folder.file(), model: people.model)
    let context = try Self.context(store, people.model)
    #expect(store.isReadOnly && store.missingFeatures.map(\.property) == ["lastName"])
    #expect(try context.fetch(try fetch("lastName == 'a'")).map { try $0.value(forKey: "firstName") } == ["Ann"])
    let sorted = try context.fetch(try fetch("firstName != NULL", sortedBy: "lastName"))
    #expect(try sorted.map { try $0.value(forKey: "firstName") } == ["Cyd", "Bob", "Ann"])
    var distinct = FetchRequest("Person")
    distinct.propertiesToFetch = ["lastName"]
    distinct.returnsDistinctResults = true
    #expect(try context.fetchDictionaries(distinct).count == 3)
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"]) func textInAnotherEncodingIsReadAndComparedInMemory(_ encoding: String)
    throws
  {
    let folder = try TemporaryFolder()
    try RawDatabase(url).copy(to: folder.file(), settings: "PRAGMA encoding = '\(encoding)'")
    // A lone surrogate, which SQLite would convert to another text.
    try RawDatabase(folder.file()).connection.execute(
      "UPDATE ZPERSON SET ZFIRSTNAME = CAST(x'\(encoding == "UTF-16le" ? "3dd86100" : "d83d0061")' AS TEXT) WHERE ZLASTNAME = 'A'"
    )
    let store = try SQLiteStore(url: folder.file(), model: people.model)
    #expect(store.isReadOnly && store.missingFeatures.first?.reason.contains("keeps its text in \(encoding)") == true)
    let context = try Self.context(store, people.model)
    let ann = try #require(try context.fetch(try fetch("lastName == 'a'")).first)
    #expect(try ann.value(forKey: "firstName") == "Ann")
    let cyd = try #require(try context.fetch(try fetch("lastName == 'A'")).first)
    let error = try refused { _ = try cyd.value(forKey: "firstName") }
    #expect(error.message.contains("Person.firstName holds text that is not UTF-16"), "\(error)")
  }

  // MARK: Types without a form

  @Test func aCompositeAttributeIsAnErrorOfItsValueAlone() throws {
    var model = People.model()
    model.entities[0].attributes[5] = AttributeDescription("bounds", type: .composite)
    let resolved = try model.resolved()
    // Without the stored model, the file may belong to this model: the hashes of composite attributes are not known.
    try RawDatabase(url).connection.execute("DELETE FROM Z_MODELCACHE")
    let store = try SQLiteStore(url: url, model: resolved)
    #expect(store.isReadOnly && store.missingFeatures.map(\.property) == ["bounds"])
    let context = try Self.context(store, resolved)
    let ann = try #require(try context.fetch(try fetch("firstName == 'Ann'")).first)
    let error = try refused { _ = try ann.value(forKey: "bounds") }
    #expect(error.property == "bounds" && error.message.contains("(it has no elements)"), "\(error)")
  }

  // MARK: Writing

  @Test func aSaveNamesWhatIsMissingAndWhatToDo() throws {
    let (_, context) = try opened(after: "ALTER TABLE ZPERSON DROP COLUMN ZFIRSTNAME; DROP TABLE ZPROJECT")
    let before = try contents()
    try context.insert("Department")
    let error = try refused { try context.save() }
    #expect(error.code == .readOnlyStore)
    #expect(error.message.contains("it has no table ZPROJECT"), "\(error)")
    #expect(error.message.contains("(and 1 more: `moonbase info` lists all)"), "\(error)")
    #expect(error.message.contains("restore the store from a backup"), "\(error)")
    #expect(try contents() == before)
  }

  @Test func whatTheAdviceSaysOfAColumnMakesTheStoreWritableAgain() throws {
    let (store, _) = try opened(after: "ALTER TABLE ZPERSON DROP COLUMN ZFIRSTNAME")
    let advice = try #require(store.missingFeatures.first?.advice)
    let sql = try #require(advice.split(separator: "(").last?.dropLast())
    let (whole, context) = try opened(after: String(sql))
    #expect(whole.missingFeatures.isEmpty)
    try context.insert("Person", values: ["firstName": "Dan"])
    try context.save()
  }

  @Test func aMigrationOfAStoreThatLacksSomethingIsRefused() throws {
    try RawDatabase(url).connection.execute("DROP TABLE ZPROJECT")
    let copy = try TemporaryFolder()
    for (name, bytes) in try contents() { try bytes.write(to: copy.file(name)) }
    var model = People.model()
    model.entities[0].attributes.append(AttributeDescription("nickname", type: .string))
    let newer = try model.resolved()
    let error = try refused { try SQLiteStore.migrate(storeAt: copy.file(), to: newer) }
    #expect(error.code == .readOnlyStore && error.message.contains("it has no table ZPROJECT"), "\(error)")
    let store = try SQLiteStore(url: copy.file(), model: people.model)
    #expect(try store.count(matching: people.query("Person")) == 3)
  }

  @Test func aTableThatComesToBeMissingWhileTheStoreIsOpenIsToldAsAChange() throws {
    let (_, context) = try opened(after: "DROP TABLE ZPROJECT")
    #expect(try context.count(FetchRequest("Department")) == 1)
    try RawDatabase(url).connection.execute("DROP TABLE ZDEPARTMENT")
    let error = try refused { _ = try context.count(FetchRequest("Department")) }
    #expect(error.code == .storeFailure && error.message.contains("another program changed"), "\(error)")
  }
}
