#if PostgreSQL
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// Triggers and rules of other programs that leave out rows of a save, and users whose sessions only read.
  @Suite struct ServerTriggerTests {
    private let bench: Workbench
    private let server: String

    init() throws { (bench, server) = try Workbench.withPeopleOnServer() }

    private func insert(_ count: Int, _ server: String) throws -> Workbench.Outcome {
      try bench.moonbase(
        "run", "--store", server, "-e",
        "for i = 1, \(count) do moonbase.context:insert('Person', { name = 'n' }) end print(moonbase.context:save())")
    }

    /// A rule does not apply to `COPY`, by which a save sends many rows.
    @Test func rowsThatTheDatabaseLeavesOutEndTheSave() throws {
      try bench.psql("CREATE RULE nothing AS ON INSERT TO zperson DO INSTEAD NOTHING", at: server)
      try expectRefusal(of: 1)
      try bench.psql(
        "DROP RULE nothing ON zperson",
        "CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NULL; END $$",
        "CREATE TRIGGER skip BEFORE INSERT ON zperson FOR EACH ROW EXECUTE FUNCTION skip()", at: server)
      for count in [1, 100] { try expectRefusal(of: count) }
    }

    private func expectRefusal(of count: Int) throws {
      let refused = try insert(count, server)
      #expect(!refused.output.contains("true"), "\(refused)")
      #expect((refused.output + refused.complaints).contains("leaves them out"), "\(refused)")
      #expect(try bench.psql("SELECT COUNT(*) FROM zperson WHERE zname = 'n'", at: server) == "0\n")
    }

    @Test func aUserWhoseSessionsOnlyReadSavesNothing() throws {
      let (_, schema) = Workbench.parts(of: server)
      let user = "only_\(schema.prefix(12))"
      try bench.psql(
        "CREATE ROLE \(user) LOGIN", "ALTER ROLE \(user) SET default_transaction_read_only TO on",
        "GRANT USAGE ON SCHEMA \(schema) TO \(user)",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA \(schema) TO \(user)", at: server)
      let refused = try insert(1, server.replacing("moonbase@", with: "\(user)@"))
      #expect((refused.output + refused.complaints).contains("the session only reads"), "\(refused)")
      #expect(try bench.psql("SELECT COUNT(*) FROM zperson WHERE zname = 'n'", at: server) == "0\n")
    }
  }
#endif
