#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// The commands that read a schema of PostgreSQL, and the errors of the commands that take files only.
  @Suite struct ServerCommandTests {
    private let bench: Workbench
    private let server: String

    init() throws {
      bench = try Workbench.withPeople()
      server = try PostgreSQLServer.newAddress().absoluteString
      let made = try bench.moonbase(
        "run", "--store", server, "--model", "m.lua", "--keep-history", "-e",
        """
        local c = moonbase.context
        for i = 1, 3 do c:insert("Person", { name = "n" .. i, age = i }) end
        assert(c:save())
        c:fetch("Person"):where("age == 1"):first().name = "other"
        assert(c:save())
        """)
      try #require(made.status == 0, "\(made)")
    }

    @Test func infoTellsOfTheServerAndTheObjects() throws {
      let told = try bench.moonbase("info", server)
      #expect(told.status == 0, "\(told)")
      for part in ["server      PostgreSQL 1", "2 transactions", "Person", "Department"] {
        #expect(told.output.contains(part), "\(part): \(told)")
      }
      #expect(!told.output.contains("journal"))
      let json = try bench.moonbase("info", server, "--json").output
      #expect(json.contains("\"connections\"") && json.contains("\"schema\"") && json.contains("\"identifier\""))
      // A schema that is no store.
      let missing = try bench.moonbase("info", PostgreSQLServer.newAddress().absoluteString)
      #expect(missing.status == 1 && missing.output == "", "\(missing)")
    }

    @Test func theHistoryTellsTransactionsSinceAToken() throws {
      let all = try bench.moonbase("history", server)
      #expect(all.status == 0 && all.output.contains("Person"), "\(all)")
      let token = try bench.moonbase("history", server, "--token").output.trimmingCharacters(
        in: .whitespacesAndNewlines)
      let none = try bench.moonbase("history", server, "--since", token)
      #expect(none.status == 0 && !none.output.contains("Person"), "\(none)")
      let more = try bench.moonbase(
        "run", "--store", server, "-e",
        "moonbase.context:fetch('Person'):where('age == 2'):first().name = 'changed' assert(moonbase.context:save())")
      try #require(more.status == 0, "\(more)")
      let later = try bench.moonbase("history", server, "--since", token)
      #expect(later.status == 0 && later.output.contains("Person"), "\(later)")
    }

    @Test func differencesOfServersAndFilesAreTold() throws {
      try #require(bench.moonbase("copy", server, "c.sqlite", "--quiet").status == 0)
      #expect(try bench.moonbase("diff", server, "c.sqlite").output == "")
      let changed = try bench.moonbase(
        "run", "--store", "c.sqlite", "-e",
        "moonbase.context:fetch('Person'):where('age == 3'):first().name = 'x' assert(moonbase.context:save())")
      try #require(changed.status == 0, "\(changed)")
      let difference = try bench.moonbase("diff", server, "c.sqlite")
      #expect(difference.output.contains("n3") && difference.output.contains("x"), "\(difference)")
    }

    @Test func commandsForFilesRefuseAServerAndNameAnotherWay() throws {
      let ways = [
        (["sql", server, "SELECT 1"], "psql"), (["doctor", server], "moonbase copy"),
        (["backup", server, "b.sqlite"], "pg_dump"), (["vacuum", server], "VACUUM in psql"),
      ]
      for (arguments, advice) in ways {
        let refused = try bench.moonbase(arguments)
        #expect(refused.status == 2 && refused.complaints.contains(advice), "\(arguments): \(refused)")
        #expect(!refused.complaints.contains("no such store"), "\(refused)")
      }
    }

    @Test func noMessageShowsThePassword() throws {
      let parts = server.split(separator: "@", maxSplits: 1)
      let secret = "postgresql://moonbase:hunter2@\(parts[1])"
      for arguments in [
        ["info", secret], ["history", secret], ["sql", secret, "SELECT 1"], ["doctor", secret], ["vacuum", secret],
        ["migrate", secret, "--to", "m.lua", "--plan"], ["fetch", "Nothing", secret], ["copy", "s.sqlite", secret],
        ["diff", secret, "s.sqlite"], ["backup", secret, "b.sqlite"],
        ["info", secret.replacing("127.0.0.1", with: "127.0.0.1.invalid")],
      ] {
        let told = try bench.moonbase(arguments)
        #expect(!told.complaints.contains("hunter2") && !told.output.contains("hunter2"), "\(arguments): \(told)")
      }
    }
  }
#endif
