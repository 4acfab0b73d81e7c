#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  extension Workbench {
    /// A bench with the people of `withPeople`, in `s.sqlite` and in a schema of the tests' server.
    static func withPeopleOnServer() throws -> (bench: Workbench, server: String) {
      let bench = try withPeople()
      let server = try PostgreSQLServer.newAddress().absoluteString
      let copied = try bench.moonbase("copy", "s.sqlite", server, "--quiet")
      try #require(copied.status == 0, "\(copied)")
      return (bench, server)
    }

    /// The parts of a store's address on the tests' server: the database and the schema.
    static func parts(of server: String) -> (database: String, schema: String) {
      let parts = server.split(separator: "?schema=").map(String.init)
      return (parts[0], parts[1])
    }

    /// Runs statements in the schema of a store with `psql`, and returns the rows.
    @discardableResult
    func psql(_ statements: String..., at server: String) throws -> String {
      let (database, schema) = Self.parts(of: server)
      let commands = (["SET search_path TO \(schema)"] + statements).flatMap { ["-c", $0] }
      let answer = try program("psql", ["-Atq", "-v", "ON_ERROR_STOP=1", database] + commands)
      try #require(answer.status == 0, "\(answer)")
      return answer.output
    }
  }
#endif
