import MoonbasePlatform
import MoonbaseTestSupport
import Testing

@Suite struct DoctorCommandTests {
  private func doctor(_ bench: Workbench, _ arguments: String...) throws -> Workbench.Outcome {
    try bench.moonbase(["doctor", "s.sqlite"] + arguments)
  }

  @Test func aSoundStoreHasNothingAndStaysAsItIs() throws {
    let bench = try Workbench.withPeople()
    let before = try bench.contents()
    for arguments in [[], ["--json"], ["--repair"]] {
      let outcome = try bench.moonbase(["doctor", "s.sqlite"] + arguments)
      #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
      #expect(outcome.complaints.contains("nothing is wrong"))
    }
    #expect(try bench.contents() == before)
  }

  @Test func aLogThatMayHaveBeenLeftBehindIsTold() throws {
    let bench = try Workbench()
    try bench.write("return { entities = { P = {} } }", to: "m.lua")
    let other = try bench.begin(
      "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
      "print('made') io.stdout:flush() io.read('l') moonbase.context:insert('P') assert(moonbase.context:save())")
    try other.wait(for: "made")
    #expect(try bench.program("cp", "s.sqlite", "copy.sqlite").status == 0)
    other.say("go on")
    #expect(try other.end() == 0)
    let copy = try bench.moonbase("doctor", "copy.sqlite")
    #expect(copy.status == 0 && copy.complaints.contains("copy.sqlite wants a write-ahead log, has none"), "\(copy)")
    #expect(try !bench.moonbase("doctor", "s.sqlite").complaints.contains("write-ahead log"))
  }

