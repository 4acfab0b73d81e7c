#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// The commands that read a schema of PostgreSQL, and their errors.
  @Suite struct ServerCommandTests {
    private let bench: Workbench
    private let server: String

    init() throws {
      (bench, server) = try Workbench.withPeopleOnServer()
      let made = try bench.moonbase(
        "run", "--store", server, "--keep-history", "-e",
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

    /// The commands with a store of a given address.
    private func commands(_ store: String) -> [[String]] {
      [
        ["info", store], ["history", store], ["sql", store, "SELECT 1"], ["doctor", store],
        ["doctor", store, "--repair"],
        ["vacuum", store], ["migrate", store, "--to", "m.lua", "--plan"], ["fetch", "Person", store],
        ["copy", store, "new.sqlite"],
        ["diff", store, "s.sqlite"], ["backup", store, "b.sqlite"], ["export", "Person", "out.csv", store],
        ["run", "--store", store, "-e", "moonbase.context:fetch('Person'):all()"],
        ["batch", "status", "--store", store],
      ]
    }

    /// One error of one line, with an advice, and without the password. Nothing is left behind.
    private func expectError(_ words: [String], at store: String) throws {
      let before = try bench.names()
      for arguments in commands(store) {
        let told = try bench.moonbase(arguments)
        #expect(told.status == 1 && told.output == "", "\(arguments): \(told)")
        #expect(told.complaints.split(separator: "\n").count == 1, "\(arguments): \(told)")
        for word in words { #expect(told.complaints.contains(word), "\(arguments): \(word): \(told)") }
        #expect(!told.complaints.contains("hunter2"), "\(arguments): \(told)")
      }
      #expect(try bench.names() == before)
    }

    private func address(_ user: String, database: String = "postgres", schema: String? = nil) -> String {
      let parts = Workbench.parts(of: server)
      let host = parts.database.split(separator: "@")[1].split(separator: "/")[0]
      return "postgresql://\(user)@\(host)/\(database)?schema=\(schema ?? parts.schema)"
    }

    @Test func aWrongPasswordIsNamedByEachCommand() throws {
      try expectError(["refuses the user", "PGPASSFILE"], at: address("locked:hunter2"))
    }

    @Test func aMissingDatabaseOrSchemaIsNamedByEachCommand() throws {
      try expectError(["does not exist", "createdb"], at: address("moonbase:hunter2", database: "nothing_here"))
      try expectError(["there is no store in the schema nowhere"], at: address("moonbase:hunter2", schema: "nowhere"))
      try expectError(["is no store", "name another one"], at: address("moonbase:hunter2", schema: "pg_catalog"))
    }

    @Test func aMissingPermissionIsNamedByEachCommand() throws {
      try expectError(["permission denied", "GRANT"], at: address("locked:sesame"))
    }

    @Test func aServerThatCannotBeReachedIsNamedByEachCommand() throws {
      let host = server.split(separator: "@")[1].split(separator: "/")[0]
      try expectError(
        ["cannot be reached", "see that it runs"],
        at: address("moonbase:hunter2").replacing(host, with: "127.0.0.1:1"))
    }

    @Test func aConnectionThatEndsInBetweenIsNamed() throws {
      let line =
        "exec '\(Workbench.command.path)' sql '\(server)' \"SELECT pg_sleep(20), 'ended in between'\" > out 2>&1"
      let asking = try ChildProcess(URL(fileURLWithPath: "/bin/sh"), ["-c", line], in: bench.folder)
      let ended =
        "SELECT COUNT(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE 'FETCH%' AND "
        + "application_name LIKE 'moonbase \(Workbench.parts(of: server).schema)'"
      var count = "0\n"
      for _ in 0..<100 where count == "0\n" {
        usleep(50_000)
        count = try bench.psql(ended, at: server)
      }
      #expect(try asking.end() == 1)
      let told = String(decoding: try bench.bytes(of: "out"), as: UTF8.self)
      #expect(told.split(separator: "\n").count == 1 && told.contains("went away"), "\(told)")
    }
  }
#endif
