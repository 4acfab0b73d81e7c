import Foundation
import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Derived attributes maintained by a connection or by triggers of the file.
struct DerivedColumnTests {
  private func model() -> ManagedObjectModel {
    var model = People.model()
    var oldest = AttributeDescription("oldest", type: .integer64)
    oldest.derivationExpression = "employees.age.@max"
    let index = model.entities.firstIndex { $0.name == "Department" }!
    model.entities[index].attributes.append(oldest)
    return model
  }

  private func context(_ store: SQLiteStore, _ model: ResolvedModel) throws -> ManagedObjectContext {
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.add(store)
    return try ManagedObjectContext(coordinator)
  }

  private func hire(_ age: Int64, _ context: ManagedObjectContext, _ department: ManagedObject) throws {
    let person = try context.insert("Person", values: ["age": .int(age)])
    try person.setObject(department, forKey: "department")
    try context.save()
  }

  @Test func nothingOfItIsInTheFile() throws {
    let people = try PeopleStore(model())
    let context = try context(people.store, people.model)
    let department = try context.insert("Department")
    try hire(30, context, department)
    #expect(department["oldest"] == 30)
    let raw = try RawDatabase(people.folder.file())
    #expect(try raw.rows("SELECT name FROM sqlite_master WHERE type = 'trigger' OR name LIKE 'moonbase%'") == [])
    #expect(try raw.rows("SELECT ZOLDEST, Z_OPT FROM ZDEPARTMENT") == ["30|1"], "the version is that of the row itself")
  }

  @Test func aTriggerOfTheFileIsLeftToDoItsWork() throws {
    let folder = try TemporaryFolder()
    let resolved = try model().resolved()
    _ = try SQLiteStore(url: folder.file(), model: resolved)
    try RawDatabase(folder.file()).connection.execute(
      """
      CREATE TRIGGER Z_DA_ZPERSON_Department_oldest_PARAMETER_INSERT AFTER INSERT ON ZPERSON FOR EACH ROW
      BEGIN UPDATE ZDEPARTMENT SET ZOLDEST = 77 WHERE Z_PK = NEW.ZDEPARTMENT;
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZDEPARTMENT', Z_ENT, Z_PK, 'oldest', ZOLDEST)
      FROM ZDEPARTMENT WHERE Z_PK = NEW.ZDEPARTMENT; END
      """)
    let context = try context(try SQLiteStore(url: folder.file(), model: resolved), resolved)
    let department = try context.insert("Department")
    try context.save()
    try hire(30, context, department)
    #expect(department["oldest"] == 77)
  }

  /// 1e19 is no 64-bit integer.
  @Test func whatATriggerOfTheFileDerivesBeyondTheTypeFailsTheSaveAndIsNamedWhereItIsRead() throws {
    let folder = try TemporaryFolder()
    let resolved = try model().resolved()
    _ = try SQLiteStore(url: folder.file(), model: resolved)
    let raw = try RawDatabase(folder.file())
    try raw.connection.execute(
      """
      CREATE TRIGGER Z_DA_ZPERSON_Department_oldest_PARAMETER_INSERT AFTER INSERT ON ZPERSON FOR EACH ROW
      BEGIN UPDATE ZDEPARTMENT SET ZOLDEST = 1e19 WHERE Z_PK = NEW.ZDEPARTMENT;
      SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue('ZDEPARTMENT', Z_ENT, Z_PK, 'oldest', ZOLDEST)
      FROM ZDEPARTMENT WHERE Z_PK = NEW.ZDEPARTMENT; END
      """)
    let writer = try context(try SQLiteStore(url: folder.file(), model: resolved), resolved)
    let department = try writer.insert("Department")
    try writer.save()
    let error = try #require(throws: GraphError.self) { try hire(30, writer, department) }
    #expect(error.code == .numberTooLarge && error.message.contains("Department.oldest cannot be derived"), "\(error)")
    #expect(try raw.value("SELECT COUNT(*) FROM ZPERSON") == "0")
    try raw.connection.execute("UPDATE ZDEPARTMENT SET ZOLDEST = 1e19")
    let reader = try context(try SQLiteStore(url: folder.file(), model: resolved), resolved)
    let found = try #require(try reader.fetch(FetchRequest("Department")).first)
    let damage = try #require(throws: GraphError.self) { try found.value(forKey: "oldest") }
    #expect(
      damage.message.contains("which is no integer; it is derived (employees.age.@max)")
        && damage.property == "oldest", "\(damage)")
  }

  @Test func aSaveThatTouchesNoneOfItRunsOneStatementMore() throws {
    let (with, without) = (try PeopleStore(model()), try PeopleStore())
    func statements(_ people: PeopleStore) throws -> Int {
      let context = try context(people.store, people.model)
      let project = try context.insert("Project", values: ["title": "a"])
      try context.save()
      project["title"] = "b"
      return try people.statements { try context.save() }.count
    }
    #expect(try statements(with) == statements(without) + 1)
  }
}
