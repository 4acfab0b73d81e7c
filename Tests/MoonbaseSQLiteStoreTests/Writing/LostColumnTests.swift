import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

import enum MoonbaseModel.Predicate

/// Files that lack a column that accompanies a relationship: an object that cannot be saved completely is not saved.
@Suite struct LostColumnTests {
  private func context(_ people: PeopleStore, opening: Bool = false) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(opening ? SQLiteStore(url: people.folder.file(), model: people.model) : people.store)
    return try ManagedObjectContext(coordinator)
  }

  @Test func anEntityWithoutAColumnIsNotSavedByAnErrorThatNamesTheFile() throws {
    let people = try PeopleStore()
    try RawDatabase(people.folder.file()).connection.execute("ALTER TABLE ZPERSON DROP COLUMN ZFIRSTNAME")
    let after = try context(people, opening: true)
    try after.insert("Person")
    let error = #expect(throws: GraphError.self) { try after.save() }
    #expect(error?.code == .readOnlyStore && error?.entity == "Person")
    #expect(
      error?.message.contains("is read-only: table ZPERSON has no column ZFIRSTNAME") == true, "\(error as Any)")
  }

  @Test func anOrderWithoutAColumnForItIsNotSaved() throws {
    let people = try PeopleStore()
    let before = try context(people)
    let department = try before.insert("Department")
    let projects = try ["a", "b", "c"].map { try before.insert("Project", values: ["title": .string($0)]) }
    try department.setObjects(projects, forKey: "projects")
    try before.save()
    try RawDatabase(people.folder.file()).connection.execute("ALTER TABLE ZPROJECT DROP COLUMN Z_FOK_DEPARTMENT")
    let after = try context(people, opening: true)
    let found = try after.object(with: department.objectID)
    try found.setObjects(found.objects(forKey: "projects").reversed(), forKey: "projects")
    let error = #expect(throws: GraphError.self) { try after.save() }
    #expect(error?.code == .readOnlyStore)
    #expect(error?.message.contains("Z_FOK_DEPARTMENT, which holds the places of Department.projects") == true)
  }

  @Test func aDestinationWhoseEntityCannotBeToldIsNotSaved() throws {
    let people = try PeopleStore(PeopleStore.bosses)
    let before = try context(people)
    let (one, other) = (try before.insert("P"), try before.insert("S"))
    try before.save()
    try RawDatabase(people.folder.file()).connection.execute("ALTER TABLE ZP DROP COLUMN Z1_BOSS")
    let after = try context(people, opening: true)
    try after.object(with: one.objectID).setObject(after.object(with: other.objectID), forKey: "boss")
    let error = #expect(throws: GraphError.self) { try after.save() }
    #expect(error?.message.contains("Z1_BOSS") == true, "\(error as Any)")
  }

  /// No stored row refers to an unsaved object, so the store runs the condition like any other.
  @Test func aConditionOnAnUnsavedObjectIsAnsweredInSQL() throws {
    let people = try PeopleStore()
    defer { withExtendedLifetime(people) {} }
    let context = try context(people)
    for number in 1...500 { try context.insert("Person", values: ["age": .int(Int64(number % 100))]) }
    let saved = try context.insert("Department")
    try context.save()
    let new = try context.insert("Department")
    func units(_ department: ManagedObject) throws -> Int {
      try HostWorkMeter.units {
        for format in ["department = %@", "department IN {%@}", "ANY friends.department = %@"] {
          let predicate = try Predicate(format: format, arguments: [.objectID(department.objectID)])
          #expect(try context.fetch(FetchRequest("Person", where: predicate)).isEmpty)
        }
      }
    }
    #expect(try units(new) <= units(saved) + 50)
    let others = FetchRequest(
      "Person", where: try Predicate(format: "department != %@", arguments: [.objectID(new.objectID)]))
    #expect(try context.count(others) == 500)
    try context.fetch(others)[0].setObject(new, forKey: "department")
    #expect(try context.count(others) == 499)
  }
}
