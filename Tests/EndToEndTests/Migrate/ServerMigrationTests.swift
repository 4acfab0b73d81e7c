#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// `moonbase migrate` over a schema of PostgreSQL.
  @Suite struct ServerMigrationTests {
    private let bench: Workbench
    private let server: String

    private static let model = """
      return { version = "1", entities = {
        Aunt = { attributes = { name = "string" },
          relationships = { nieces = { to_many = "Person", inverse = "aunt" } } },
        Person = { attributes = { name = "string", age = "string", gone = "string" },
          relationships = { aunt = { to = "Aunt", inverse = "nieces" } } },
        Zoo = { attributes = { name = "string" } },
      } }
      """

    init() throws {
      bench = try Workbench()
      server = try PostgreSQLServer.newAddress().absoluteString
      try bench.write(Self.model, to: "1.lua")
      try bench.write(
        """
        return { version = "2", entities = {
          Beast = { attributes = { legs = "integer16" } },
          Person = { attributes = { fullName = { "string", renamed_from = "name" }, age = "integer32", email = "string" } },
          Zoo = { attributes = { name = "string" } },
        } }
        """, to: "2.lua")
      let made = try bench.moonbase(
        "run", "--store", server, "--model", "1.lua", "--keep-history", "-e",
        """
        local c = moonbase.context
        for i = 1, 30 do c:insert("Person", { name = "n" .. i, age = tostring(i) }) end
        c:insert("Zoo", { name = "z" })
        assert(c:save())
        for i, person in ipairs(c:fetch("Person"):all()) do if i > 20 then c:delete(person) end end
        assert(c:save())
        """)
      try #require(made.status == 0, "\(made)")
    }

    private func rows(_ columns: String) throws -> String {
      try bench.moonbase("fetch", "Person", server, "--columns", columns, "--format", "csv").output
    }

    @Test func rowsKeepTheirKeysAndTheStoreItsIdentity() throws {
      let before = try bench.moonbase("info", server, "--json").output
      let identifier = before.split(separator: "\n").first { $0.contains("\"identifier\"") }
      let plan = try bench.moonbase("migrate", server, "--to", "2.lua", "--plan")
      #expect(plan.status == 0 && plan.output.contains("fullName (was name)"), "\(plan)")
      #expect(plan.output.contains("2 transactions"), "\(plan)")
      #expect(try rows("_id,name").contains("Person/20,n20"))
      let done = try bench.moonbase("migrate", server, "--to", "2.lua")
      #expect(done.status == 0, "\(done)")
      let after = try bench.moonbase("info", server, "--json").output
      #expect(after.split(separator: "\n").first { $0.contains("\"identifier\"") } == identifier)
      #expect(try rows("_id,fullName,age,email").contains("Person/20,n20,20,\n"))
      // The key of a deleted object is given to no other.
      let added = try bench.moonbase(
        "run", "--store", server, "-e", "moonbase.context:insert('Person', {}) assert(moonbase.context:save())")
      #expect(added.status == 0, "\(added)")
      let keys = try rows("_id").split(separator: "\n").compactMap { Int($0.drop { !$0.isNumber }) }
      #expect(keys.count == 21 && (keys.max() ?? 0) > 30, "\(keys)")
      #expect(try bench.moonbase("history", server).output.contains("Person"))
    }

    /// A migration that waits for another session is ended; its folder and its schema go.
    @Test(arguments: ["migrate", "backup"])
    func workThatIsEndedLeavesNothing(_ command: String) throws {
      let temporary = bench.file("temporary")
      try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: true)
      let blocking = "blocking_\(Workbench.parts(of: server).schema.prefix(12))"
      let (database, schema) = Workbench.parts(of: server)
      let blocker = try ChildProcess(
        URL(fileURLWithPath: "/usr/bin/env"),
        [
          "psql", "-q", "\(database)?application_name=\(blocking)", "-c", "BEGIN", "-c",
          "LOCK TABLE \(schema).zperson IN ACCESS EXCLUSIVE MODE", "-c", "\\echo blocking", "-c",
          "SELECT pg_sleep(120)",
        ], in: bench.folder)
      defer { blocker.kill() }
      try blocker.wait(for: "blocking")
      let arguments = command == "backup" ? ["backup", server, "b.sqlite"] : ["migrate", server, "--to", "2.lua"]
      let work = try ChildProcess(
        URL(fileURLWithPath: "/usr/bin/env"),
        ["TMPDIR=\(temporary.path)", Workbench.command.path] + arguments + ["--busy-timeout", "120"], in: bench.folder)
      let end = ContinuousClock.now + .seconds(30)
      func folders() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: temporary.path) }
      while try folders().isEmpty, ContinuousClock.now < end, work.isRunning { usleep(20_000) }
      #expect(try !folders().isEmpty)
      usleep(200_000)
      work.terminate()
      #expect(try work.end() == 130)
      #expect(work.outcome().complaints.contains("interrupted: "), "\(work.outcome())")
      #expect(try folders().isEmpty)
      try bench.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(blocking)'", at: server)
      #expect(try rows("_id,name").contains("Person/20,n20"))
    }

    @Test func partsOfOtherProgramsAreNamedBeforeTheyAreDropped() throws {
      try bench.psql(
        "ALTER TABLE ZPERSON ADD COLUMN note text; ALTER TABLE ZPERSON ADD CHECK (z_pk > 0); "
          + "CREATE INDEX person_note ON ZPERSON (note); CREATE TABLE others (x int); CREATE INDEX o ON others (x)",
        at: server)
      let parts = [
        "the column note of zperson", "the index person_note of zperson", "the constraint zperson_z_pk_check",
      ]
      let plan = try bench.moonbase("migrate", server, "--to", "2.lua", "--plan")
      #expect(plan.status == 1 && parts.allSatisfy(plan.output.contains), "\(plan)")
      #expect(plan.output.matches(of: #/another program added/#).count == 3, "\(plan)")
      let refused = try bench.moonbase("migrate", server, "--to", "2.lua")
      #expect(refused.status == 1 && parts.allSatisfy(refused.complaints.contains), "\(refused)")
      #expect(refused.complaints.contains("--allow-loss"), "\(refused)")
      #expect(try rows("_id,name").contains("Person/20,n20"))
      let done = try bench.moonbase("migrate", server, "--to", "2.lua", "--allow-loss")
      #expect(done.status == 0, "\(done)")
      #expect(try bench.psql("SELECT COUNT(*) FROM others", at: server) == "0\n")
    }

    @Test func aLossIsRefusedAndLeavesTheStore() throws {
      let filled = try bench.moonbase(
        "run", "--store", server, "-e",
        "moonbase.context:fetch('Person'):first().gone = 'x' assert(moonbase.context:save())")
      try #require(filled.status == 0, "\(filled)")
      let refused = try bench.moonbase("migrate", server, "--to", "2.lua")
      #expect(refused.status == 1 && refused.complaints.contains("--allow-loss"), "\(refused)")
      #expect(refused.complaints.contains("postgresql://") && !refused.complaints.contains("store.sqlite"))
      #expect(try rows("name,gone").contains(",x\n"))
      let done = try bench.moonbase("migrate", server, "--to", "2.lua", "--allow-loss")
      #expect(done.status == 0, "\(done)")
      #expect(try rows("fullName").contains("n1\n"))
    }

    @Test func onlyTheCommandMigrates() throws {
      let refused = try bench.moonbase("run", "--store", server, "--model", "2.lua", "-e", "return")
      #expect(refused.status == 1 && refused.complaints.contains("migrate it"), "\(refused)")
    }

    /// Connections of another process keep the store from being migrated.
    @Test func aStoreInUseIsBusy() throws {
      let other = try bench.begin(
        "run", "--store", server, "-e", "assert(moonbase.context:fetch('Person'):first()) while true do end")
      defer { other.kill() }
      var isOpen = false
      for _ in 0..<200 where !isOpen {
        isOpen = try bench.moonbase("info", server).output.contains("open        by")
        usleep(20_000)
      }
      try #require(isOpen)
      let refused = try bench.moonbase("migrate", server, "--to", "2.lua", "--busy-timeout", "1")
      #expect(refused.status == 75 && refused.complaints.contains("have it open"), "\(refused)")
      #expect(try rows("_id,name").contains("Person/20,n20"))
    }

    @Test func aMappingScriptSaysWhatBecomesOfWhat() throws {
      try bench.write(
        "return { Person = function(old, new) new.fullName = old.name .. '!' end }", to: "mapping.lua")
      let done = try bench.moonbase("migrate", server, "--to", "2.lua", "--mapping", "mapping.lua", "--allow-loss")
      #expect(done.status == 0, "\(done)")
      #expect(try rows("_id,fullName").contains("Person/20,n20!"))
    }
  }
#endif