  @Test func extensionsThatAreNotLoadedAreToldWithWhatWasLeftOut() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = { P = { attributes = { n = "integer16",
        c = { "transformable", transformer = "CTransformer", class = "C" },
        u = { "transformable", transformer = "URLTransformer" } } } } }
      """, to: "m.lua")
    try bench.write(
      """
      local C = {} C.__index = C
      return { name = "colours", classes = { C = C }, transformers = { CTransformer = { class = "C",
        transform = function() return "x" end, reverse = function() return setmetatable({}, C) end } } }
      """, to: "colours.lua")
    let made = try bench.moonbase(
      "run", "--store", "s.sqlite", "--model", "m.lua", "--extension", "colours.lua", "-e",
      "moonbase.context:insert('P') assert(moonbase.context:save())")
    try #require(made.status == 0, "\(made)")
    let without = try doctor(bench)
    #expect(without.status == 0 && without.output == "", "\(without)")
    #expect(
      without.complaints == """
        moonbase: s.sqlite: saves of the store ran with extension colours, and the model names transformer CTransformer, \
        class C, which no extension here provides: its rules, derived attributes and values were not checked; name it \
        with --extension PATH
        moonbase: nothing is wrong

        """, "\(without)")
    let with = try doctor(bench, "--extension", "colours.lua")
    #expect(with.complaints == "moonbase: nothing is wrong\n", "\(with)")
  }

  @Test func valuesRowsAndRulesAreNamedAndLeftToAPerson() throws {
    let bench = try Workbench.withPeople()
    try bench.execute(
      "UPDATE ZPERSON SET ZAGE = 'old' WHERE Z_PK = 1; UPDATE ZDEPARTMENT SET Z_ENT = 99 WHERE Z_PK = 1; "
        + "UPDATE ZPERSON SET Z_OPT = 'x' WHERE Z_PK = 2", in: "s.sqlite")
    let before = try bench.contents()
    let outcome = try doctor(bench)
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("value: Person/1 (ZPERSON): age holds the text \"old\""), "\(outcome)")
    #expect(outcome.output.contains("row: ZDEPARTMENT 1: Z_ENT is 99, which is no entity of this table"))
    #expect(outcome.output.contains("row: ZPERSON 2: Z_OPT is x, which is no version, or none can follow it"))
    #expect(outcome.complaints.contains("3 things are wrong"))
    let json = try doctor(bench, "--json").output.split(separator: "\n")
    #expect(json.count == 3 && json.allSatisfy { $0.hasPrefix("{\"event\": \"found\"") && $0.hasSuffix("false}") })
    #expect(try bench.contents() == before)
  }

  @Test func whatTheFileLacksIsNamedAndNothingIsMendedThen() throws {
    let bench = try Workbench.withPeople()
    try bench.execute(
      "ALTER TABLE ZPERSON DROP COLUMN ZNAME; UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person'",
      in: "s.sqlite")
    let before = try bench.contents()
    let outcome = try doctor(bench, "--repair")
    #expect(outcome.status == 1)
    #expect(outcome.output.contains("missing: ZPERSON: table ZPERSON has no column ZNAME"), "\(outcome)")
    #expect(outcome.output.contains("counter: ") && !outcome.output.contains("mended: "), "\(outcome)")
    #expect(try bench.contents() == before)
  }

  @Test func whatIsSafeIsMendedWithAllItsBookkeeping() throws {
    let bench = try Workbench.withPeople()
    try bench.execute(
      """
      UPDATE ZPERSON SET ZDEPARTMENT = 77 WHERE Z_PK = 1;
      INSERT INTO Z_3FRIENDS VALUES (1, 88);
      UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person';
      """.replacing("Z_3FRIENDS", with: try pairTable(bench)), in: "s.sqlite")
    let found = try doctor(bench)
    #expect(found.status == 1)
    #expect(
      found.output.contains("reference: Person/1 (ZPERSON): department leads to Department/77, which is not there"))
    #expect(found.output.contains("the pair of 1 and 88 names a row that is not there"), "\(found)")
    #expect(found.output.contains("Z_MAX is 1, and ZPERSON has a row 3"))
    let mended = try doctor(bench, "--repair")
    #expect(mended.status == 0 && mended.complaints.contains("all of 3 mended"), "\(mended)")
    #expect(mended.output.split(separator: "\n").filter { $0.hasPrefix("mended: ") }.count == 3)
    #expect(try doctor(bench).status == 0)
    let row = try bench.program(
      "sqlite3", "s.sqlite", "SELECT ZDEPARTMENT IS NULL, Z_OPT > 1 FROM ZPERSON WHERE Z_PK = 1")
    #expect(row.output == "1|1\n")
    #expect(try bench.moonbase("fetch", "Person", "--store", "s.sqlite", "--count").output == "3\n")
  }

  @Test func placesAndDerivedAttributesAreLookedAtAndMended() throws {
    let bench = try Workbench()
    try bench.write(
      """
      return { entities = {
        Book = { attributes = { title = "string", upper = { "string", derivation = "uppercase:(title)" },
            pageCount = { "integer64", default = 0, derivation = "pages.@count" },
            tagCount = { "integer64", default = 0, derivation = "tags.@count" } },
          relationships = { pages = { to_many = "Page", inverse = "book", ordered = true }, tags = { to_many = "Tag", inverse = "books" } } },
        Page = { attributes = { text = "string" }, relationships = { book = { to = "Book", inverse = "pages" } } },
        Tag = { relationships = { books = { to_many = "Book", inverse = "tags" } } },
      } }
      """, to: "m.lua")
    let code = """
      local c = moonbase.context
      local book = c:insert("Book", { title = "dune" })
      for i = 1, 4 do book.pages:add(c:insert("Page", { text = "p" .. i })) end
      for i = 1, 3 do book.tags:add(c:insert("Tag")) end
      assert(c:save())
      """
    let made = try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code)
    try #require(made.status == 0, "\(made)")
    #expect(try doctor(bench).status == 0)
    try bench.execute(
      """
      UPDATE ZPAGE SET Z_FOK_BOOK = 2048 WHERE ZTEXT = 'p3'; UPDATE ZPAGE SET Z_FOK_BOOK = NULL WHERE ZTEXT = 'p4';
      UPDATE ZBOOK SET ZPAGECOUNT = 7, ZUPPER = 'X'; DELETE FROM ZTAG WHERE Z_PK = 3;
      """, in: "s.sqlite")
    let found = try doctor(bench).output
    #expect(found.contains("order: Book/1 (ZBOOK): pages: of 4 objects 2 have no place of their own"), "\(found)")
    #expect(found.contains("derived: Book/1 (ZBOOK): pageCount holds 7, and pages.@count gives 4"), "\(found)")
    #expect(found.contains("derived: Book/1 (ZBOOK): upper holds X, and uppercase:(title) gives DUNE"), "\(found)")
    #expect(found.contains("reference: Z_"), "\(found)")
    let mended = try doctor(bench, "--repair")
    #expect(mended.status == 0 && mended.complaints.contains("mended"), "\(mended)")
    #expect(try doctor(bench).status == 0)
    let rows = try bench.program(
      "sqlite3", "s.sqlite",
      "SELECT ZPAGECOUNT, ZUPPER, ZTAGCOUNT FROM ZBOOK; SELECT group_concat(ZTEXT || Z_FOK_BOOK) FROM (SELECT * FROM ZPAGE ORDER BY Z_FOK_BOOK)"
    )
    #expect(rows.output == "4|DUNE|2\np11024,p21536,p32048,p43072\n")
  }

  private func pairTable(_ bench: Workbench) throws -> String {
    let names = try bench.program(
      "sqlite3", "s.sqlite", "SELECT name FROM sqlite_master WHERE name GLOB 'Z_*FRIENDS'")
    return try #require(names.output.split(separator: "\n").first.map(String.init))
  }

  @Test func filesThatNobodyNamesAndFilesThatAreMissingAreTold() throws {
    let bench = try Workbench()
    try bench.write(
      "return { entities = { Photo = { attributes = { bytes = { 'binary', external_storage = true } } } } }",
      to: "m.lua")
    let code = "moonbase.context:insert('Photo', { bytes = ('x'):rep(200000) }) assert(moonbase.context:save())"
    #expect(try bench.moonbase("run", "--store", "s.sqlite", "--model", "m.lua", "-e", code).status == 0)
    let folder = bench.file(".s_SUPPORT/_EXTERNAL_DATA")
    let name = try #require(try FileManager.default.contentsOfDirectory(atPath: folder.path).first)
    let orphan = folder.appendingPathComponent("00000000-0000-0000-0000-00000000000A")
    try FileManager.default.moveItem(at: folder.appendingPathComponent(name), to: orphan)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSince1970: 0)], ofItemAtPath: orphan.path)
    let found = try doctor(bench)
    #expect(found.status == 1 && found.output.contains("bytes names the file"), "\(found)")
    #expect(found.output.contains("orphan: ") && found.output.contains("no row names this file of a value"))
    let mended = try doctor(bench, "--repair")
    #expect(mended.status == 1 && mended.complaints.contains("1 of 2 mended, 1 left"), "\(mended)")
    #expect(!FileManager.default.fileExists(atPath: orphan.path))
  }

  @Test func aDamagedFileAndWhatIsNoStoreAreErrors() throws {
    let bench = try Workbench.withPeople()
    try bench.write("hello", to: "text")
    for file in ["text", "none", "."] {
      let refused = try bench.moonbase("doctor", file)
      #expect(refused.status == 1 && refused.output == "", "\(refused)")
    }
    try bench.execute("PRAGMA journal_mode = DELETE", in: "s.sqlite")
    var bytes = try bench.bytes(of: "s.sqlite")
    let page = 4096 * 3
    bytes.replaceSubrange(page..<page + 200, with: Data(repeating: 0xee, count: 200))
    try bytes.write(to: bench.file("s.sqlite"))
    let damaged = try doctor(bench)
    #expect(damaged.status == 1 && !(damaged.output + damaged.complaints).isEmpty, "\(damaged)")
    #expect(try bench.bytes(of: "s.sqlite") == bytes)
  }

  @Test func objectsHaveShortIDsOrURIsAndValuesBreakNoLines() throws {
    let bench = try Workbench.withPeople()
    try bench.execute(
      "UPDATE ZPERSON SET ZAGE = 'two' || CHAR(10) || 'lines' || CHAR(27) WHERE Z_PK = 1", in: "s.sqlite")
    let short = try bench.moonbase("doctor", "s.sqlite")
    #expect(short.output.hasPrefix(#"value: Person/1 (ZPERSON): age holds the text "two\nlines"#), "\(short)")
    #expect(short.output.split(separator: "\n").count == 1 && !short.output.contains("\u{1b}"), "\(short)")
    let whole = try bench.moonbase("doctor", "s.sqlite", "--uri")
    #expect(whole.output.hasPrefix("value: x-coredata://") && whole.output.contains("/Person/p1 (ZPERSON)"), "\(whole)")
    let json = try bench.moonbase("doctor", "s.sqlite", "--uri", "--json")
    #expect(json.output.contains("/Person/p1 (ZPERSON)"), "\(json)")
  }
}
