import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseTestSupport
import Testing

/// Tables that another program changes while a store is open.
@Suite struct ChangedTableTests {
  private static let changes = [
    (
      "ALTER TABLE ZPERSON RENAME COLUMN ZLASTNAME TO ZOTHER", "table ZPERSON has no column ZLASTNAME any more",
      "lastName"
    ),
    ("ALTER TABLE ZPERSON RENAME TO ZGONE", "table ZPERSON, which holds Person, is gone", nil),
    ("DROP TABLE ZPERSON", "table ZPERSON, which holds Person, is gone", nil),
  ]

  private static let migrations = [
    ("UPDATE Z_PRIMARYKEY SET Z_ENT = 90 + Z_ENT; CREATE TABLE X (a)", "is number "),
    ("UPDATE Z_METADATA SET Z_UUID = 'OTHER'; CREATE TABLE X (a)", "it holds the store OTHER and no longer "),
  ]

  /// No statement would fail in SQL, but the rows would be read by the layout of the old tables.
  @Test(arguments: migrations) func aStoreThatAnotherProgramMadeAnewIsNotReadOn(_ sql: String, _ words: String) throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person"))[0]
    let update = try people.update(id, ["lastName": "b"])
    try RawDatabase(people.folder.file()).connection.executeScript(sql)
    let uses: [() throws -> Void] = [
      { _ = try people.store.snapshot(of: id) }, { _ = try people.store.snapshots(matching: people.query("Person")) },
      { try people.store.forEachBatch(matching: people.query("Person")) { _ in true } },
      { try people.save { $0.updated = [update] } }, { _ = try people.row("Person") },
    ]
    for use in uses {
      let error = #expect(throws: GraphError.self) { try use() }
      #expect(error?.code == .storeFailure)
      #expect(error?.message.contains("another program changed the store while it was open") == true)
      #expect(error?.message.contains(words) == true, "\(error as Any)")
    }
  }

  @Test func tablesAndIndexesThatAnotherProgramAddsChangeNothing() throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person"))[0]
    #expect(try people.store.count(matching: people.query("Person")) == 1)
    try RawDatabase(people.folder.file()).connection.executeScript(
      "CREATE INDEX I ON ZPERSON (ZAGE); CREATE TABLE X (a)")
    #expect(try people.store.snapshot(of: id) != nil)
    try people.save { $0.updated = [try people.update(id, ["lastName": "b"])] }
    let log = try people.statements { _ = try people.store.snapshot(of: id) }
    #expect(log.count == 1)
    #expect(try people.value(id, "lastName") == "b")
  }

  @Test func aFileThatWasReplacedIsNotQueried() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    #expect(try people.store.count(matching: people.query("Person")) == 1)
    try FileManager.default.removeItem(at: people.folder.file())
    let error = #expect(throws: GraphError.self) { try people.store.count(matching: people.query("Person")) }
    #expect(error?.message.contains("moved, replaced or deleted") == true)
  }

  /// Rows are read by their keys one after the other; the file is checked at intervals.
  @Test func noRowIsReadByItsKeyFromAFileThatWasReplacedAWhileAgo() throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person"))[0]
    for _ in 0..<3 { #expect(try people.store.snapshot(of: id) != nil) }
    try FileManager.default.removeItem(at: people.folder.file())
    usleep(80_000)
    for _ in 0..<3 {
      let error = #expect(throws: GraphError.self) { try people.store.snapshot(of: id) }
      #expect(error?.message.contains("moved, replaced or deleted") == true)
    }
  }

  @Test(arguments: changes)
  func anErrorNamesTheEntityAndWhatIsMissing(_ sql: String, _ loss: String, _ property: String?) throws {
    let people = try PeopleStore()
    let id = try people.insert(people.row("Person"))[0]
    try people.save { $0.updated = [try people.update(id, ["lastName": "a"])] }
    let update = try people.update(id, ["lastName": "b"])
    try RawDatabase(people.folder.file()).connection.executeScript(sql)
    let uses: [() throws -> Void] = [
      { _ = try people.store.snapshot(of: id) }, { _ = try people.store.snapshots(matching: people.query("Person")) },
      { try people.save { $0.updated = [update] } },
    ]
    for use in uses {
      let error = #expect(throws: GraphError.self) { try use() }
      #expect(error?.code == .storeFailure && error?.entity == "Person" && error?.property == property)
      #expect(error?.message.contains("\(people.folder.file().path): another program changed the tables") == true)
      #expect(error?.message.contains(loss) == true, "\(error as Any)")
    }
  }
}
