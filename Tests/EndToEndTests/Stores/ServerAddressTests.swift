#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// An address in place of a path: as a model, in the prompt, for a new project and for imports.
  @Suite struct ServerAddressTests {
    private let bench: Workbench
    private let server: String

    init() throws { (bench, server) = try Workbench.withPeopleOnServer() }

    private func schemaCount(_ server: String) throws -> String {
      let (_, schema) = Workbench.parts(of: server)
      return try bench.psql("SELECT COUNT(*) FROM pg_namespace WHERE nspname = '\(schema)'", at: self.server)
    }

    @Test func theModelOfAStoreIsAModel() throws {
      let shown = try bench.moonbase("model", "show", server)
      #expect(shown.status == 0 && shown.output.contains("Person"), "\(shown)")
      let equal = try bench.moonbase("model", "diff", "s.sqlite", server)
      #expect(equal.status == 0, "\(equal)")
      let made = try bench.moonbase(
        "run", "--store", "n.sqlite", "--model", server, "-e",
        "moonbase.context:insert('Person', { name = 'new' }) assert(moonbase.context:save())")
      #expect(made.status == 0, "\(made)")
    }

    @Test func noFormOfAModelHasThePassword() throws {
      let (database, schema) = Workbench.parts(of: server)
      let secret = database.replacing("moonbase@", with: "moonbase:s3cret@") + "?password=s3cret&schema=\(schema)"
      for arguments in [
        ["check", secret], ["check", secret, "--json"], ["types", secret], ["diagram", secret], ["swift", secret],
        ["show", secret], ["convert", secret, "--to", "lua"],
      ] {
        let told = try bench.moonbase(["model"] + arguments)
        #expect(told.status == 0 && told.output != "", "\(told)")
        #expect(!told.output.contains("s3cret") && !told.complaints.contains("s3cret"), "\(arguments): \(told)")
      }
      let folder = try bench.moonbase("init", secret)
      #expect(folder.status == 2 && folder.complaints.contains("--from"), "\(folder)")
      #expect(try !bench.names().contains { $0.contains("postgres") })
    }

    @Test func aRefusedSaveNamesTheAddress() throws {
      let refused = try bench.moonbase(
        "run", "--read-only", "--store", server, "-e",
        "moonbase.context:fetch('Person'):first().age = 1 print(moonbase.context:save())")
      #expect(refused.output.contains("\(server) is read-only"), "\(refused)")
    }

    @Test func aStoreInPlaceOfAJobIsNamed() throws {
      for store in [server, "s.sqlite"] {
        let refused = try bench.moonbase("batch", "drop", store)
        #expect(refused.status == 2 && refused.complaints.contains("the name of the job comes first"), "\(refused)")
      }
    }

    @Test func theUserInASearchPathIsNoSchema() throws {
      let (database, _) = Workbench.parts(of: server)
      let refused = try bench.moonbase("info", "\(database)?schema=%24user")
      #expect(refused.status == 1 && refused.complaints.contains("$user"), "\(refused)")
    }

    @Test func valuesOfAHistoryNeedNoModel() throws {
      let made = try bench.moonbase(
        "run", "--store", server, "--keep-history", "-e",
        "moonbase.context:insert('Person', { name = 'late' }) assert(moonbase.context:save())")
      try #require(made.status == 0, "\(made)")
      let told = try bench.moonbase("history", server, "--values", "--format", "json")
      #expect(told.status == 0 && told.output.contains("late"), "\(told)")
    }

    @Test func thePromptAsksBySQL() throws {
      let answer = try bench.moonbase("repl", server, input: ".sql SELECT COUNT(*) AS n FROM Person WHERE active\n")
      #expect(answer.status == 0 && answer.output.contains("1"), "\(answer)")
      let mistake = try bench.moonbase("repl", server, input: ".sql SELECT $1\n.sql SELECT nme FROM Person\n")
      #expect(mistake.complaints.contains("the query has parameters"), "\(mistake)")
      #expect(mistake.complaints.contains("column \"nme\" does not exist"), "\(mistake)")
    }

    @Test func aProjectBeginsWithACopy() throws {
      let made = try bench.moonbase("init", "project", "--from", server)
      #expect(made.status == 0, "\(made)")
      let store = "project/\(Workbench.parts(of: server).schema).sqlite"
      let equal = try bench.moonbase("diff", store, server)
      #expect(equal.status == 0 && equal.output == "", "\(equal)")
    }

    @Test func severalHostsAreAnAddress() throws {
      let (database, schema) = Workbench.parts(of: server)
      let port = try PostgreSQLServer.shared.get().port
      let several = database.replacing("127.0.0.1:\(port)", with: "127.0.0.1:1,127.0.0.1:\(port)")
      try #require(several != database)
      let counted = try bench.moonbase("fetch", "Person", "\(several)?schema=\(schema)", "--count")
      #expect(counted.status == 0 && counted.output == "3\n", "\(counted)")
    }

    @Test(arguments: [
      "?nonsense=1", "?sslmode=perhaps", "?options=-c%20nonsense%3D1", "?options=-c%20work_mem%3Dx", "?port=many",
    ])
    func aWrongParameterIsNoLostServer(_ parameter: String) throws {
      let (database, schema) = Workbench.parts(of: server)
      let refused = try bench.moonbase("info", "\(database)\(parameter)&schema=\(schema)")
      #expect(refused.status == 1 && refused.complaints.contains("the address cannot be used"), "\(refused)")
      #expect(!refused.complaints.contains("see that it runs"))
    }

    // MARK: Imports

    @Test func aModelIsInferredForAServer() throws {
      try bench.write("name,age\nAnn,4\nBob,5\n", to: "people.csv")
      let new = try PostgreSQLServer.newAddress().absoluteString
      for _ in 1...2 {
        let made = try bench.moonbase("import", "--infer", "people.csv", "--store", new, "--quiet")
        // The second import finds a store with objects.
        #expect(made.status == 0 || made.complaints.contains("has objects"), "\(made)")
      }
      let fetched = try bench.moonbase("fetch", "People", new, "--columns", "name,age", "--format", "csv")
      #expect(fetched.output == "name,age\nAnn,4\nBob,5\n", "\(fetched)")
      #expect(try bench.names().contains("\(Workbench.parts(of: new).schema).lua"))
    }

    @Test func aNewStoreIsSaidAndADryRunMakesNone() throws {
      try bench.write("name\nAnn\n", to: "people.csv")
      let new = try PostgreSQLServer.newAddress().absoluteString
      let arguments = ["import", "Person", "people.csv", new]
      let unknown = try bench.moonbase(arguments)
      #expect(unknown.status == 1 && unknown.complaints.contains("there is no store in the schema"), "\(unknown)")
      let tried = try bench.moonbase(arguments + ["--model", "s.sqlite", "--dry-run"])
      #expect(tried.status == 0, "\(tried)")
      #expect(try schemaCount(new) == "0\n")
      let made = try bench.moonbase(arguments + ["--model", "s.sqlite"])
      #expect(made.status == 0 && made.complaints.contains("is a new store"), "\(made)")
      let again = try bench.moonbase(arguments + ["--model", "s.sqlite", "--restart"])
      #expect(!again.complaints.contains("is a new store"), "\(again)")
    }

    /// The rows before a failure of the server count only if they were committed.
    @Test func aFailedImportCountsTheSavedRows() throws {
      try bench.psql(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.zname = 'n2500' THEN "
          + "RAISE EXCEPTION 'the disk is on fire' USING ERRCODE = '58030'; END IF; RETURN NEW; END $$",
        "CREATE TRIGGER refuse BEFORE INSERT ON zperson FOR EACH ROW EXECUTE FUNCTION refuse()", at: server)
      try bench.write("name\n" + (1...5000).map { "n\($0)\n" }.joined(), to: "people.csv")
      let failed = try bench.moonbase("import", "Person", "people.csv", server, "--batch", "1000", "--json")
      #expect(failed.status == 1 && failed.complaints.contains("on fire"), "\(failed)")
      let saved = try bench.psql("SELECT COUNT(*) FROM zperson WHERE zname LIKE 'n%'", at: server)
      #expect(saved == "2000\n")
      #expect(failed.output.contains("\"inserted\" : 2000"), "\(failed)")
    }

    // MARK: Jobs

    @Test(arguments: [true, false])
    func aJobIsDropped(_ isOnServer: Bool) throws {
      let store = isOnServer ? server : "s.sqlite"
      try bench.write(
        #"return { request = "Person", chunk = function(people) for _, p in ipairs(people) do p.age = 1 end end }"#,
        to: "job.lua")
      let begun = try bench.moonbase("batch", "run", "job.lua", store, "--begin")
      #expect(begun.status == 0, "\(begun)")
      let unknown = try bench.moonbase("batch", "drop", "jb", store)
      #expect(unknown.status == 2 && unknown.complaints.contains("it knows job"), "\(unknown)")
      let dropped = try bench.moonbase("batch", "drop", "job.lua", store)
      #expect(dropped.status == 0 && dropped.complaints.contains("the job job was dropped"), "\(dropped)")
      let worker = try bench.moonbase("batch", "worker", "job.lua", store, input: "1\n")
      #expect(worker.status != 0, "\(worker)")
      #expect(try bench.moonbase("batch", "status", store).complaints.contains("knows no jobs"))
      let whole = try bench.moonbase("batch", "run", "job.lua", store)
      #expect(whole.status == 0, "\(whole)")
    }
  }
#endif
