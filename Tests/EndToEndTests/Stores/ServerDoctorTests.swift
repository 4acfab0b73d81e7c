#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// `moonbase doctor` over a schema of PostgreSQL. The findings are those of files.
  @Suite struct ServerDoctorTests {
    private let bench: Workbench
    private let server: String

    init() throws {
      (bench, server) = try Workbench.withPeopleOnServer()
    }

    private func doctor(_ arguments: String...) throws -> Workbench.Outcome {
      try bench.moonbase(["doctor", server] + arguments)
    }

    @Test func aSoundStoreHasNothing() throws {
      for arguments in [[], ["--json"], ["--repair"]] {
        let outcome = try bench.moonbase(["doctor", server] + arguments)
        #expect(outcome.status == 0 && outcome.output == "", "\(outcome)")
        #expect(outcome.complaints.contains("nothing is wrong"))
      }
    }

    @Test func valuesRowsAndRulesAreNamedAndLeftToAPerson() throws {
      try bench.write(
        """
        return { entities = { P = { attributes = {
          small = "integer16", flag = "boolean", text = { "string", optional = false, min_length = 2 }, mail = "string", site = "uri" },
          constraints = { { "mail" } } } } }
        """, to: "p.lua")
      let server = try PostgreSQLServer.newAddress().absoluteString
      let made = try bench.moonbase(
        "run", "--store", server, "--model", "p.lua", "-e",
        "for i = 1, 4 do moonbase.context:insert('P', { text = 'ab', mail = 'm' .. i }) end assert(moonbase.context:save())"
      )
      try #require(made.status == 0, "\(made)")
      let index = try bench.psql(
        "SELECT indexname FROM pg_indexes WHERE indexdef LIKE '%UNIQUE%zmail%' AND schemaname = current_schema()",
        at: server)
      try bench.psql(
        """
        UPDATE ZP SET ZSMALL = 70000 WHERE Z_PK = 1; UPDATE ZP SET ZFLAG = 5, Z_ENT = 9 WHERE Z_PK = 2;
        UPDATE ZP SET ZTEXT = 'a', ZSITE = 'a b', Z_OPT = 9223372036854775807 WHERE Z_PK = 3; UPDATE ZP SET ZTEXT = NULL WHERE Z_PK = 4;
        DROP INDEX "\(index.trimmingCharacters(in: .whitespacesAndNewlines))"; UPDATE ZP SET ZMAIL = 'm1' WHERE Z_PK = 4;
        """, at: server)
      let outcome = try bench.moonbase("doctor", server)
      #expect(outcome.status == 1)
      for line in [
        "row: ZP 2: Z_ENT is 9, which is no entity of this table",
        "row: ZP 3: Z_OPT is 9223372036854775807, which is no version, or none can follow it: set it to 1",
        "value: P/1 (ZP): small holds 70000, which is no 16-bit integer",
        "value: P/3 (ZP): site holds the text \"a b\"",
        "rule: P/3 (ZP): text ", "rule: P/4 (ZP): text is required and has no value",
        "rule: P/1 (ZP): mail: 2 objects have the same, which is to be unique",
      ] {
        #expect(outcome.output.contains(line), "\(line): \(outcome)")
      }
      #expect(
        outcome.output.split(separator: "\n").count == 7 && outcome.complaints.contains("7 things are wrong"),
        "\(outcome)")
      let json = try bench.moonbase("doctor", server, "--json").output.split(separator: "\n")
      #expect(json.count == 7 && json.allSatisfy { $0.hasPrefix("{\"event\": \"found\"") && $0.hasSuffix("false}") })
    }

    @Test func columnsOfAnotherTypeAreNamedWithTheStatementThatPutsThemRight() throws {
      try bench.psql(
        "DROP SCHEMA \(Workbench.parts(of: server).schema)_views CASCADE",
        "ALTER TABLE ZPERSON ALTER COLUMN ZAGE TYPE numeric(20,2), ALTER COLUMN ZNAME TYPE text COLLATE \"default\"",
        at: server)
      let outcome = try doctor()
      #expect(outcome.status == 1 && outcome.output.split(separator: "\n").count == 2, "\(outcome)")
      #expect(outcome.output.contains("column ZAGE of table ZPERSON has the type numeric(20,2), and not bigint"))
      #expect(
        outcome.output.contains("has the type text COLLATE \"default\", and not text COLLATE \"C\""), "\(outcome)")
      let refused = try bench.moonbase("fetch", "Person", server)
      #expect(refused.status == 1 && refused.complaints.contains("has the type"), "\(refused)")
      // The statements of the advice put the columns right.
      let statements = outcome.output.matches(of: #/\((DROP SCHEMA [^\n]*)\)/#).map { String($0.1) }
      for statement in statements { try bench.psql(statement, at: server) }
      let right = try doctor()
      #expect(statements.count == 2 && right.status == 0, "\(right)")
      try bench.psql("ALTER TABLE ZPERSON ALTER COLUMN Z_OPT TYPE integer", at: server)
      #expect(try doctor().complaints.contains("column Z_OPT of table ZPERSON has the type integer"))
    }

    @Test func aLostKeyAndALostTableAreNamed() throws {
      try bench.psql("DROP TABLE Z_SAVES", at: server)
      let saves = try doctor()
      #expect(saves.status == 1 && saves.output.contains("missing: Z_SAVES: "), "\(saves)")
      let statement = try #require(saves.output.firstMatch(of: #/\((SET search_path.*)\)\n/#)).1
      try bench.psql(String(statement), at: server)
      #expect(try doctor().status == 0)
      try bench.psql("ALTER TABLE ZPERSON DROP CONSTRAINT ZPERSON_PKEY", at: server)
      for arguments in [["doctor", server], ["fetch", "Person", server]] {
        let refused = try bench.moonbase(arguments)
        #expect(refused.status == 1 && refused.complaints.contains("ZPERSON has no primary key"), "\(refused)")
      }
    }

    @Test func aNumberThatIsNoneIsADamagedValue() throws {
      try bench.psql(
        "UPDATE ZPERSON SET ZHEIGHT = 'NaN' WHERE Z_PK = 1; UPDATE ZPERSON SET ZBORN = 'NaN' WHERE Z_PK = 2; "
          + "UPDATE ZPERSON SET ZSALARY = 'NaN' WHERE Z_PK = 3", at: server)
      let outcome = try doctor()
      #expect(outcome.status == 1, "\(outcome)")
      for line in [
        "value: Person/1 (ZPERSON): height holds NaN, which is no number",
        "value: Boss/2 (ZPERSON): born holds NaN, which is no date",
        "value: Person/3 (ZPERSON): salary holds NaN or infinity, which is no decimal",
      ] {
        #expect(outcome.output.contains(line), "\(outcome)")
      }
      // No copy loses the value in silence.
      for arguments in [["backup", server, "b.sqlite"], ["copy", server, "c.sqlite"]] {
        let refused = try bench.moonbase(arguments)
        #expect(refused.status == 1 && refused.complaints.contains("NaN"), "\(refused)")
      }
    }

    @Test func theSchemaOfADeadCopyIsFoundAndDropped() throws {
      let (_, schema) = Workbench.parts(of: server)
      let left = "\(schema.prefix(12))_new_0d3f1c52-6a9e-4f0a-9a51-0a2d4f6b8c10"
      try bench.psql("CREATE SCHEMA \"\(left)\"; CREATE TABLE \"\(left)\".zperson (z_pk bigint)", at: server)
      let found = try doctor()
      #expect(found.status == 1 && found.output.contains("orphan: \(left): "), "\(found)")
      let mended = try doctor("--repair")
      #expect(mended.status == 0 && mended.output.contains("mended: orphan: \(left)"), "\(mended)")
      #expect(try bench.psql("SELECT COUNT(*) FROM pg_namespace WHERE nspname = '\(left)'", at: server) == "0\n")
    }

    @Test func whatTheSchemaLacksIsNamedAndNothingIsMendedThen() throws {
      try bench.psql(
        "ALTER TABLE ZPERSON DROP COLUMN ZNAME CASCADE; UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person'",
        at: server)
      let outcome = try doctor("--repair")
      #expect(outcome.status == 1)
      #expect(outcome.output.contains("missing: ZPERSON: table ZPERSON has no column ZNAME"), "\(outcome)")
      #expect(outcome.output.contains(".ZPERSON ADD COLUMN ZNAME text COLLATE \"C\")"), "\(outcome)")
      #expect(outcome.output.contains("counter: ") && !outcome.output.contains("mended: "), "\(outcome)")
      #expect(try bench.psql("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'", at: server) == "1\n")
    }

    @Test func whatIsSafeIsMended() throws {
      let pairs = try bench.psql(
        "SELECT relname FROM pg_class WHERE relname LIKE 'z\\_%friends' AND relnamespace = current_schema()::regnamespace",
        at: server
      )
      .trimmingCharacters(in: .whitespacesAndNewlines)
      try bench.psql(
        "UPDATE ZPERSON SET ZDEPARTMENT = 77 WHERE Z_PK = 1; INSERT INTO \(pairs) VALUES (1, 88); "
          + "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_NAME = 'Person'", at: server)
      let found = try doctor()
      #expect(found.status == 1)
      #expect(
        found.output.contains("reference: Person/1 (ZPERSON): department leads to Department/77, which is not there"),
        "\(found)")
      #expect(found.output.contains("the pair of 1 and 88 names a row that is not there"), "\(found)")
      #expect(found.output.contains("Z_MAX is 1, and ZPERSON has a row 3"), "\(found)")
      let mended = try doctor("--repair")
      #expect(mended.status == 0 && mended.complaints.contains("all of 3 mended"), "\(mended)")
      #expect(try doctor().status == 0)
      #expect(
        try bench.psql("SELECT ZDEPARTMENT IS NULL, Z_OPT > 1 FROM ZPERSON WHERE Z_PK = 1", at: server) == "t|t\n")
    }

    @Test func placesAndDerivedAttributesAreLookedAtAndMended() throws {
      try bench.write(
        """
        return { entities = {
          Book = { attributes = { title = "string", upper = { "string", derivation = "uppercase:(title)" },
              pageCount = { "integer64", default = 0, derivation = "pages.@count" } },
            relationships = { pages = { to_many = "Page", inverse = "book", ordered = true } } },
          Page = { attributes = { text = "string" }, relationships = { book = { to = "Book", inverse = "pages" } } },
        } }
        """, to: "b.lua")
      let code = """
        local c = moonbase.context
        local book = c:insert("Book", { title = "dune" })
        for i = 1, 4 do book.pages:add(c:insert("Page", { text = "p" .. i })) end
        assert(c:save())
        """
      let server = try PostgreSQLServer.newAddress().absoluteString
      let made = try bench.moonbase("run", "--store", server, "--model", "b.lua", "-e", code)
      try #require(made.status == 0, "\(made)")
      #expect(try bench.moonbase("doctor", server).status == 0)
      try bench.psql(
        "UPDATE ZPAGE SET Z_FOK_BOOK = 2048 WHERE ZTEXT = 'p3'; UPDATE ZPAGE SET Z_FOK_BOOK = NULL WHERE ZTEXT = 'p4'; "
          + "UPDATE ZBOOK SET ZPAGECOUNT = 7, ZUPPER = 'X'", at: server)
      let found = try bench.moonbase("doctor", server)
      #expect(found.output.contains("derived: Book/1 (ZBOOK): pageCount holds 7, and pages.@count gives 4"), "\(found)")
      #expect(
        found.output.contains("derived: Book/1 (ZBOOK): upper holds X, and uppercase:(title) gives DUNE"), "\(found)")
      #expect(found.output.contains("order: Book/1 (ZBOOK): pages: of 4 objects"), "\(found)")
      let mended = try bench.moonbase("doctor", server, "--repair")
      #expect(mended.status == 0 && mended.complaints.contains("all of 3 mended"), "\(mended)")
      #expect(try bench.psql("SELECT ZPAGECOUNT, ZUPPER FROM ZBOOK", at: server) == "4|DUNE\n")
      #expect(try bench.psql("SELECT COUNT(DISTINCT Z_FOK_BOOK) FROM ZPAGE", at: server) == "4\n")
    }

    @Test func aHistoryWithoutItsTransactionIsNamed() throws {
      let server = try PostgreSQLServer.newAddress().absoluteString
      let made = try bench.moonbase(
        "run", "--store", server, "--model", "m.lua", "--keep-history", "-e",
        "moonbase.context:insert('Person') assert(moonbase.context:save())")
      try #require(made.status == 0, "\(made)")
      try bench.psql("DELETE FROM ATRANSACTION", at: server)
      let outcome = try bench.moonbase("doctor", server)
      #expect(
        outcome.status == 1 && outcome.output.contains("history: ACHANGE 1: its transaction is not there"), "\(outcome)"
      )
    }
  }
#endif
