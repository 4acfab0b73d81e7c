import MoonbaseGraph
import MoonbaseModel
import MoonbaseModelFormats
import MoonbasePlatform
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// A new store.
@Suite struct NewStoreTests {
  @Test func aNewStoreHasCoreDatasTablesColumnsAndIndexes() throws {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    #expect(
      try raw.schema("ZPERSON") == """
        CREATE TABLE ZPERSON ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAGE INTEGER, \
        ZDEPARTMENT INTEGER, ZBORN TIMESTAMP, ZSALARY FLOAT, ZBOUNDSASSTRING VARCHAR, ZEMAIL VARCHAR, \
        ZFIRSTNAME VARCHAR, ZLASTNAME VARCHAR, ZCOLOR BLOB )
        """)
    #expect(
      try raw.schema("ZPROJECT") == """
        CREATE TABLE ZPROJECT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDEPARTMENT INTEGER, \
        Z_FOK_DEPARTMENT INTEGER, ZTITLE VARCHAR )
        """)
    #expect(
      try raw.schema("ZPERSON_ZDEPARTMENT_INDEX") == "CREATE INDEX ZPERSON_ZDEPARTMENT_INDEX ON ZPERSON (ZDEPARTMENT)")
    #expect(try raw.schema("ZPERSON_Z_ENT_INDEX") == "CREATE INDEX ZPERSON_Z_ENT_INDEX ON ZPERSON (Z_ENT)")
    #expect(
      try raw.schema("Z_Person_UNIQUE_email")
        == "CREATE UNIQUE INDEX Z_Person_UNIQUE_email ON ZPERSON (ZEMAIL COLLATE BINARY ASC)")
    #expect(
      try raw.rows("SELECT * FROM Z_PRIMARYKEY")
        == ["1|Department|0|0", "2|Person|0|0", "3|Employee|2|0", "4|Project|0|0"])
    #expect(try raw.value("PRAGMA journal_mode") == "wal")
    #expect(try raw.value("PRAGMA auto_vacuum") == "2")
    #expect(try raw.value("PRAGMA page_size") == "4096")
    #expect(try raw.value("PRAGMA encoding") == "UTF-8")
  }

  @Test func aNewStoreCarriesItsMetadataAndItsModel() throws {
    let people = try PeopleStore()
    let metadata = try SQLiteStore.metadata(ofStoreAt: people.folder.file())
    #expect(metadata["NSStoreType"] == "SQLite")
    #expect(metadata["NSStoreUUID"] == .string(people.store.identifier))
    #expect(metadata["NSStoreModelVersionHashes"] == .map(people.model.versionHashes.mapValues(Value.data)))
    #expect(metadata["_NSAutoVacuumLevel"] == "2")
    let cache = try #require(try SQLiteStore.modelCache(ofStoreAt: people.folder.file()))
    let model = try ManagedObjectModel(modelCache: cache).resolved()
    #expect(model.versionHashes == people.model.versionHashes)
    #expect(throws: Never.self) { try SQLiteStore(url: people.folder.file(), model: model) }
  }

  @Test func foreignMetadataAndItsOwnAreKeptApart() throws {
    let people = try PeopleStore()
    try people.store.setMetadata(["Moonbase.jobs": ["a", 1], "NSStoreType": "Binary"])
    let metadata = try people.store.metadata()
    #expect(metadata["Moonbase.jobs"] == ["a", 1])
    #expect(metadata["NSStoreType"] == "SQLite")
    try people.store.setMetadata([:])
    #expect(try people.store.metadata()["Moonbase.jobs"] == nil)
  }

  @Test func pairsAndColumnsThatClashAreNamedAsCoreDataNamesThem() throws {
    var account = EntityDescription("Account")
    account.relationships = [
      .toMany("tags", destination: "Tag", inverse: "accounts"), .toOne("best", destination: "Thing", inverse: nil),
    ]
    var tag = EntityDescription("Tag")
    var accounts = RelationshipDescription.toMany("accounts", destination: "Account", inverse: "tags")
    accounts.isOrdered = true
    tag.relationships = [accounts]
    let thing = EntityDescription("Thing")
    var first = EntityDescription("Alpha")
    first.superentityName = "Thing"
    first.attributes = [AttributeDescription("title", type: .string)]
    var second = EntityDescription("Beta")
    second.superentityName = "Thing"
    second.attributes = [AttributeDescription("title", type: .integer64)]
    let people = try PeopleStore(ManagedObjectModel(entities: [account, tag, thing, first, second]))
    let raw = try RawDatabase(people.folder.file())
    #expect(
      try raw.schema("Z_1TAGS") == """
        CREATE TABLE Z_1TAGS ( Z_1ACCOUNTS INTEGER, Z_2TAGS INTEGER, Z_FOK_1ACCOUNTS INTEGER, \
        PRIMARY KEY (Z_1ACCOUNTS, Z_2TAGS) )
        """)
    #expect(
      try raw.schema("Z_1TAGS_Z_2TAGS_INDEX") == "CREATE INDEX Z_1TAGS_Z_2TAGS_INDEX ON Z_1TAGS (Z_2TAGS, Z_1ACCOUNTS)")
    #expect(
      try raw.rows("SELECT name FROM pragma_table_info('ZACCOUNT')") == ["Z_PK", "Z_ENT", "Z_OPT", "ZBEST", "Z3_BEST"])
    #expect(
      try raw.rows("SELECT name, type FROM pragma_table_info('ZTHING') WHERE cid > 2")
        == ["ZTITLE1|INTEGER", "ZTITLE|VARCHAR"])
  }

  @Test func countsAreKeptByTheTriggersThatCoreDataWrites() throws {
    var model = People.model()
    var count = AttributeDescription("projectCount", type: .integer64)
    count.derivationExpression = "projects.@count"
    model.entities[2].attributes.append(count)
    let people = try PeopleStore(model)
    let raw = try RawDatabase(people.folder.file())
    #expect(
      try raw.schema("Z_DA_ZPROJECT_Department_projectCount_PARAMETER_UPDATE_DECREMENT") == """
        CREATE TRIGGER Z_DA_ZPROJECT_Department_projectCount_PARAMETER_UPDATE_DECREMENT AFTER UPDATE OF ZDEPARTMENT \
        ON ZPROJECT FOR EACH ROW WHEN (OLD.ZDEPARTMENT NOT NULL) BEGIN UPDATE ZDEPARTMENT SET ZPROJECTCOUNT = \
        ZPROJECTCOUNT - 1 WHERE Z_PK = OLD.ZDEPARTMENT; SELECT NSCoreDataDATriggerUpdatedAffectedObjectValue(\
        'ZDEPARTMENT', Z_ENT, Z_PK, 'projectCount', ZPROJECTCOUNT) FROM ZDEPARTMENT WHERE Z_PK = OLD.ZDEPARTMENT; END
        """)
    let (one, other) = (try people.row("Department"), try people.row("Department"))
    let projects = try (0..<3).map { _ in try people.row("Project", ["department": .objectID(one.id)]) }
    try people.save { $0.inserted = RowBatch([one, other] + projects) }
    #expect(try people.value(one.id, "projectCount") == 3)
    try people.save { $0.updated = [try people.update(projects[0].id, ["department": .objectID(other.id)])] }
    try people.save { $0.deleted = [.init(id: projects[1].id, expectedVersion: 1)] }
    #expect(try people.value(one.id, "projectCount") == 1)
    #expect(try people.value(other.id, "projectCount") == 1)
  }
}
