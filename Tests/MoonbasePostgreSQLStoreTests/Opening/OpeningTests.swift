#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// An invalid address, server or schema results in a clear error, and nothing is made.
  @Suite struct OpeningTests {
    private func failure(
      _ address: String, readOnly: Bool = false, _ model: ManagedObjectModel = People.model()
    ) throws -> GraphError? {
      var options = PostgreSQLStoreOptions()
      options.readOnly = readOnly
      return #expect(throws: GraphError.self) {
        try PostgreSQLStore(url: #require(URL(string: address)), model: model.resolved(), options: options)
      }
    }

    @Test func anAddressIsTakenApart() throws {
      let address = try PostgreSQLAddress(
        #require(URL(string: "postgresql://ann:secret@db.example.org:5433/shop?schema=people&sslmode=require")))
      #expect(address.schema == "people")
      #expect(address.target == "postgresql://ann:secret@db.example.org:5433/shop?sslmode=require")
      #expect(
        address.description == "postgresql://ann@db.example.org:5433/shop?schema=people&sslmode=require")
      #expect(try PostgreSQLAddress(#require(URL(string: "postgresql:///shop"))).schema == "moonbase")
      for wrong in ["http://host/shop", "postgresql:///shop?schema=a&schema=b", "postgresql:///shop?schema="] {
        #expect(throws: GraphError.self) { try PostgreSQLAddress(#require(URL(string: wrong))) }
      }
    }

    @Test func aServerThatIsNotThereIsNamedWithoutThePassword() throws {
      let error = try failure("postgresql://ann:secret@127.0.0.1:1/shop?connect_timeout=2")
      #expect(error?.code == .storeFailure)
      #expect(error?.message.contains("postgresql://ann@127.0.0.1:1/shop") == true)
      #expect(error?.message.contains("secret") == false && "\(error?.underlying as Any)".contains("secret") == false)
    }

    @Test func aDatabaseThatIsNotThereIsTold() throws {
      let server = try PostgreSQLServer.shared.get()
      let address = server.address(schema: "s").replacing("/postgres?", with: "/nowhere?")
      let error = try failure(address)
      #expect(error?.code == .cannotOpenFile && error?.message.contains("createdb") == true, "\(error?.message ?? "")")
    }

    @Test func aSchemaThatIsNoStoreIsLeftAsItIs() throws {
      let bench = try ServerBench()
      let connection = try bench.connection()
      let schema = bench.store.address.schema + "x"
      try connection.execute("CREATE SCHEMA \(schema); CREATE TABLE \(schema).mine (a int)")
      let error = try failure(try PostgreSQLServer.shared.get().address(schema: schema))
      #expect(error?.code == .invalidStore && error?.message.contains("no store") == true)
      let rows = try connection.query("SELECT count(*) FROM pg_tables WHERE schemaname = '\(schema)'")
      #expect(rows.integer(0, 0) == 1)
    }

    @Test func aStoreThatIsOnlyReadIsNotMade() throws {
      let error = try failure(PostgreSQLServer.newAddress().absoluteString, readOnly: true)
      #expect(error?.code == .cannotOpenFile)
    }

    @Test func anotherModelIsRefused() throws {
      let bench = try ServerBench()
      var model = People.model()
      model.entities[3].attributes.append(AttributeDescription("budget", type: .double))
      let error = try failure(bench.address.absoluteString, model)
      #expect(error?.code == .incompatibleVersionHash && error?.message.contains("Project") == true)
      #expect(!(error?.details.isEmpty ?? true))
    }

    @Test func theStoreCarriesItsModel() throws {
      let bench = try ServerBench()
      let model = try PostgreSQLStore.cachedModel(ofStoreAt: bench.address)
      #expect(try model.resolved().versionHashes == bench.model.versionHashes)
      #expect(try bench.store.metadata()["NSStoreType"] == "PostgreSQL")
      let again = try bench.other()
      #expect(again.identifier == bench.store.identifier)
    }

    @Test func severalThatMakeOneStoreAtOnceHaveTheSame() throws {
      let address = try PostgreSQLServer.newAddress()
      let model = try People.model().resolved()
      let found = Lock<[String]>([])
      let failures = Lock<[String]>([])
      DispatchQueue.concurrentPerform(iterations: 4) { _ in
        do {
          let store = try PostgreSQLStore(url: address, model: model)
          found.withLock { $0.append(store.identifier) }
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
      #expect(failures.withLock { $0 } == [])
      #expect(Set(found.withLock { $0 }).count == 1 && found.withLock { $0.count } == 4)
    }

    @Test func aNameThatPostgreSQLWouldCutOffIsRefused() throws {
      var model = ManagedObjectModel()
      var entity = EntityDescription("Thing")
      entity.attributes = [AttributeDescription(String(repeating: "a", count: 70), type: .string)]
      model.entities = [entity]
      let error = try failure(PostgreSQLServer.newAddress().absoluteString, model)
      #expect(error?.code == .invalidStore && error?.message.contains("63") == true)
    }
  }
#endif
