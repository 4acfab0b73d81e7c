import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools
import MoonbaseTestSupport
import Testing

/// Histories in the forms of several frameworks, in Moonbase stores.
@Suite struct HistoryTests {
  /// Another store on the same file enables the history, as another process may.
  private func switchOn(_ people: PeopleStore) throws {
    _ = try SQLiteStore(url: people.folder.file(), model: people.model, options: .init(tracksHistory: true))
  }

  /// The history is enabled by another store after the store was opened and saved to.
  private func rowsAfterSaving(isOld: Bool) throws -> String? {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let store = try SQLiteStore(
      url: people.folder.file(), model: people.model, options: .init(transactionAuthor: "tests"))
    try store.setMetadata(["a": 1])
    let raw = try RawDatabase(people.folder.file())
    if isOld { try raw.connection.executeScript(HistoryTables.old) } else { try switchOn(people) }
    var changes = StoreChanges()
    changes.inserted = [try people.row("Person", ["firstName": "Ada"])]
    try store.save(changes)
    #expect(try raw.rows("SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID FROM ACHANGE") == ["0|2|2|1"])
    try raw.connection.executeScript("DROP TABLE ACHANGE; DROP TABLE ATRANSACTION")
    changes.inserted = [try people.row("Person")]
    try store.save(changes)
    return try raw.value("SELECT COUNT(*) FROM ZPERSON")
  }

  @Test(arguments: [true, false]) func aHistoryThatIsSwitchedOnAfterOpeningIsWritten(_ isOld: Bool) throws {
    #expect(try rowsAfterSaving(isOld: isOld) == "3")
  }

  /// The tables of a store that Core Data made with a history.
  private static let tablesOfCoreData = [
    "CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, ZENTITY INTEGER, "
      + "ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )",
    "CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, "
      + "ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, "
      + "ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )",
    "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
    "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
    "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
    "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
    "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
    "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
    "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
    "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
    "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
  ]

  /// The tables are the same in a new store and in one that gets them when opened again.
  @Test(arguments: [true, false]) func theTablesOfAHistoryAreCoreDatas(_ isNew: Bool) throws {
    let people = try PeopleStore(options: .init(tracksHistory: isNew))
    if !isNew { try switchOn(people) }
    let raw = try RawDatabase(people.folder.file())
    let tables = "('ACHANGE', 'ATRANSACTION', 'ATRANSACTIONSTRING')"
    #expect(try raw.rows("SELECT sql FROM sqlite_master WHERE tbl_name IN \(tables)") == Self.tablesOfCoreData)
    let numbers = ["16001|CHANGE|0|0", "16002|TRANSACTION|0|0", "16003|TRANSACTIONSTRING|0|0"]
    #expect(try raw.rows("SELECT Z_ENT, Z_NAME, Z_SUPER, Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == numbers)
    try people.insert(people.row("Person"))
    #expect(try raw.rows("SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID FROM ACHANGE") == ["0|2|1|1"])
    // Opened without the option, the store still records its history.
    let again = try SQLiteStore(url: people.folder.file(), model: people.model)
    try again.save(StoreChanges())
    #expect(try again.history()?.span() == HistoryBounds(first: 1, last: 1))
  }

  @Test func aHistoryOnceMoreGoesOnWithItsNumbers() throws {
    let people = try PeopleStore(options: .init(tracksHistory: true))
    let raw = try RawDatabase(people.folder.file())
    try people.insert(people.row("Person"))
    try raw.connection.executeScript("DROP TABLE ACHANGE")
    let error = #expect(throws: GraphError.self) { try switchOn(people) }
    #expect(error?.code == .readOnlyStore && error?.message.contains("has the table ATRANSACTION") == true)
    try raw.connection.executeScript("DROP TABLE ATRANSACTION; DROP TABLE ATRANSACTIONSTRING")
    try switchOn(people)
    try people.insert(people.row("Person"))
    #expect(try raw.rows("SELECT Z_PK FROM ATRANSACTION") == ["2"])
  }

