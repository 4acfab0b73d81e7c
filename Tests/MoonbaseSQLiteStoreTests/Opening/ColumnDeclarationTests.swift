import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// Files whose tables have declarations that Core Data does not write.
@Suite struct ColumnDeclarationTests {
  /// A store whose table of people is created again with a changed declaration.
  private func store(replacing part: String, with other: String) throws -> PeopleStore {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    let sql = try #require(try raw.value("SELECT sql FROM sqlite_master WHERE name = 'ZPERSON'"))
    try #require(sql.contains(part), "\(sql)")
    try raw.connection.executeScript("DROP TABLE ZPERSON; " + sql.replacing(part, with: other))
    return people
  }

  private static let declarations = [
    ("ZLASTNAME VARCHAR", "ZLASTNAME VARCHAR COLLATE NOCASE", "lastName", "compares its texts by COLLATE NOCASE"),
    ("ZLASTNAME VARCHAR", "ZLASTNAME VARCHAR COLLATE RTRIM", "lastName", "compares its texts by COLLATE RTRIM"),
    ("ZLASTNAME VARCHAR", "ZLASTNAME NUMERIC", "lastName", "is of type NUMERIC, which turns texts into numbers"),
    ("ZLASTNAME VARCHAR", "ZLASTNAME INTEGER", "lastName", "is of type INTEGER, which turns texts into numbers"),
  ]

  @Test(arguments: declarations)
  func aColumnThatComparesOrKeepsValuesInAWayOfItsOwnIsNamed(
    _ part: String, _ other: String, _ property: String, _ mistake: String
  ) throws {
    let people = try store(replacing: part, with: other)
    let store = try SQLiteStore(url: people.folder.file(), model: people.model)
    let feature = try #require(store.missingFeatures.first)
    #expect(store.isReadOnly && feature.entity == "Person" && feature.property == property)
    #expect(feature.reason.contains("column ZLASTNAME of table ZPERSON") && feature.reason.contains(mistake))
    #expect(feature.advice == "declare it as VARCHAR")
  }

  @Test func aGeneratedColumnIsRead() throws {
    let people = try store(replacing: "ZLASTNAME VARCHAR", with: "ZLASTNAME VARCHAR AS ('of ' || ZFIRSTNAME)")
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.executeScript(
      "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZFIRSTNAME) SELECT 1, Z_ENT, 1, 'Ada' FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'"
    )
    let store = try SQLiteStore(url: people.folder.file(), model: people.model)
    let row = try #require(try store.snapshots(matching: people.query("Person")).first)
    #expect(row.values[try #require(people.entity("Person").slot("lastName"))] == "of Ada")
  }

  @Test func noStoreIsMadeInADatabaseOfAnotherEncoding() throws {
    let folder = try TemporaryFolder()
    try Data().write(to: folder.file())
    try RawDatabase(folder.file()).connection.executeScript(
      "PRAGMA encoding = 'UTF-16'; CREATE TABLE t (a); DROP TABLE t")
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: folder.file(), model: People.model().resolved())
    }
    #expect(
      error?.code == .invalidStore && error?.message.contains("keeps its text in UTF-16le") == true, "\(error as Any)")
  }

  private static let clauses = [
    ("Z_PK INTEGER PRIMARY KEY", "Z_PK INTEGER PRIMARY KEY ON CONFLICT REPLACE"),
    ("ZAGE INTEGER", "ZAGE INTEGER UNIQUE ON CONFLICT REPLACE"),
    ("ZAGE INTEGER", "ZAGE INTEGER UNIQUE ON CONFLICT IGNORE"),
  ]

  /// A conflict clause of the table could replace another row or drop the new one.
  @Test(arguments: clauses) func aConflictFailsTheSaveWhateverTheTableSays(_ part: String, _ clause: String) throws {
    let people = try store(replacing: part, with: clause)
    let store = try SQLiteStore(url: people.folder.file(), model: people.model)
    var changes = StoreChanges()
    changes.inserted = [try people.row("Person", ["age": 5, "lastName": "old"])]
    try store.save(changes)
    let isKey = part.hasPrefix("Z_PK")
    let raw = try RawDatabase(people.folder.file())
    if isKey { try raw.connection.executeScript("UPDATE Z_PRIMARYKEY SET Z_MAX = 0 WHERE Z_NAME = 'Person'") }
    let row = try people.row("Person", ["age": isKey ? 6 : 5, "lastName": "new"])
    changes.inserted = [row]
    #expect(throws: GraphError.self) { try store.save(changes) }
    #expect(try raw.rows("SELECT ZLASTNAME FROM ZPERSON") == ["old"])
    guard !isKey else { return }
    changes.inserted = [people.snapshot(row.id, version: 1, ContiguousArray(row.values), ["age": 6])]
    try store.save(changes)
    changes = StoreChanges()
    changes.updated = [try people.update(row.id, ["age": 5])]
    #expect(throws: GraphError.self) { try store.save(changes) }
    #expect(try raw.rows("SELECT ZLASTNAME, ZAGE FROM ZPERSON ORDER BY 1") == ["new|6", "old|5"])
  }
}
