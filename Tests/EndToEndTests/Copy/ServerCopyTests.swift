#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// `moonbase copy` between a file and a schema of PostgreSQL.
  @Suite struct ServerCopyTests {
    private func address() throws -> String { try PostgreSQLServer.newAddress().absoluteString }

    @Test func aStoreGoesToAServerAndBackUnchanged() throws {
      let (bench, server) = (try Workbench.withPeople(), try address())
      let there = try bench.moonbase("copy", "s.sqlite", server)
      #expect(there.status == 0 && there.complaints.contains("4 objects in postgresql://"), "\(there)")
      let back = try bench.moonbase("copy", server, "c.sqlite")
      #expect(back.status == 0 && back.complaints.contains("4 objects in c.sqlite"), "\(back)")
      for pair in [["s.sqlite", server], [server, "c.sqlite"], ["s.sqlite", "c.sqlite"]] {
        let equal = try bench.moonbase(["diff"] + pair)
        #expect(equal.status == 0 && equal.output == "", "\(equal)")
      }
      #expect(try bench.moonbase("doctor", "c.sqlite").complaints.contains("nothing is wrong"))
      // The file is as if it had been copied from the first one: tables, entity numbers and the archive of the model.
      #expect(try bench.moonbase("copy", "s.sqlite", "d.sqlite", "--quiet").status == 0)
      for sql in [
        "SELECT hex(Z_CONTENT) FROM Z_MODELCACHE", "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY",
        "SELECT name, sql FROM sqlite_master ORDER BY name",
      ] {
        let texts = try ["d.sqlite", "c.sqlite"].map { try bench.moonbase("sql", $0, sql).output }
        #expect(texts[0] == texts[1] && !texts[0].isEmpty, "\(sql)")
      }
      #expect(try Self.hashes(bench, "s.sqlite") == Self.hashes(bench, "c.sqlite"))
    }

    private static func hashes(_ bench: Workbench, _ store: String) throws -> String? {
      let report = try bench.moonbase("info", store, "--json").output
      return report.split(separator: "\n").first { $0.contains("modelChecksum") }.map(String.init)
    }

    @Test func keysWithGapsAndLargeValuesStay() throws {
      let (bench, server) = (try Workbench(), try address())
      try bench.write(
        """
        return { entities = { Person = { attributes = {
          name = { "string", optional = false }, photo = { "binary", external_storage = true } },
          relationships = {
            fans = { to_many = "Person", inverse = "idols", ordered = true },
            idols = { to_many = "Person", inverse = "fans" } },
          constraints = { { "name" } } } } }
        """, to: "m.lua")
      let made = try bench.moonbase(
        "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
        """
        local c = moonbase.context
        local last
        for i = 1, 700 do
          local p = c:insert("Person", { name = "n" .. i, photo = i % 90 == 0 and ("x"):rep(150000) .. i or nil })
          if last and i % 3 == 0 then p.fans:add(last) end
          last = p
        end
        assert(c:save())
        for i, person in ipairs(c:fetch("Person"):all()) do if i % 7 == 0 then c:delete(person) end end
        assert(c:save())
        """)
      try #require(made.status == 0, "\(made)")
      for pair in [["s.sqlite", server], [server, "c.sqlite"]] {
        let copied = try bench.moonbase(["copy"] + pair + ["--quiet"])
        #expect(copied.status == 0, "\(copied)")
        let equal = try bench.moonbase(["diff"] + pair)
        #expect(equal.status == 0 && equal.output == "", "\(equal)")
      }
      // A new object gets a key that no copied object has.
      let added = try bench.moonbase(
        "run", "--store", server, "-e",
        "moonbase.context:insert('Person', { name = 'new' }) assert(moonbase.context:save())")
      #expect(added.status == 0, "\(added)")
      let info = try bench.moonbase("info", server)
      #expect(info.output.contains("server      PostgreSQL") && info.output.contains("601"), "\(info)")
      let taken = try bench.moonbase("copy", "s.sqlite", server)
      #expect(taken.status == 1 && taken.complaints.contains("has tables already"), "\(taken)")
    }

    @Test func rowsOfNoEntityAreTold() throws {
      let (bench, server) = try Workbench.withPeopleOnServer()
      try bench.psql(
        "UPDATE ZPERSON SET Z_ENT = 99 WHERE Z_PK = 3", "UPDATE ZDEPARTMENT SET Z_ENT = NULL", at: server)
      let copied = try bench.moonbase("copy", server, "c.sqlite")
      let exported = try bench.moonbase("export", "--all", "folder", "--store", server)
      for outcome in [copied, exported] {
        #expect(outcome.status == 4, "\(outcome)")
        #expect(outcome.complaints.contains("1 row of ZPERSON has Z_ENT 99"), "\(outcome)")
        #expect(outcome.complaints.contains("1 row of ZDEPARTMENT has Z_ENT NULL"), "\(outcome)")
      }
      #expect(try bench.moonbase("doctor", "c.sqlite").complaints.contains("nothing is wrong"))
    }

    /// The schemas of unfinished stores for a destination.
    private func unfinished(_ bench: Workbench, _ server: String) throws -> String {
      let prefix = Workbench.parts(of: server).schema.prefix(12)
      return try bench.psql("SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE '\(prefix)\\_new\\_%'", at: server)
    }

    /// A copy is ended in its midst: its last statement waits for another session.
    @Test(arguments: ["SIGINT", "SIGTERM", "SIGKILL"])
    func aCopyThatIsEndedLeavesNothing(_ signal: String) throws {
      let (bench, server) = (try Workbench.withPeople(), try address())
      let (database, schema) = Workbench.parts(of: server)
      let blocking = "blocking_\(schema.prefix(12))"
      let blocker = try ChildProcess(
        URL(fileURLWithPath: "/usr/bin/env"),
        [
          "psql", "-q", "\(database)?application_name=\(blocking)", "-c", "BEGIN", "-c", "CREATE SCHEMA \(schema)",
          "-c", "\\echo blocking", "-c", "SELECT pg_sleep(60)",
        ],
        in: bench.folder)
      defer { blocker.kill() }
      try blocker.wait(for: "blocking")
      let copy = try bench.begin("copy", "s.sqlite", server, "--busy-timeout", "120")
      let end = ContinuousClock.now + .seconds(15)
      while try unfinished(bench, server) != "1\n", ContinuousClock.now < end { usleep(20_000) }
      #expect(try unfinished(bench, server) == "1\n")
      usleep(300_000)
      switch signal {
      case "SIGINT": copy.interrupt()
      case "SIGTERM": copy.terminate()
      default: copy.kill()
      }
      if signal == "SIGKILL" {
        #expect(try unfinished(bench, server) == "1\n")
      } else {
        #expect(try copy.end() == 130)
        #expect(copy.outcome().complaints.contains("was not made"))
        #expect(try unfinished(bench, server) == "0\n")
      }
      // The server would go on without the client.
      try bench.psql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '\(blocking)'", at: server)
      // A later copy to the same destination removes what a dead process left.
      let again = try bench.moonbase("copy", "s.sqlite", server)
      #expect(again.status == 0, "\(again)")
      #expect(try unfinished(bench, server) == "0\n")
    }

    @Test func aCopyThatFailsLeavesNothing() throws {
      let (bench, server) = (try Workbench(), try address())
      try bench.write(#"return { entities = { Person = { attributes = { name = "string" } } } }"#, to: "m.lua")
      let made = try bench.moonbase(
        "run", "--store", "s.sqlite", "--model", "m.lua", "-e",
        #"for i = 1, 99 do moonbase.context:insert("Person", { name = "a\0b" }) end assert(moonbase.context:save())"#)
      try #require(made.status == 0, "\(made)")
      let refused = try bench.moonbase("copy", "s.sqlite", server)
      #expect(refused.status == 1 && refused.complaints.contains("character NUL"), "\(refused)")
      #expect(!refused.complaints.contains("_new_"))
      let schema = try #require(server.split(separator: "=").last)
      let left = try bench.program(
        "psql", "-At", server.replacing("?schema=\(schema)", with: ""), "-c",
        "SELECT COUNT(*) FROM pg_namespace WHERE nspname LIKE '\(schema.prefix(12))%'")
      #expect(left.output == "0\n", "\(left)")
    }
  }
#endif
