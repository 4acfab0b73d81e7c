#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The derived attributes of a model, and the rows that they are derived from.
  struct DerivationPlan: Sendable {
    let sources: [EntityIndex: [DerivationSource]]
    /// The derived attributes by entity.
    let derivations: [[StoredDerivation]]

    init(_ model: ResolvedModel) {
      derivations = model.entities.map(model.storedDerivations(of:))
      sources = derivations.contains { !$0.isEmpty } ? DerivationSource.all(of: model) : [:]
    }

    /// Whether no attribute is derived in rows of these entities, or from them.
    func areIndependent(of entities: [EntityLayout]) -> Bool {
      entities.allSatisfy { derivations[$0.entity.index].isEmpty && sources[$0.entity.index] == nil }
    }

    var isEmpty: Bool { derivations.allSatisfy(\.isEmpty) }
  }

  /// Computes the attributes that the store derives from saved data. They are computed and written within the save's
  /// transaction, by the same code as for an in-memory store. The version of a row is unchanged.
  struct Derivation {
    private let plan: DerivationPlan
    private let store: PostgreSQLStore
    private let connection: PostgreSQLConnection
    private let saved: Set<ManagedObjectID>
    /// The rows that a save writes, and both ends of its links.
    private let touched: [ManagedObjectID]
    private var underived: Set<ManagedObjectID> = []

    private var layout: StoreLayout { store.layout }

    /// Notes the rows that are derived from the old state. Called before the rows change.
    init(_ changes: StoreChanges, in store: PostgreSQLStore, on connection: PostgreSQLConnection) throws {
      (self.store, self.connection, plan) = (store, connection, store.derivations)
      let rows = changes.inserted.map(\.id) + changes.updated.map(\.snapshot.id)
      let links = changes.links.flatMap { [$0.owner] + $0.added + $0.removed }
      saved = Set(rows)
      touched = Array(Set(rows + changes.deleted.map(\.id) + links))
      try noteSources()
    }

    /// Derives the attributes of rows anew, and those of the rows that are derived from them.
    init(recomputing ids: Set<ManagedObjectID>, in store: PostgreSQLStore, on connection: PostgreSQLConnection) {
      (self.store, self.connection, plan) = (store, connection, store.derivations)
      (saved, touched, underived) = ([], [], ids)
    }

    /// Computes the derived attributes after the rows are written. Returns the objects whose values changed.
    mutating func run() throws -> [ManagedObjectID] {
      try noteSources()
      var changed: Set<ManagedObjectID> = []
      let date = Value.date(Date())
      for round in 0..<StoredDerivation.greatestRounds where !underived.isEmpty {
        let ids = Array(underived)
        underived = []
        var new: [Snapshot] = []
        for old in try store.snapshots(of: ids, connection) {
          let values = try derived(old, now: round == 0 && saved.contains(old.id) ? date : nil)
          guard !values.elementsEqual(old.values) else { continue }
          new.append(Snapshot(id: old.id, version: old.version, values: values))
        }
        try write(new)
        changed.formUnion(new.map(\.id))
        try noteSources(of: new.map(\.id))
      }
      return Array(changed)
    }

    private func derived(_ row: Snapshot, now: Value?) throws -> [Value] {
      guard let entity = layout.model.entity(of: row.id) else { return Array(row.values) }
      var values = Array(row.values)
      for derivation in plan.derivations[entity.index] {
        if case .now = derivation.result {
          if let now { values[derivation.slot] = now }
          continue
        }
        let value = try store.value(of: derivation, for: row, connection)
        let property = entity.properties[derivation.slot]
        if let misfit = property.misfit(value, of: row.id) { throw misfit }
        // A sum of no values is an integer.
        values[derivation.slot] = (try? property.attribute?.checked(value)) ?? value
      }
      return values
    }

    private func write(_ rows: [Snapshot]) throws {
      for (symbol, rows) in rows.grouped(by: \.id.entitySymbol) {
        guard let entity = layout.model.entity(symbol) else { continue }
        let columns = try RowColumns(layout.layout(entity), store: layout)
        let slots = Set(plan.derivations[entity.index].map(\.slot))
        let changed = columns.columns.filter { slots.contains($0.slot) }
        var arrays = [ArrayParameter(.bigint, expecting: rows.count)]
        for row in rows { arrays[0].append(row.id.key) }
        for column in changed {
          arrays += column.parts.map { ArrayParameter($0.type, expecting: rows.count) }
          for row in rows { try columns.append(row, column, to: &arrays, at: arrays.count - column.parts.count) }
        }
        var parameters = Parameters()
        for array in arrays { parameters.append(array) }
        try connection.query(columns.setting(changed), parameters)
      }
    }

    // MARK: Values derived from rows

    private mutating func noteSources() throws { try noteSources(of: touched) }

    private mutating func noteSources(of ids: [ManagedObjectID]) throws {
      let rows = try store.snapshots(of: ids, connection)
      for row in rows {
        guard let entity = layout.model.entity(of: row.id), !plan.derivations[entity.index].isEmpty else { continue }
        underived.insert(row.id)
      }
      for (symbol, group) in ids.grouped(by: \.entitySymbol) {
        guard let entity = layout.model.entity(symbol) else { continue }
        let present = rows.filter { $0.id.entitySymbol == symbol }
        for source in plan.sources[entity.index] ?? [] {
          underived.formUnion(try owners(by: source, of: group, present))
        }
      }
    }

    private func owners(
      by source: DerivationSource, of ids: [ManagedObjectID], _ rows: [Snapshot]
    ) throws -> Set<ManagedObjectID> {
      var ids = Set(ids)
      for step in source.steps where !ids.isEmpty {
        switch step {
        case .destination(let slot): ids = Set(rows.compactMap { $0.destination(slot) })
        case .pointers(let property): ids = try pointers(property, to: ids)
        case .links(let property):
          ids = Set(try store.destinations(of: Array(ids), relationship: property.slot, connection).joined())
        case .owners(let property): ids = try owners(property, of: ids)
        }
      }
      return ids
    }

    private func pointers(_ property: PropertyID, to ids: Set<ManagedObjectID>) throws -> Set<ManagedObjectID> {
      let own = try layout.layout(layout.model.entities[property.entity])
      guard case .toOne(let toOne) = own.slots[property.slot] else { return [] }
      return try objects(
        "SELECT Z_PK, Z_ENT FROM \(identifier(own.table)) WHERE \(identifier(toOne.column)) = ANY($1)", ids)
    }

    private func owners(_ property: PropertyID, of ids: Set<ManagedObjectID>) throws -> Set<ManagedObjectID> {
      let own = try layout.layout(layout.model.entities[property.entity])
      guard case .join(let join) = own.slots[property.slot] else { return [] }
      return try objects(
        "SELECT Z_PK, Z_ENT FROM \(identifier(own.table)) WHERE Z_PK IN (SELECT \(identifier(join.ownerColumn)) "
          + "FROM \(identifier(join.table)) WHERE \(identifier(join.destinationColumn)) = ANY($1))", ids)
    }

    private func objects(_ sql: String, _ ids: Set<ManagedObjectID>) throws -> Set<ManagedObjectID> {
      var parameters = Parameters()
      parameters.append(ids.map(\.key))
      let rows = try connection.query(sql, parameters)
      return Set(
        (0..<rows.count).compactMap { row in
          layout.entity(number: rows.integer(row, 1)).map {
            ManagedObjectID(store: store.number, entity: $0.entity.symbol, key: rows.integer(row, 0))
          }
        })
    }
  }

  extension PostgreSQLStore {
    /// A stored derived value that differs from its derivation.
    struct DerivedDifference {
      let object: ManagedObjectID
      let attribute: ResolvedProperty
      let stored: Value
      let derived: Value
      /// Whether the attribute's type holds the derived value.
      let fits: Bool
    }

    fileprivate func value(
      of derivation: StoredDerivation, for row: Snapshot, _ connection: PostgreSQLConnection
    ) throws -> Value {
      try derivation.value(for: row) {
        try snapshots(of: [$0], connection).first
      } destinations: {
        try destinations(of: [$0], relationship: $1, connection)[0]
      }
    }

    /// The derived values of objects that differ from their derivations. Times of the last save, and values that are
    /// derived from damaged ones, cannot be compared. Rounding differences of floating-point sums are ignored.
    func derivedDifferences(
      of ids: [ManagedObjectID], _ connection: PostgreSQLConnection
    ) throws -> [DerivedDifference] {
      var found: [DerivedDifference] = []
      for row in try snapshots(of: ids, connection) {
        guard let entity = layout.model.entity(of: row.id) else { continue }
        for derivation in derivations.derivations[entity.index] {
          if case .now = derivation.result { continue }
          let attribute = entity.properties[derivation.slot]
          let value: Value
          do { value = try self.value(of: derivation, for: row, connection) } catch let error as GraphError
            where error.code == .invalidStore
          { continue }
          let checked = try? attribute.attribute?.checked(value)
          let (stored, derived) = (row.values[derivation.slot], checked ?? value)
          let fits = checked != nil && attribute.misfit(value, of: row.id) == nil
          if fits, stored == derived || stored.isNear(derived) { continue }
          found.append(
            DerivedDifference(object: row.id, attribute: attribute, stored: stored, derived: derived, fits: fits))
        }
      }
      return found
    }
  }

  extension Value {
    /// Whether two floating-point numbers differ by rounding at most.
    fileprivate func isNear(_ other: Value) -> Bool {
      guard case .double(let one) = self, case .double(let two) = other else { return false }
      return abs(one - two) <= 1e-9 * abs(two)
    }
  }
#endif
