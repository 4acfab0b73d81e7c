#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// Writes the pairs of many-to-many relationships, and the places in ordered relationships.
  struct LinkWriter {
    let layout: StoreLayout
    let connection: PostgreSQLConnection

    private struct Pairs: Hashable {
      let table: String
      let owner: String
      let destination: String
    }

    func write(_ links: [StoreChanges.Links]) throws {
      if links.isEmpty { return }
      // Removals come first, so that a destination can pass from one object to another.
      try write(
        links.map { ($0, $0.removed) },
        "DELETE FROM %t j USING unnest($1, $2) AS n (o, d) WHERE j.%o = n.o AND j.%d = n.d")
      try write(
        links.map { ($0, $0.added) },
        "INSERT INTO %t (%o, %d) SELECT n.o, n.d FROM unnest($1, $2) AS n (o, d) ON CONFLICT (%o, %d) DO NOTHING")
      // A pair may be written by the inverse side. Places need existing pairs.
      for link in links { try writePlaces(of: link) }
    }

    /// Writes pairs, with one statement for each table.
    private func write(_ links: [(StoreChanges.Links, [ManagedObjectID])], _ sql: String) throws {
      var found: [Pairs: (owners: [Int64], destinations: [Int64])] = [:]
      var order: [Pairs] = []
      for (link, ids) in links where !ids.isEmpty {
        guard case .join(let join) = try slot(of: link) else { continue }
        let pairs = Pairs(table: join.table, owner: join.ownerColumn, destination: join.destinationColumn)
        if found[pairs] == nil { order.append(pairs) }
        for id in ids {
          found[pairs, default: ([], [])].owners.append(link.owner.key)
          found[pairs, default: ([], [])].destinations.append(id.key)
          guard join.isReflexive else { continue }
          found[pairs, default: ([], [])].owners.append(id.key)
          found[pairs, default: ([], [])].destinations.append(link.owner.key)
        }
      }
      for pairs in order {
        guard let (owners, destinations) = found[pairs] else { continue }
        var parameters = Parameters()
        parameters.append(owners)
        parameters.append(destinations)
        try connection.query(
          sql.replacing("%t", with: identifier(pairs.table)).replacing("%o", with: identifier(pairs.owner))
            .replacing("%d", with: identifier(pairs.destination)), parameters)
      }
    }

    private func slot(of links: StoreChanges.Links) throws -> SlotLayout {
      let slot = try layout.layout(of: links.owner).slots[links.slot]
      if case .lost(let error) = slot { throw error }
      return slot
    }

    private func writePlaces(of links: StoreChanges.Links) throws {
      guard let order = links.order else { return }
      let statements: OrderStatements
      switch try slot(of: links) {
      case .join(let join):
        guard let column = join.orderColumn else { return }
        statements = OrderStatements(join, column: column, dialect: .postgreSQL)
      case .foreignKey(let toOne, let destination):
        guard let column = toOne.orderColumn else { return }
        let table = try layout.layout(layout.model.entities[destination]).table
        statements = OrderStatements(toOne, table: table, column: column, dialect: .postgreSQL)
      case .none, .lost, .attribute, .composite, .toOne: return
      }
      try PlaceWriter(links.owner, order: order, column: OrderColumn(statements: statements, connection: connection))
        .write()
    }
  }

  /// The column with the places of an ordered relationship's destinations.
  private struct OrderColumn: PlaceColumn {
    let statements: OrderStatements
    let connection: PostgreSQLConnection

    func read(_ owner: Int64, some keys: [Int64]) throws -> [Int64: Int64] {
      var parameters = Parameters()
      parameters.append(owner)
      parameters.append(keys)
      let rows = try connection.query(statements.selectionOfSome, parameters)
      return Dictionary((0..<rows.count).map { (rows.integer($0, 0), rows.integer($0, 1)) }) { first, _ in first }
    }

    func listing(_ owner: Int64) throws -> (keys: [Int64], places: [Int64: Int64]) {
      var parameters = Parameters()
      parameters.append(owner)
      let rows = try connection.query(statements.listing, parameters)
      var places: [Int64: Int64] = [:]
      for row in 0..<rows.count where !rows.isNull(row, 1) { places[rows.integer(row, 0)] = rows.integer(row, 1) }
      return ((0..<rows.count).map { rows.integer($0, 0) }, places)
    }

    func end(_ owner: Int64) throws -> (last: Int64?, missing: Int) {
      var parameters = Parameters()
      parameters.append(owner)
      let rows = try connection.query(statements.end, parameters)
      return (rows.isNull(0, 0) ? nil : rows.integer(0, 0), Int(rows.integer(0, 1)))
    }

    func write(_ places: [(key: Int64, place: Int64)], of owner: ManagedObjectID, _ order: StoreChanges.Order) throws {
      var parameters = Parameters()
      parameters.append(places.map(\.place))
      parameters.append(owner.key)
      parameters.append(places.map(\.key))
      try connection.query(statements.update, parameters)
    }

    func knownEnd(of owner: Int64, before members: [Int64]) -> Int64? { nil }
    func note(end place: Int64?, of owner: Int64) {}
  }
#endif
