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
