#if PostgreSQL
  import MoonbaseGraph
  package import MoonbaseModel
  package import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Repairs defects found by `ServerCheck`, as far as that loses no data.
  package enum ServerRepair {
    /// Repairs defects whose repair is `.file`, in one transaction: counters are raised, and links with missing rows
    /// are removed. Destinations without a position get one, and derived attributes are computed again. Stores that a
    /// copy or a migration left unfinished are dropped before.
    ///
    /// Throws as opening a store for writing does.
    package static func run(
      storeAt url: URL, model: ResolvedModel, configuration: String? = nil, busyTimeout: Duration? = nil
    ) throws {
      var options = PostgreSQLStoreOptions()
      if let busyTimeout { options.busyTimeout = busyTimeout }
      let store = try PostgreSQLStore(url: url, model: model, configuration: configuration, options: options)
      defer { store.close() }
      do {
        let connection = try store.pool.acquire()
        defer { store.pool.giveBack(connection) }
        try AbandonedSchemas.remove(beside: store.address.schema, connection)
        try StoreOpener.transaction(connection, ending: store.record.commit(store.record.next())) {
          try repair(store, $0)
        }
      } catch {
        throw store.pool.failure.translate(error)
      }
    }

    private static func repair(_ store: PostgreSQLStore, _ connection: PostgreSQLConnection) throws {
      let statements = RepairStatements(store.layout, dialect: .postgreSQL)
      let tables = Set(try StoreOpener.tables(of: store.address.schema, connection).keys)
      let history = SchemaWriter.historyTables(among: tables)
      for sql in statements.counters(historyTables: history) + statements.pairs { try connection.execute(sql) }
      for places in OrderedPlaces.all(of: store.layout, dialect: .postgreSQL) { try giveOut(places, connection) }
      for entity in store.layout.entities.compactMap(\.self) { try derive(entity, store, connection) }
    }

    /// Assigns positions in the present order of the objects; most existing positions are kept.
    private static func giveOut(_ places: OrderedPlaces, _ connection: PostgreSQLConnection) throws {
      let owners = try connection.queryOnce(places.unordered)
      for owner in (0..<owners.count).map({ owners.integer($0, 0) }) {
        var parameters = Parameters()
        parameters.append(owner)
        let rows = try connection.query(places.statements.listing, parameters)
        let members = (0..<rows.count).map {
          (key: rows.integer($0, 0), place: rows.isNull($0, 1) ? nil : rows.integer($0, 1))
        }
        let new = zip(members, OrderKeys.ascending(members.map(\.place))).filter { $0.place != $1 }
        var update = Parameters()
        update.append(new.map(\.1))
        update.append(owner)
        update.append(new.map(\.0.key))
        try connection.query(places.statements.update, update)
      }
    }

    private static func derive(
      _ entity: EntityLayout, _ store: PostgreSQLStore, _ connection: PostgreSQLConnection
    ) throws {
      guard !store.derivations.derivations[entity.entity.index].isEmpty else { return }
      let rows = try connection.queryOnce(
        "SELECT Z_PK FROM \(identifier(entity.table)) WHERE Z_ENT = \(entity.number) ORDER BY Z_PK")
      let ids = (0..<rows.count).map {
        ManagedObjectID(store: store.number, entity: entity.entity.symbol, key: rows.integer($0, 0))
      }
      for start in stride(from: 0, to: ids.count, by: 1000) {
        let differences = try store.derivedDifferences(of: Array(ids[start..<min(ids.count, start + 1000)]), connection)
        let wrong = Set(differences.filter(\.fits).map(\.object))
        if wrong.isEmpty { continue }
        var derivation = Derivation(recomputing: wrong, in: store, on: connection)
        _ = try derivation.run()
      }
    }
  }
#endif
