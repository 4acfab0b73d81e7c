#if PostgreSQL
  import MoonbaseGraph
  package import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQLStore
  import MoonbaseSQLiteTools

  /// Migrates a store in PostgreSQL through a file: the objects are copied into a file, the file is migrated as any
  /// other, and the result takes the place of the old tables in one transaction.
  ///
  /// Plans, losses, mapping models and scripts are therefore those of files. Until the end the old store is unchanged.
  package struct ServerMigration {
    let store: PersistentStoreDescription
    let address: URL
    private let sources: [ResolvedModel]
    /// The parts of unfinished work.
    package let leftovers = Leftovers()

    /// The temporary folder and schema of unfinished work, which another thread may remove.
    package final class Leftovers: Sendable {
      private let removals = Lock<[@Sendable () -> Void]>([])

      fileprivate func note(_ removal: @escaping @Sendable () -> Void) { removals.withLock { $0.append(removal) } }

      /// Removes the unfinished work. The store stays as it was.
      package func discard() { for removal in removals.withLock({ $0 }) { removal() } }
    }

    /// Describes the migration of a store on a server. `sources` are the models that the store may be of, besides the
    /// model in it.
    package init(of store: PersistentStoreDescription, at address: URL, sources: [ResolvedModel] = []) {
      (self.store, self.address, self.sources) = (store, address, sources)
    }

    /// The number of transactions in the history, which a migration loses.
    package func transactionCount() throws -> Int {
      try PostgreSQLStore.transactionCount(ofStoreAt: address, busyTimeout: store.busyTimeout)
    }

    /// Calls `body` with a file that has the store's objects. The store is unchanged.
    package func plan<Result>(_ body: (URL) throws -> Result) throws -> Result {
      try inFolder { file in
        try old().close { try copy($0.store, $0.model, to: file, counters: [:]) }
        return try body(file)
      }
    }

    /// The columns, indexes, constraints and triggers that other programs added to the store's tables, as phrases.
    package func foreignParts() throws -> [String] { try old().close { try $0.store.foreignParts() } }

    /// Calls `body` with a file that has the store's objects, and replaces the store by the file that `body` leaves.
    ///
    /// Throws `.migrationLoss` for tables to which other programs added parts, unless losses are allowed.
    package func run<Result>(allowingLoss allowsLoss: Bool, _ body: (URL) throws -> Result) throws -> Result {
      try inFolder { file in
        let replacement = try SchemaReplacement(of: address, busyTimeout: store.busyTimeout)
        leftovers.note(replacement.discard)
        let old = try old()
        if !allowsLoss { try checkParts(of: old) }
        try old.close { try copy($0.store, $0.model, to: file, counters: replacement.counters) }
        let result = try body(file)
        let counters = try fill(replacement.url, from: file)
        try replacement.moveIntoPlace(of: old.store, counters: counters)
        return result
      }
    }

    // MARK: Steps

    private func checkParts(of old: Old) throws {
      let parts = try old.store.foreignParts()
      if parts.isEmpty { return }
      old.store.close()
      throw GraphError(
        .migrationLoss,
        message: "\(old.store.address) was not migrated, because \(parts.listed(atMost: 5)) would be dropped, which "
          + "another program added: make a note of the definition and allow the loss\(AutomaticMigration.permission)")
    }

    /// The store with the model that wrote it.
    struct Old {
      let store: PostgreSQLStore
      let model: ResolvedModel

      /// Closes the store after a call of `body`.
      func close<Result>(_ body: (Old) throws -> Result) throws -> Result {
        defer { store.close() }
        return try body(self)
      }
    }

    func old() throws -> Old {
      let carried = try? store.keptModel().resolved()
      var failure: (any Error)?
      var options = PostgreSQLStoreOptions()
      options.readOnly = true
      if let busyTimeout = store.busyTimeout { options.busyTimeout = busyTimeout }
      let held = try Set((store.keptMetadata()["NSStoreModelVersionHashes"]?.map ?? [:]).keys)
      for model in [carried].compactMap(\.self) + sources {
        do {
          let configuration =
            held.count < model.entities.count ? model.description.configuration(of: held) : nil
          return Old(
            store: try PostgreSQLStore(url: address, model: model, configuration: configuration, options: options),
            model: model)
        } catch let error as GraphError where error.code == .incompatibleVersionHash {
          failure = failure ?? error
        }
      }
      throw GraphError(
        .missingSourceModel,
        message: "\(PersistentStoreDescription.shown(address.absoluteString)): none of the known models wrote the "
          + "store: name the one that did", underlying: failure)
    }

    /// Copies a store into a new file. New objects get no key that the store has given.
    func copy(
      _ source: PostgreSQLStore, _ model: ResolvedModel, to file: URL, counters: [String: Int64]
    ) throws {
      let held = source.entities.count < model.entities.count
      let configuration = held ? model.description.configuration(of: source.entities.map(\.name)) : nil
      let new = try SQLiteStore(url: file, model: model, configuration: configuration)
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(source)
      try coordinator.migratePersistentStore(source, to: new)
      for entity in new.entities where entity.parent == nil {
        let next = try new.reserveKeys(for: entity, count: 0)
        let given = counters[entity.name] ?? 0
        if given >= next { _ = try new.reserveKeys(for: entity, count: Int(given - next + 1)) }
      }
      try coordinator.remove(new)
    }

    /// Copies a migrated file into a new schema. Returns the greatest keys that were given, by entity.
    private func fill(_ url: URL, from file: URL) throws -> [String: Int64] {
      let model = try SQLiteStore.cachedModel(ofStoreAt: file).resolved()
      let held = try Set((SQLiteStore.metadata(ofStoreAt: file)["NSStoreModelVersionHashes"]?.map ?? [:]).keys)
      let configuration = held.count < model.entities.count ? model.description.configuration(of: held) : nil
      let source = try SQLiteStore(url: file, model: model, configuration: configuration)
      var counters: [String: Int64] = [:]
      for entity in source.entities where entity.parent == nil {
        counters[entity.name] = try source.reserveKeys(for: entity, count: 0) - 1
      }
      let new = try PostgreSQLStore(url: url, model: model, configuration: configuration)
      defer { new.close() }
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.add(source)
      try coordinator.migratePersistentStore(source, to: new)
      try coordinator.remove(new)
      return counters
    }

    /// Calls `body` with the name of a file in a private folder, which is removed afterwards. Errors name the store
    /// instead of the file.
    func inFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
      let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
        "moonbase-migration-\(UUID().uuidString)")
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      defer { try? FileManager.default.removeItem(at: folder) }
      leftovers.note { try? FileManager.default.removeItem(at: folder) }
      let file = folder.appendingPathComponent("store.sqlite")
      do { return try body(file) } catch var error as GraphError {
        let name = PersistentStoreDescription.shown(address.absoluteString)
        error.message = error.message.replacing(file.path, with: name)
        for index in error.details.indices {
          error.details[index].message = error.details[index].message.replacing(file.path, with: name)
        }
        throw error
      }
    }
  }

  extension PersistentStoreDescription {
    /// Migrates a store on a server that is of another version of the model, where the description allows it.
    func migrate(to model: ResolvedModel, at address: URL, because error: GraphError) throws {
      guard shouldMigrateStoreAutomatically, !isReadOnly else { throw error }
      let hashes = (try keptMetadata()["NSStoreModelVersionHashes"]?.map ?? [:]).compactMapValues(\.data)
      try AutomaticMigration(infersMapping: shouldInferMappingModelAutomatically).check(
        Self.shown(address.absoluteString), of: hashes, model, configuration: configuration, because: error)
      try ServerMigration(of: self, at: address).run(allowingLoss: allowsMigrationLoss) {
        // Another process may have migrated the store meanwhile.
        let isDone = try SQLiteStore.version(ofStoreAt: $0, among: [model], configuration: configuration) != nil
        guard !isDone else { return }
        do {
          try SQLiteStore.migrate(
            storeAt: $0, to: model, configuration: configuration, allowsLoss: allowsMigrationLoss)
        } catch var error as GraphError where error.code == .migrationLoss {
          error.message += AutomaticMigration.permission
          throw error
        }
      }
    }
  }
#endif
