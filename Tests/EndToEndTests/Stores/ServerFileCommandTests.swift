#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// `sql`, `backup` and `vacuum` over a schema of PostgreSQL, and the readable views.
  @Suite struct ServerFileCommandTests {
    private let bench: Workbench
    private let server: String

    init() throws {
      (bench, server) = try Workbench.withPeopleOnServer()
    }

    private var schema: String { Workbench.parts(of: server).schema }

    private func answer(_ query: String, user: String? = nil) throws -> String {
      let address = user.map { server.replacing("moonbase@", with: "\($0)@") } ?? server
      let outcome = try bench.moonbase("sql", address, query, "--format", "csv")
      #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
      return outcome.output
    }

    // MARK: sql

    @Test func entitiesAndTheirPropertiesGoByTheirNames() throws {
      for (query, rows) in SQLCases.answers(friends: "Person_friends") {
        #expect(try answer(query) == rows, "\(query)")
      }
      #expect(try answer("SELECT born FROM Person WHERE born IS NOT NULL") == "born\n2001-01-01T00:00:01.5Z\n")
      #expect(
        try answer("SELECT age, height, salary, active, code, key FROM Person WHERE active")
          == "age,height,salary,active,code,key\n9007199254740993,1.5,12345678901234567.89,true,00000000-0000-0000-0000-00000000000a,AQI=\n"
      )
    }

    @Test func nothingIsWritten() throws {
      for query in SQLCases.writing + [
        "CREATE TABLE x (y int)", "VACUUM", "WITH d AS (DELETE FROM ZPERSON RETURNING 1) SELECT * FROM d", "COMMIT",
        "SELECT set_config('transaction_read_only', 'off', false)", "DO $$ BEGIN DELETE FROM ZPERSON; END $$",
        "COPY ZPERSON TO STDOUT", "SELECT nextval('x')", "SELECT 1 INTO x",
      ] {
        let outcome = try bench.moonbase("sql", server, query)
        #expect(outcome.status == 1 && outcome.output == "" && outcome.complaints != "", "\(query): \(outcome)")
      }
      #expect(try bench.psql("SELECT COUNT(*) FROM ZPERSON", at: server) == "3\n")
    }

    @Test func mistakesAreNamed() throws {
      func complaint(_ query: String) throws -> String {
        let outcome = try bench.moonbase("sql", server, query)
        #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
        return outcome.complaints
      }
      for (query, words) in SQLCases.mistakes { #expect(try complaint(query).contains(words), "\(query)") }
      #expect(try complaint("SELECT * FROM Persn").contains("did you mean person?"))
      #expect(try complaint("SELECT nme FROM Person").contains("column \"nme\" does not exist"))
      #expect(try complaint("SELECT 1 / 0").contains("division by zero"))
      #expect(try complaint("DELETE FROM ZPERSON").contains("is only read"))
    }

    @Test func anotherUserReadsByViewsOfItsConnection() throws {
      let reader = "reader_\(schema.prefix(12))"
      try bench.psql(
        "CREATE ROLE \(reader) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(reader)",
        "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(reader)", at: server)
      #expect(try answer("SELECT COUNT(*) n FROM Person", user: reader) == "n\n3\n")
      let denied = try bench.moonbase("info", server.replacing("moonbase@", with: "\(reader)@"))
      #expect(denied.status == 0, "\(denied)")
    }

    // MARK: Views

    @Test func viewsForPsqlAreMadeWithTheStoreAndRenewedByAMigration() throws {
      let views = "\(schema)_views"
      #expect(try bench.psql("SELECT name FROM \(views).person WHERE active", at: server) == "Ann, \"A\"\n")
      #expect(
        try bench.psql(
          "SELECT born = '2001-01-01 00:00:01.5+00', _entity FROM \(views).person WHERE born IS NOT NULL", at: server)
          == "t|Person\n")
      #expect(try bench.moonbase("info", server).output.contains("views       schema \(views)\n"))
      let reader = "viewer_\(schema.prefix(12))"
      try bench.psql(
        "CREATE ROLE \(reader) LOGIN", "GRANT USAGE ON SCHEMA \(views) TO \(reader)",
        "GRANT SELECT ON \(views).person TO \(reader)", at: server)
      try bench.write(
        String(decoding: bench.bytes(of: "m.lua"), as: UTF8.self)
          .replacing("name = \"string\", age", with: "name = \"string\", nick = \"string\", age"), to: "m2.lua")
      let migrated = try bench.moonbase("migrate", server, "--to", "m2.lua")
      try #require(migrated.status == 0, "\(migrated)")
      #expect(try bench.psql("SELECT COUNT(*) FROM \(views).person WHERE nick IS NULL", at: server) == "3\n")
      #expect(try bench.psql("SET ROLE \(reader)", "SELECT COUNT(name) FROM \(views).person", at: server) == "2\n")
      #expect(try answer("SELECT COUNT(*) n FROM Person WHERE nick IS NULL") == "n\n3\n")
    }

    /// The model in the store has its properties in another order than the model's file.
    @Test func viewsAreTheSameForTheModelsFileAndTheModelInTheStore() throws {
      let other = try PostgreSQLServer.newAddress().absoluteString
      let views = "schema \(Workbench.parts(of: other).schema)_views\n"
      let made = try bench.moonbase("run", "--store", other, "--model", "m.lua", "-e", "")
      #expect(made.status == 0, "\(made)")
      let told = try bench.moonbase("info", other)
      #expect(told.output.contains(views), "\(told)")
      let columns =
        "SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'person'::regclass"
      let search = "SET search_path TO \(Workbench.parts(of: other).schema)_views"
      #expect(
        try bench.psql(search, columns, at: other)
          == "_pk _entity active age born code department height key name salary site\n")
    }

    /// Dropping the tables of a store drops the views of these tables, and leaves their schema.
    @Test func viewsThatAreGoneAreMadeAnew() throws {
      try bench.psql("DROP SCHEMA \(schema) CASCADE", at: server)
      let copied = try bench.moonbase("copy", "s.sqlite", server, "--quiet")
      #expect(copied.status == 0, "\(copied)")
      #expect(try bench.psql("SELECT COUNT(*) FROM \(schema)_views.person", at: server) == "3\n")
    }

    @Test func theStoreOpensWhereNoViewsCanBeMade() throws {
      let other = try PostgreSQLServer.newAddress().absoluteString
      let name = other.split(separator: "?schema=")[1]
      try bench.psql("CREATE SCHEMA \(name)_views", "CREATE TABLE \(name)_views.mine (x int)", at: server)
      let made = try bench.moonbase(
        "run", "--store", other, "--model", "m.lua", "-e",
        "moonbase.context:insert('Person') assert(moonbase.context:save())")
      #expect(made.status == 0, "\(made)")
      #expect(try bench.moonbase("info", other).output.contains("the schema \(name)_views is of another program"))
      let asked = try bench.moonbase("sql", other, "SELECT COUNT(*) n FROM Person", "--format", "csv")
      #expect(asked.output == "n\n1\n" && asked.complaints == "", "\(asked)")
      // The name of a schema beside this one would be too long.
      let long = server.replacing(schema, with: schema + String(repeating: "x", count: 63 - schema.utf8.count))
      let copied = try bench.moonbase("copy", "s.sqlite", long, "--quiet")
      #expect(copied.status == 0, "\(copied)")
      #expect(try bench.moonbase("info", long).output.contains("the name of the schema is too long"))
    }

    @Test func aViewOfAnotherProgramRefusesAMigrationAndNothingElse() throws {
      try bench.psql("CREATE VIEW mine_\(schema) AS SELECT name FROM \(schema)_views.person", at: server)
      try bench.write(
        String(decoding: bench.bytes(of: "m.lua"), as: UTF8.self)
          .replacing("name = \"string\", age", with: "name = \"string\", nick = \"string\", age"), to: "m2.lua")
      let refused = try bench.moonbase("migrate", server, "--to", "m2.lua")
      #expect(refused.status == 1 && refused.complaints.contains("other views depend on"), "\(refused)")
      #expect(try answer("SELECT COUNT(*) n FROM Person") == "n\n3\n")
    }

    // MARK: backup

    @Test func aBackupIsTheSameStoreInAFile() throws {
      let outcome = try bench.moonbase("backup", server, "b.sqlite")
      #expect(outcome.status == 0, "\(outcome)")
      #expect(try bench.moonbase("diff", server, "b.sqlite").output == "")
      func identifier(_ store: String) throws -> String {
        try bench.moonbase("info", store).output.split(separator: "\n").filter { $0.hasPrefix("identifier") }.joined()
      }
      #expect(try identifier(server) == identifier("b.sqlite") && identifier(server) != "")
      #expect(try bench.moonbase("doctor", "b.sqlite").status == 0)
      let counter = "SELECT Z_MAX >= 3 FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'"
      #expect(try bench.program("sqlite3", "b.sqlite", counter).output == "1\n")
      let again = try bench.moonbase("backup", server, "b.sqlite")
      #expect(again.status == 1 && again.complaints.contains("b.sqlite"), "\(again)")
      #expect(try bench.moonbase("backup", server, "b.sqlite", "--force").status == 0)
      let other = try bench.moonbase("backup", "s.sqlite", server)
      #expect(other.status == 2 && other.complaints.contains("moonbase copy"), "\(other)")
      // And back.
      let back = try PostgreSQLServer.newAddress().absoluteString
      #expect(try bench.moonbase("copy", "b.sqlite", back, "--quiet").status == 0)
      #expect(try bench.moonbase("diff", server, back).output == "")
    }

    // MARK: vacuum

    @Test func vacuumGivesUpTheRoomOfDeletedRows() throws {
      try bench.psql(
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT n, 3, 1, repeat('x', 500) FROM generate_series(100, 5000) n",
        at: server)
      try bench.psql("DELETE FROM ZPERSON WHERE Z_PK >= 100", at: server)
      let outcome = try bench.moonbase("vacuum", server)
      #expect(outcome.status == 0 && outcome.complaints.contains("fewer than before"), "\(outcome)")
      let json = try bench.moonbase("vacuum", server, "--json")
      #expect(json.output.contains("\"freed\" : 0"), "\(json)")
      #expect(try answer("SELECT COUNT(*) n FROM Person") == "n\n3\n")
      let reader = "vacuum_\(schema.prefix(12))"
      try bench.psql(
        "CREATE ROLE \(reader) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(reader)",
        "GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO \(reader)", at: server)
      let refused = try bench.moonbase("vacuum", server.replacing("moonbase@", with: "\(reader)@"))
      #expect(refused.status == 1 && refused.complaints.contains("belongs to the user moonbase"), "\(refused)")
    }
  }
#endif
