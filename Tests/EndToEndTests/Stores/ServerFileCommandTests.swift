#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// `sql`, `backup` and `vacuum` over a schema of PostgreSQL, and the readable views.
  @Suite struct ServerFileCommandTests {
    private let bench: Workbench
    private let server: String

    init() throws {
      bench = try Workbench.withPeople()
      server = try PostgreSQLServer.newAddress().absoluteString
      let copied = try bench.moonbase("copy", "s.sqlite", server, "--quiet")
      try #require(copied.status == 0, "\(copied)")
    }

    private var schema: String { String(server.split(separator: "?schema=")[1]) }

    private func psql(_ sql: String...) throws -> String {
      let parts = server.split(separator: "?schema=").map(String.init)
      let answer = try bench.program(
        "psql",
        ["-Atq", "-v", "ON_ERROR_STOP=1", parts[0]] + (["SET search_path TO \(schema)"] + sql).flatMap { ["-c", $0] })
      try #require(answer.status == 0, "\(answer)")
      return answer.output
    }

    private func answer(_ query: String, user: String? = nil) throws -> String {
      let address = user.map { server.replacing("moonbase@", with: "\($0)@") } ?? server
      let outcome = try bench.moonbase("sql", address, query, "--format", "csv")
      #expect(outcome.status == 0 && outcome.complaints == "", "\(outcome)")
      return outcome.output
    }

    // MARK: sql

    @Test func entitiesAndTheirPropertiesGoByTheirNames() throws {
      #expect(
        try answer("SELECT d.name, COUNT(*) n FROM Person p JOIN Department d ON p.department = d._pk GROUP BY 1")
          == "name,n\nSales,2\n")
      #expect(
        try answer("SELECT _entity, name, age FROM Person WHERE age = 30 AND name = ''")
          == "_entity,name,age\nBoss,\"\",30\n")
      #expect(try answer("SELECT title FROM Boss") == "title\nDr\n")
      #expect(try answer("SELECT COUNT(*) n FROM Person_friends") == "n\n2\n", "both directions")
      #expect(try answer("SELECT COUNT(*) n FROM ZPERSON") == "n\n3\n")
      #expect(try answer("SELECT born FROM Person WHERE born IS NOT NULL") == "born\n2001-01-01T00:00:01.5Z\n")
      #expect(
        try answer("SELECT age, height, salary, active, code, key FROM Person WHERE active")
          == "age,height,salary,active,code,key\n9007199254740993,1.5,12345678901234567.89,true,00000000-0000-0000-0000-00000000000a,AQI=\n"
      )
    }

    @Test func nothingIsWritten() throws {
      for query in [
        "DELETE FROM ZPERSON", "UPDATE ZPERSON SET ZAGE = 1", "DROP TABLE ZPERSON", "CREATE TABLE x (y int)", "VACUUM",
        "WITH d AS (DELETE FROM ZPERSON RETURNING 1) SELECT * FROM d", "SELECT 1; DELETE FROM ZPERSON", "COMMIT",
        "SELECT set_config('transaction_read_only', 'off', false)", "DO $$ BEGIN DELETE FROM ZPERSON; END $$",
        "COPY ZPERSON TO STDOUT", "SELECT nextval('x')", "SELECT 1 INTO x",
      ] {
        let outcome = try bench.moonbase("sql", server, query)
        #expect(outcome.status == 1 && outcome.output == "" && outcome.complaints != "", "\(query): \(outcome)")
      }
      #expect(try psql("SELECT COUNT(*) FROM ZPERSON") == "3\n")
    }

    @Test func mistakesAreNamed() throws {
      func complaint(_ query: String) throws -> String {
        let outcome = try bench.moonbase("sql", server, query)
        #expect(outcome.status == 1 && outcome.output == "", "\(outcome)")
        return outcome.complaints
      }
      #expect(try complaint("SELECT * FROM Persn").contains("did you mean person?"))
      #expect(try complaint("SELECT nme FROM Person").contains("column \"nme\" does not exist"))
      #expect(try complaint("SELEC 1").contains("syntax error"))
      #expect(try complaint(" ").contains("there is no statement"))
      #expect(try complaint("SELECT 1 / 0").contains("division by zero"))
      #expect(try complaint("DELETE FROM ZPERSON").contains("is only read"))
    }

    @Test func anotherUserReadsByViewsOfItsConnection() throws {
      let reader = "reader_\(schema.prefix(12))"
      _ = try psql(
        "CREATE ROLE \(reader) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(reader)",
        "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(reader)")
      #expect(try answer("SELECT COUNT(*) n FROM Person", user: reader) == "n\n3\n")
      let denied = try bench.moonbase("info", server.replacing("moonbase@", with: "\(reader)@"))
      #expect(denied.status == 0, "\(denied)")
    }

    // MARK: Views

    @Test func viewsForPsqlAreMadeWithTheStoreAndRenewedByAMigration() throws {
      let views = "\(schema)_views"
      #expect(try psql("SELECT name FROM \(views).person WHERE active") == "Ann, \"A\"\n")
      #expect(
        try psql("SELECT born = '2001-01-01 00:00:01.5+00', _entity FROM \(views).person WHERE born IS NOT NULL")
          == "t|Person\n")
      #expect(try bench.moonbase("info", server).output.contains("views       schema \(views)\n"))
      let reader = "viewer_\(schema.prefix(12))"
      _ = try psql(
        "CREATE ROLE \(reader) LOGIN", "GRANT USAGE ON SCHEMA \(views) TO \(reader)",
        "GRANT SELECT ON \(views).person TO \(reader)")
      try bench.write(
        String(decoding: bench.bytes(of: "m.lua"), as: UTF8.self)
          .replacing("name = \"string\", age", with: "name = \"string\", nick = \"string\", age"), to: "m2.lua")
      let migrated = try bench.moonbase("migrate", server, "--to", "m2.lua")
      try #require(migrated.status == 0, "\(migrated)")
      #expect(try psql("SELECT COUNT(*) FROM \(views).person WHERE nick IS NULL") == "3\n")
      #expect(try psql("SET ROLE \(reader)", "SELECT COUNT(name) FROM \(views).person") == "2\n")
      #expect(try answer("SELECT COUNT(*) n FROM Person WHERE nick IS NULL") == "n\n3\n")
    }

    /// Dropping the tables of a store drops the views of these tables, and leaves their schema.
    @Test func viewsThatAreGoneAreMadeAnew() throws {
      _ = try psql("DROP SCHEMA \(schema) CASCADE")
      let copied = try bench.moonbase("copy", "s.sqlite", server, "--quiet")
      #expect(copied.status == 0, "\(copied)")
      #expect(try psql("SELECT COUNT(*) FROM \(schema)_views.person") == "3\n")
    }

    @Test func theStoreOpensWhereNoViewsCanBeMade() throws {
      let other = try PostgreSQLServer.newAddress().absoluteString
      let name = other.split(separator: "?schema=")[1]
      _ = try psql("CREATE SCHEMA \(name)_views", "CREATE TABLE \(name)_views.mine (x int)")
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
      _ = try psql("CREATE VIEW mine_\(schema) AS SELECT name FROM \(schema)_views.person")
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
      _ = try psql(
        "INSERT INTO ZPERSON (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT n, 3, 1, repeat('x', 500) FROM generate_series(100, 5000) n"
      )
      _ = try psql("DELETE FROM ZPERSON WHERE Z_PK >= 100")
      let outcome = try bench.moonbase("vacuum", server)
      #expect(outcome.status == 0 && outcome.complaints.contains("fewer than before"), "\(outcome)")
      let json = try bench.moonbase("vacuum", server, "--json")
      #expect(json.output.contains("\"freed\" : 0"), "\(json)")
      #expect(try answer("SELECT COUNT(*) n FROM Person") == "n\n3\n")
      let reader = "vacuum_\(schema.prefix(12))"
      _ = try psql(
        "CREATE ROLE \(reader) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(reader)",
        "GRANT ALL ON ALL TABLES IN SCHEMA \(schema) TO \(reader)")
      let refused = try bench.moonbase("vacuum", server.replacing("moonbase@", with: "\(reader)@"))
      #expect(refused.status == 1 && refused.complaints.contains("belongs to the user moonbase"), "\(refused)")
    }
  }
#endif
