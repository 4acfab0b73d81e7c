#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// Servers that refuse: each refusal is one error that tells what to do, without credentials.
  @Suite struct RefusalTests {
    private func failure(_ address: String, readOnly: Bool = false) throws -> GraphError {
      var options = PostgreSQLStoreOptions()
      options.readOnly = readOnly
      let error = #expect(throws: GraphError.self) {
        try PostgreSQLStore(url: #require(URL(string: address)), model: People.model().resolved(), options: options)
      }
      let found = try #require(error)
      for text in [found.message, "\(found)", "\(found.underlying as Any)"] {
        #expect(!text.contains("hunter2") && !text.contains("sesame"), "\(text)")
      }
      return found
    }

    @Test func aWrongPasswordIsRefused() throws {
      let server = try PostgreSQLServer.shared.get()
      for user in ["locked:hunter2", "locked"] {
        let error = try failure(server.address(schema: PostgreSQLServer.newSchema(), user: user))
        #expect(error.code == .cannotOpenFile && error.message.contains("PGPASSFILE"), "\(error.message)")
      }
    }

    @Test func aRoleThatIsNotThereIsRefused() throws {
      let server = try PostgreSQLServer.shared.get()
      let error = try failure(server.address(schema: PostgreSQLServer.newSchema(), user: "nobody:hunter2"))
      #expect(error.code == .cannotOpenFile && error.message.contains("check the name"), "\(error.message)")
    }

    @Test func aUserWithoutPermissionsIsRefusedInEachPhase() throws {
      let server = try PostgreSQLServer.shared.get()
      let bench = try ServerBench()
      try bench.save(["Ann"])
      let schema = bench.store.address.schema
      let address = server.address(schema: schema, user: "locked:sesame")
      let connection = try bench.connection()
      // Making a schema, using a schema, reading its tables.
      var error = try failure(server.address(schema: PostgreSQLServer.newSchema(), user: "locked:sesame"))
      #expect(error.code == .readOnlyStore && error.message.contains("GRANT"), "\(error.message)")
      error = try failure(address)
      #expect(error.message.contains("GRANT"), "\(error.message)")
      try connection.execute("GRANT USAGE ON SCHEMA \(schema) TO locked")
      error = try failure(address)
      #expect(error.message.contains("GRANT"), "\(error.message)")
      try connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO locked")
      // Reading is permitted now, and a save is refused.
      let store = try PostgreSQLStore(url: #require(URL(string: address)), model: bench.model)
      let context = try bench.context(store)
      let person = try #require(try context.fetch(FetchRequest("Person")).first)
      try person.setValue("Bea", forKey: "firstName")
      let refused = #expect(throws: GraphError.self) { try context.save() }
      #expect(refused?.code == .readOnlyStore && refused?.message.contains("GRANT") == true, "\(refused as Any)")
      #expect(try bench.count("Ann") == 1)
    }

    @Test func anOldServerIsRefused() throws {
      let bench = try ServerBench()
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      let version = try #require(try bench.connection().serverSetting("server_version"))
      proxy.replace("server_version\0\(version)", with: "server_version\0" + "13" + version.dropFirst(2))
      let error = try failure(proxy.address(of: bench.store.address.schema).absoluteString)
      #expect(error.code == .cannotOpenFile && error.message.contains("needs 14 or later"), "\(error.message)")
    }

    @Test func aDatabaseWithAnotherEncodingIsRefused() throws {
      let bench = try ServerBench()
      let proxy = try CuttingProxy(to: PostgreSQLServer.shared.get().port)
      proxy.replace("server_encoding\0UTF8", with: "server_encoding\0WIN1")
      let error = try failure(proxy.address(of: bench.store.address.schema).absoluteString)
      #expect(
        error.code == .cannotOpenFile && error.message.contains("made with the encoding UTF8"), "\(error.message)")
    }

    @Test func metadataThatIsDamagedIsTold() throws {
      let bench = try ServerBench()
      let connection = try bench.connection()
      let address = bench.address.absoluteString
      for damage in [
        "UPDATE Z_METADATA SET Z_PLIST = 'x'", "UPDATE Z_METADATA SET Z_UUID = 'x'", "DELETE FROM Z_METADATA",
      ] {
        try connection.execute(damage)
        let error = try failure(address)
        #expect(error.code == .invalidStore && error.message.contains("damaged"), "\(error.message)")
      }
    }

    @Test func aTableThatIsGoneIsTold() throws {
      let bench = try ServerBench()
      let context = try bench.context(bench.store)
      _ = try context.insert("Project")
      try bench.connection().execute("DROP TABLE ZPROJECT CASCADE")
      for call in [{ _ = try context.fetch(FetchRequest("Project")) }, { try context.save() }] {
        let error = #expect(throws: GraphError.self) { try call() }
        #expect(error?.code == .invalidStore && error?.message.contains("is gone") == true, "\(error as Any)")
      }
      let error = try failure(bench.address.absoluteString)
      #expect(error.code == .invalidStore, "\(error.message)")
    }

    @Test func aServerWithoutFreeConnectionsIsToldAndTriedAgain() throws {
      let bench = try ServerBench()
      // A role of its own: other tests connect as `locked` at the same time.
      let role = PostgreSQLServer.newSchema()
      try bench.connection().execute("CREATE ROLE \(role) LOGIN CONNECTION LIMIT 0")
      defer { _ = try? bench.connection().execute("DROP ROLE \(role)") }
      let server = try PostgreSQLServer.shared.get()
      let error = try failure(server.address(schema: bench.store.address.schema, user: role))
      #expect(error.code == .storeBusy && error.message.contains("connections"), "\(error.message)")
    }
  }
#endif
