#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport
  import Testing

  @testable import MoonbasePostgreSQLStore

  /// A store in a schema of its own, with an additional connection.
  struct ServerBench {
    let address: URL
    let model: ResolvedModel
    let store: PostgreSQLStore

    init(
      _ description: ManagedObjectModel = People.model(), at address: URL? = nil,
      options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws {
      self.address = try address ?? PostgreSQLServer.newAddress()
      model = try description.resolved()
      store = try PostgreSQLStore(url: self.address, model: model, options: options)
    }

    /// Another store of the same schema, as in another process.
    func other(options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()) throws -> PostgreSQLStore {
      try PostgreSQLStore(url: address, model: model, options: options)
    }

    func context(_ store: PostgreSQLStore) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(store)
      return ManagedObjectContext(coordinator, extensionRegistry: ExtensionRegistry())
    }

    /// A connection whose statements find the store's tables.
    func connection() throws -> PostgreSQLConnection { try store.pool.open() }

    /// The store through a proxy.
    func store(
      through proxy: CuttingProxy, options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws -> PostgreSQLStore {
      try PostgreSQLStore(url: proxy.address(of: store.address.schema), model: model, options: options)
    }

    /// The number of people with a first name, as a new context finds it.
    func count(_ name: String) throws -> Int {
      var request = FetchRequest("Person")
      request.predicate = try Predicate(format: "firstName == %@", .string(name))
      return try context(store).count(request)
    }

    /// Saves people with these first names.
    @discardableResult
    func save(_ names: [String]) throws -> [ManagedObjectID] {
      let context = try context(store)
      let people = try names.map { name in
        let person = try context.insert("Person")
        try person.setValue(.string(name), forKey: "firstName")
        return person
      }
      try context.save()
      return people.map(\.objectID)
    }
  }

  extension CuttingProxy {
    /// The address of a store through the proxy, whose connections have no encryption.
    func address(of schema: String) throws -> URL {
      let address = "postgresql://moonbase:hunter2@127.0.0.1:\(port)/postgres?schema=\(schema)"
      return try #require(URL(string: address + "&sslmode=disable&gssencmode=disable"))
    }
  }
#endif
