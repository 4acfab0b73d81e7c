#if PostgreSQL
  import Moonbase
  import MoonbasePlatform
  import MoonbaseTestSupport
  import Testing

  /// Containers over PostgreSQL: migration at opening.
  @Suite struct ServerStoreTests {
    private let address: URL

    init() throws { address = try PostgreSQLServer.newAddress() }

    private let first = ManagedObjectModel {
      EntityDescription("Person") { AttributeDescription("name", type: .string) }
    }
    private let second = ManagedObjectModel {
      EntityDescription("Person") {
        AttributeDescription("name", type: .string)
        AttributeDescription("age", type: .integer16)
      }
    }
    /// A model without the attribute that the first has.
    private let third = ManagedObjectModel {
      EntityDescription("Person") { AttributeDescription("age", type: .integer16) }
    }

    private func open(
      _ model: ManagedObjectModel, _ configure: (inout PersistentStoreDescription) -> Void = { _ in }
    ) throws -> PersistentContainer {
      var store = PersistentStoreDescription.postgreSQL(address)
      configure(&store)
      return try PersistentContainer(model: model, stores: [store])
    }

    private func count(_ container: PersistentContainer) throws -> Int {
      try ManagedObjectContext(container.coordinator).count(FetchRequest("Person"))
    }

    /// Makes a store with one object, and closes it.
    private func fill() throws {
      let container = try open(first)
      let context = try ManagedObjectContext(container.coordinator)
      try context.insert("Person").setValue("Ann", forKey: "name")
      try context.save()
    }

    @Test func aStoreOfAnotherVersionIsMigratedWhenItIsOpened() throws {
      try fill()
      let container = try open(second)
      let context = try ManagedObjectContext(container.coordinator)
      let person = try #require(try context.fetch(FetchRequest("Person")).first)
      #expect(try person.value(forKey: "name") == "Ann" && person.value(forKey: "age") == .null)
      try person.setValue(7, forKey: "age")
      try context.save()
    }

    @Test func aStoreIsLeftAsItIsWhereTheDescriptionForbidsTheMigration() throws {
      try fill()
      let ways: [(code: ErrorCode, (inout PersistentStoreDescription) -> Void)] = [
        (.incompatibleVersionHash, { $0.shouldMigrateStoreAutomatically = false }),
        (.incompatibleVersionHash, { $0.isReadOnly = true }),
        (.missingMappingModel, { $0.shouldInferMappingModelAutomatically = false }),
      ]
      for (code, way) in ways {
        let error = #expect(throws: GraphError.self) { try open(second, way) }
        #expect(error?.code == code, "\(error?.message ?? "")")
      }
      let loss = #expect(throws: GraphError.self) { try open(third) }
      #expect(loss?.code == .migrationLoss && loss?.message.contains("allowsMigrationLoss") == true)
      #expect(try count(open(first)) == 1)
    }

    @Test func aLossMayBeAllowed() throws {
      try fill()
      #expect(try count(open(third) { $0.allowsMigrationLoss = true }) == 1)
    }

    /// A store that another session has open is not migrated below it.
    @Test func aStoreInUseIsNotMigrated() throws {
      try fill()
      func refuse() throws {
        let container = try open(first)
        #expect(try count(container) == 1)
        let error = #expect(throws: GraphError.self) { try open(second) { $0.busyTimeout = .milliseconds(300) } }
        #expect(error?.code == .storeBusy, "\(error?.message ?? "")")
        #expect(try count(container) == 1)
      }
      try refuse()
      #expect(try count(open(second)) == 1)
    }

    /// The connections of an open store were lost, and another process migrated the store meanwhile.
    @Test func anOpenStoreThatWasMigratedMeanwhileIsRefused() throws {
      try fill()
      let former = try open(first)
      let context = try ManagedObjectContext(former.coordinator)
      let person = try #require(try context.fetch(FetchRequest("Person")).first)
      try endConnections()
      let migrated = try open(second)
      try person.setValue("Bob", forKey: "name")
      let refused = #expect(throws: GraphError.self) { try context.save() }
      #expect(refused?.message.contains("open it again") == true, "\(refused?.message ?? "")")
      let unread = #expect(throws: GraphError.self) { try count(former) }
      #expect(unread?.message.contains("open it again") == true, "\(unread?.message ?? "")")
      let present = try ManagedObjectContext(migrated.coordinator)
      let found = try present.fetch(FetchRequest("Person"))
      #expect(try found.map { try $0.value(forKey: "name") } == ["Ann"])
      withExtendedLifetime((context, present)) {}
    }

    /// Ends the store's connections on the server, as a restart of the server does.
    private func endConnections() throws {
      let schema = try #require(address.absoluteString.split(separator: "=").last)
      let server = address.absoluteString.replacing("?schema=\(schema)", with: "")
      let sql = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'moonbase \(schema)'"
      let end = ContinuousClock.now + .seconds(10)
      while ContinuousClock.now < end,
        try ChildProcess.run(named: "psql", ["-Atq", server, "-c", sql]).output != ""
      {
        usleep(10_000)
      }
    }
  }
#endif
