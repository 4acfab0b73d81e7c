#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseTestSupport

  @testable import MoonbasePostgreSQLStore

  /// A store in a schema of its own, with an additional connection.
  struct ServerBench {
    let address: URL
    let model: ResolvedModel
    let store: PostgreSQLStore

    init(
      _ description: ManagedObjectModel = People.model(), options: PostgreSQLStoreOptions = PostgreSQLStoreOptions()
    ) throws {
      address = try PostgreSQLServer.newAddress()
      model = try description.resolved()
      store = try PostgreSQLStore(url: address, model: model, options: options)
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
#endif