  @Test func aStoreThatIsOnlyReadGetsNoHistory() throws {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let options = SQLiteStoreOptions(readOnly: true, tracksHistory: true)
    let error = #expect(throws: GraphError.self) {
      try SQLiteStore(url: people.folder.file(), model: people.model, options: options)
    }
    #expect(error?.code == .readOnlyStore && error?.message.contains("no tables for a history") == true)
    try switchOn(people)
    #expect(
      try SQLiteStore(url: people.folder.file(), model: people.model, options: options).history()?.span().last == 0)
  }

  @Test func textsStandInTheTransactionsOfOldHistories() throws {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.executeScript(HistoryTables.old)
    let store = try SQLiteStore(
      url: people.folder.file(), model: people.model, options: .init(transactionAuthor: "tests"))
    let id = try people.insert(people.row("Person", ["age": 1]))[0]
    var changes = StoreChanges()
    changes.updated = [try people.update(id, ["age": 2])]
    try store.save(changes)
    #expect(try raw.rows("SELECT ZAUTHOR, ZBUNDLEID = ZPROCESSID FROM ATRANSACTION") == ["|1", "tests|1"])
    #expect(try raw.rows("SELECT ZCHANGETYPE FROM ACHANGE") == ["0", "1"])
    #expect(try raw.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT > 16000") == ["2", "2"])
  }

  @Test func aContextNamesTheAuthorOfItsSaves() throws {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.executeScript(HistoryTables.old)
    let coordinator = PersistentStoreCoordinator(model: people.model)
    try coordinator.add(
      SQLiteStore(url: people.folder.file(), model: people.model, options: .init(transactionAuthor: "store")))
    let context = try ManagedObjectContext(coordinator)
    for author in ["import", nil] {
      context.transactionAuthor = author
      try context.insert("Person")
      try context.save()
    }
    #expect(try raw.rows("SELECT ZAUTHOR FROM ATRANSACTION ORDER BY Z_PK") == ["import", "store"])
  }

  @Test func aTombstoneKeepsTheBytesOfTheColumn() throws {
    var model = People.model()
    for entity in model.entities.indices {
      for place in model.entities[entity].attributes.indices {
        model.entities[entity].attributes[place].preservesValueInHistoryOnDeletion =
          ["age", "lastName"].contains(model.entities[entity].attributes[place].name)
      }
    }
    let people = try PeopleStore(model)
    // History tables of a model that preserves fewer values get the missing columns.
    try switchOn(people)
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.execute("ALTER TABLE ACHANGE DROP COLUMN ZTOMBSTONE1")
    try switchOn(people)
    #expect(try raw.value("SELECT COUNT(*) FROM pragma_table_info('ACHANGE') WHERE name LIKE 'ZTOMBSTONE%'") == "2")
    let id = try people.insert(people.row("Person", ["age": 7]))[0]
    try raw.connection.executeScript("UPDATE ZPERSON SET ZLASTNAME = CAST(x'61ff62' AS TEXT)")
    try people.save { $0.deleted = [.init(id: id, expectedVersion: 1)] }
    let kept = "typeof(ZTOMBSTONE0), ZTOMBSTONE0, typeof(ZTOMBSTONE1), hex(ZTOMBSTONE1)"
    #expect(try raw.rows("SELECT \(kept) FROM ACHANGE WHERE ZCHANGETYPE = 2") == ["integer|7|text|61FF62"])
  }

  /// The history tables and their entity numbers; a save writes a row to each.
  private static let tables = [("ACHANGE", 16_001), ("ATRANSACTION", 16_002), ("ATRANSACTIONSTRING", 16_003)]

  private func failure(of table: String, _ sql: String) throws -> GraphError? {
    let people = try PeopleStore()
    try people.insert(people.row("Person"))
    let raw = try RawDatabase(people.folder.file())
    try switchOn(people)
    try raw.connection.executeScript(sql)
    let error = #expect(throws: GraphError.self) { try people.insert(people.row("Person")) }
    #expect(try raw.value("SELECT COUNT(*) FROM ZPERSON") == "1")
    #expect(error?.message.contains(table) == true, "\(error as Any)")
    return error
  }

  @Test(arguments: tables)
  func aHistoryThatATriggerPassesOverFailsTheSave(_ table: String, _ number: Int) throws {
    let error = try failure(
      of: table, "CREATE TRIGGER i BEFORE INSERT ON \(table) BEGIN SELECT RAISE(IGNORE); END;")
    #expect(error?.code == .constraintConflict)
    #expect(error?.message.contains("the file ignores the history of the save") == true, "\(error as Any)")
  }

  @Test(arguments: tables)
  func aHistoryThatATriggerRefusesSaysSo(_ table: String, _ number: Int) throws {
    let error = try failure(
      of: table, "CREATE TRIGGER i BEFORE INSERT ON \(table) BEGIN SELECT RAISE(ABORT, 'no way'); END;")
    #expect(error?.code == .constraintConflict)
    #expect(error?.message.contains("by a trigger or a rule of its own: no way") == true, "\(error as Any)")
  }

  @Test(arguments: tables)
  func aKeyOfAHistoryThatIsTakenIsExplained(_ table: String, _ number: Int) throws {
    let error = try failure(of: table, "INSERT INTO \(table) (Z_PK, Z_ENT, Z_OPT) VALUES (1, \(number), 1);")
    #expect(error?.code == .invalidStore)
    #expect(
      error?.message.contains("set the greatest key (Z_MAX) of Z_ENT \(number) in Z_PRIMARYKEY") == true,
      "\(error as Any)")
  }

  @Test func metadataThatATriggerPassesOverIsNotToldAsSaved() throws {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    try raw.connection.execute("CREATE TRIGGER i BEFORE INSERT ON Z_METADATA BEGIN SELECT RAISE(IGNORE); END")
    let error = #expect(throws: GraphError.self) { try people.store.setMetadata(["a": 1]) }
    #expect(error?.code == .constraintConflict && error?.message.contains("ignores the metadata") == true)
  }

  @Test(arguments: [("ACHANGE", "ZENTITYPK"), ("ATRANSACTION", "ZTIMESTAMP"), ("ATRANSACTIONSTRING", "ZNAME")])
  func aColumnThatAHistoryLacksIsNamedAndNothingIsSaved(_ table: String, _ column: String) throws {
    let people = try PeopleStore()
    let raw = try RawDatabase(people.folder.file())
    try switchOn(people)
    try raw.connection.executeScript("ALTER TABLE \(table) RENAME COLUMN \(column) TO other")
    let error = #expect(throws: GraphError.self) { try people.insert(people.row("Person")) }
    #expect(error?.code == .invalidStore)
    #expect(error?.message.contains("is damaged: table \(table) has no column \(column)") == true, "\(error as Any)")
    #expect(try raw.value("SELECT COUNT(*) FROM ZPERSON") == "0")
  }

  /// No change is reported as a different one, and none is silently omitted.
  @Test(arguments: [
    ("ACHANGE", "ZCHANGETYPE = 'x'"), ("ACHANGE", "ZCHANGETYPE = NULL"), ("ACHANGE", "ZCHANGETYPE = 9"),
    ("ACHANGE", "ZENTITY = 'x'"), ("ACHANGE", "ZENTITYPK = 'x'"), ("ATRANSACTION", "ZTIMESTAMP = 'never'"),
    ("ATRANSACTION", "ZTIMESTAMP = NULL"), ("ATRANSACTIONSTRING", "ZNAME = CAST(x'ff' || Z_PK AS TEXT)"),
  ])
  func aDamagedRowIsAnErrorThatNamesIt(_ table: String, _ damage: String) throws {
    let people = try PeopleStore(options: .init(tracksHistory: true, transactionAuthor: "tests"))
    for _ in 0..<2 { try people.insert(people.row("Person", ["firstName": "Ada"])) }
    let key = table == "ATRANSACTIONSTRING" ? "1 = 1" : "Z_PK = 2"
    try RawDatabase(people.folder.file()).connection.execute("UPDATE \(table) SET \(damage) WHERE \(key)")
    let history = try #require(try people.store.history())
    let error = #expect(throws: GraphError.self) {
      try history.transactions(.all, includingChanges: true, limit: 0)
    }
    let row = table == "ATRANSACTIONSTRING" ? "row 1 of the history (ATRANSACTION)" : "row 2 of the history (\(table))"
    #expect(error?.code == .invalidStore && error?.message.contains(row) == true, "\(error as Any)")
    if table == "ATRANSACTIONSTRING" { return }
    #expect(try history.transactions(.before(2), includingChanges: true, limit: 0).count == 1)
    var findings: [StoreFinding] = []
    try StoreCheck(storeAt: people.folder.file(), model: people.model) { findings.append($0) }.run()
    #expect(findings.map(\.kind) == [.history] && findings.map(\.place) == ["\(table) 2"], "\(findings)")
  }
}
