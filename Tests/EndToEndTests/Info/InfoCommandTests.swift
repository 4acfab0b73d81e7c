import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct InfoCommandTests {
  @Test func entitiesAreCountedAndTheFileStaysAsItWas() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } }, Car = {} } }", to: "m.lua")
    let code = "for i = 1, 3 do moonbase.context:insert('Person') end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    let before = try bench.bytes(of: "s.sqlite")
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.status == 0)
    #expect(info.output.contains("Person                          3\n"))
    #expect(info.output.contains("Car                             0\n"))
    #expect(try bench.moonbase("info", "s.sqlite", "--json").output.contains("\"count\" : 3"))
    #expect(try bench.bytes(of: "s.sqlite") == before)
    #expect(try bench.names() == ["m.lua", "s.sqlite"])
  }

  @Test func anIndexThatNoFileHasIsTold() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { Place = { attributes = { x = "double", name = "string" }, indexes = {
        byX = { { "name", kind = "rtree" } }, byPlace = { { "x", kind = "rtree" } }, byName = { "name" }, byDouble = { { "x * 2", expression = true } } } } } }
      """, to: "m.lua")
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "").status == 0)
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.output.contains("not indexed Place.byX: its element name is a string"), "\(info)")
    #expect(info.output.split(separator: "\n").count { $0.hasPrefix("not indexed") } == 1)
    #expect(try bench.moonbase("info", "s.sqlite", "--json").output.contains("Place.byX: its element name"))
    #expect(try bench.moonbase("model", "check", "m.lua").complaints.contains("its index byX is made in no store here"))
  }

  @Test func subentitiesStandBelowTheirParentsAndTheModelsVersionIsTold() throws {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { Thing = {}, Car = { parent = 'Thing' }, Sports = { parent = 'Car' } } }", to: "m.lua")
    let code = "moonbase.context:insert('Sports') assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    let lines = try bench.moonbase("info", "s.sqlite").output.split(separator: "\n")
    #expect(lines.suffix(3).map { $0.replacing(/\s+\d$/, with: "") } == ["Thing", "  Car", "    Sports"])
    #expect(lines.contains { $0.wholeMatch(of: /model +\S{20,}/) != nil })
    #expect(try bench.moonbase("info", "s.sqlite", "--json").output.contains("\"superentity\" : \"Thing\""))
  }

  @Test func aStoreOfOneConfigurationTellsWhichAndWhatItHolds() throws {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { A = {}, B = {} }, configurations = { one = { 'A' }, two = { 'B' } } }", to: "m.lua")
    let code = "moonbase.context:insert('A') moonbase.context:insert('B') assert(moonbase.context:save())"
    let stores = ["--store", "one=1.sqlite", "--store", "two=2.sqlite"]
    #expect(try bench.moonbase(["run"] + stores + ["--model", "m.lua", "-e", code]).status == 0)
    let info = try bench.moonbase("info", "1.sqlite")
    #expect(info.status == 0 && info.output.contains("configuration one of the model"), "\(info)")
    #expect(info.output.contains("A                               1\n") && !info.output.contains("B  "), "\(info)")
    let refused = try bench.moonbase("run", "--store", "1.sqlite", "-e", "")
    #expect(refused.status == 1 && refused.complaints.contains("--store one="), "\(refused)")
  }

  @Test func whatIsNoStoreIsRefused() throws {
    let bench = try Workbench()
    try bench.write("hello", to: "text.sqlite")
    let refused = try bench.moonbase("info", "text.sqlite")
    #expect(refused.status == 1)
    #expect(refused.complaints.contains("not a SQLite database"))
    #expect(try bench.moonbase("info", "nowhere.sqlite").status == 1)
    #expect(try bench.names() == ["text.sqlite"])
  }

  @Test func aStoreWithoutAModelTellsItsIdentityAndItsTables() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { Person = {}, Car = { } } }", to: "m.lua")
    let code = "for i = 1, 3 do moonbase.context:insert('Person') end assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    #expect(try bench.program("sqlite3", "s.sqlite", "DROP TABLE Z_MODELCACHE").status == 0)
    let before = try bench.bytes(of: "s.sqlite")
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.status == 0 && info.complaints == "")
    #expect(info.output.contains(/identifier  [0-9A-F-]{36}/))
    #expect(info.output.contains("\n\ns.sqlite carries no model (an old framework wrote it): name the one that "))
    #expect(
      info.output.hasSuffix("\nZCAR                            0\nZPERSON                         3\n"), "\(info)")
    #expect(try bench.moonbase("info", "s.sqlite", "--json").output.contains("\"rows\" : 3"))
    #expect(try bench.bytes(of: "s.sqlite") == before)
    // Every command that needs the model reports the same.
    try bench.write("return { entities = { Person = { attributes = { name = 'string' } } } }", to: "n.lua")
    for arguments in [
      ["fetch", "Person", "--store", "s.sqlite"], ["export", "Person", "--store", "s.sqlite"], ["doctor", "s.sqlite"],
      ["history", "s.sqlite"], ["each", "Person", "--store", "s.sqlite", "--do", "return"],
      ["model", "show", "s.sqlite"],
      ["run", "--store", "s.sqlite", "-e", "return"], ["migrate", "s.sqlite", "--to", "n.lua"],
      ["import", "Person", "m.lua", "--format", "csv", "--store", "s.sqlite"],
    ] {
      let outcome = try bench.moonbase(arguments)
      let says =
        "s.sqlite carries no model (an old framework wrote it): name the one that it was made with (--model FILE, "
      #expect(outcome.status == 1 && outcome.complaints.contains(says), "\(arguments) \(outcome)")
      #expect(outcome.complaints.contains("moonbase info and moonbase sql"))
    }
    let sql = try bench.moonbase("sql", "s.sqlite", "SELECT COUNT(*) AS n FROM ZPERSON")
    #expect(sql.status == 0 && sql.complaints.contains("s.sqlite carries no model"))
  }
}

@Suite struct InfoFileTests {
  @Test func theFileItsLogAndTablesOfOthersAreTold() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("CREATE TABLE notes (x); CREATE TABLE ANSCKEVENT (Z_PK INTEGER PRIMARY KEY)", in: "s.sqlite")
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.status == 0)
    #expect(info.output.contains(/size        \d+ bytes/))
    #expect(info.output.contains("journal     write-ahead log, none there\n"), "\(info)")
    #expect(info.output.contains("CloudKit    mirrors it: it is written with --allow-cloudkit only"))
    #expect(info.output.contains("others'     notes (tables that the model does not know)"), "\(info)")
    let json = try bench.moonbase("info", "s.sqlite", "--json")
    #expect(json.output.contains("\"journalMode\" : \"wal\"") && json.output.contains("\"unknownTables\" : [\n"))
  }

  /// Only an existing log may hold data that the file lacks.
  @Test func aLogThatLiesBesideTheFileIsToldWithWhatACopyWouldLack() throws {
    let bench = try Workbench.withPeople()
    let writer = try bench.begin(
      "run", "--store", "s.sqlite", "-e",
      "moonbase.context:insert('Department', { name = 'New' }) assert(moonbase.context:save()) print('saved') io.read()"
    )
    try writer.wait(for: "saved")
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(
      info.output.contains(/journal     write-ahead log of \d+ bytes: a copy of the file alone may lack/), "\(info)")
    writer.kill()
  }

  @Test func manyTablesOfOthersAndAnEmptyVersionTakeNoRoom() throws {
    let bench = try Workbench()
    try bench.write("return { version = '', entities = { P = {} } }", to: "m.lua")
    try #require(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "").status == 0)
    let tables = (10..<25).map { "CREATE TABLE t\($0) (x);" }.joined()
    try bench.execute(tables, in: "s.sqlite")
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.output.contains("others'     t10, t11, t12, t13, t14, t15, t16, t17, t18, t19 and 5 more"), "\(info)")
    #expect(!info.output.contains("\nversion"), "\(info)")
  }

  /// Each line is padded for its own name, not for the longest one.
  @Test func aLongNameWidensNoOtherLine() throws {
    let bench = try Workbench()
    try bench.write(
      "local model = { entities = { [string.rep('A', 10000)] = {} } } for i = 1, 20 do model.entities['E' .. i] = {} end return model",
      to: "m.lua")
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", "").status == 0)
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.status == 0 && info.output.utf8.count < 12_000, "\(info.output.utf8.count)")
    #expect(info.output.contains("E20                             0\n"))
  }

  @Test func whatTheFileLacksIsNamedAndTheRestCounted() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("DROP TABLE ZDEPARTMENT; ALTER TABLE ZPERSON DROP COLUMN ZNAME", in: "s.sqlite")
    let info = try bench.moonbase("info", "s.sqlite")
    #expect(info.status == 0)
    #expect(info.output.contains("read-only   it has no table ZDEPARTMENT, so objects of Department cannot be read; "))
    #expect(info.output.contains("read-only   table ZPERSON has no column ZNAME, so Person.name cannot be read; "))
    #expect(info.output.contains("Department                      cannot be read\n"), "\(info)")
    #expect(info.output.contains("Person                          2\n  Boss                          1\n"), "\(info)")
    let json = try bench.moonbase("info", "s.sqlite", "--json").output
    #expect(json.contains("\"missingFeatures\" : [\n") && json.contains("\"property\" : \"name\""), "\(json)")
  }

  @Test func aModelThatIsNamedStandsInForTheOneThatIsMissing() throws {
    let bench = try Workbench.withPeople()
    try bench.execute("DROP TABLE Z_MODELCACHE", in: "s.sqlite")
    let info = try bench.moonbase("info", "s.sqlite", "--model", "m.lua")
    #expect(info.status == 0 && info.output.contains("Department                      1\n"), "\(info)")
    #expect(try bench.moonbase("info", "s.sqlite").output.contains("(--model FILE, of moonbase"))
    try bench.write("return { entities = { Person = { attributes = { nick = 'string' } } } }", to: "other.lua")
    #expect(try bench.moonbase("info", "s.sqlite", "--model", "other.lua").status == 1)
  }
}
