#if PostgreSQL
  import MoonbaseGraph
  import MoonbaseModel
  import MoonbasePlatform
  import MoonbasePostgreSQL
  import MoonbaseSQL

  /// The unique values that a save takes and releases. Determines the real conflicts after an index refused a row.
  struct UniqueClaims {
    /// Rows whose unique values pass to other rows of the save.
    struct Passing {
      let entity: EntityLayout
      let slots: Set<Slot>
      let keys: [Int64]
    }

    /// The properties of a uniqueness constraint, with the entity that declares it.
    private struct Constraint: Hashable {
      let entity: EntityIndex
      let slots: [Slot]
    }

    private struct Claim {
      let row: Snapshot
      let values: [Value]
    }

    private let changes: StoreChanges
    private let store: PostgreSQLStore
    private var claims: [(constraint: Constraint, claims: [Claim])] = []

    init(_ changes: StoreChanges, in store: PostgreSQLStore) {
      (self.changes, self.store) = (changes, store)
      var found: [Constraint: [Claim]] = [:]
      var order: [Constraint] = []
      func note(_ row: Snapshot, changed: [Slot]?) {
        for constraint in constraints(of: row.id)
        where changed.map({ !$0.allSatisfy { !constraint.slots.contains($0) } }) ?? true {
          let values = constraint.slots.map { row.values[$0] }
          if values.contains(.null) { continue }
          if found[constraint] == nil { order.append(constraint) }
          found[constraint, default: []].append(Claim(row: row, values: values))
        }
      }
      guard store.layout.model.entities.contains(where: { !$0.uniquenessConstraints.isEmpty }) else { return }
      for row in changes.inserted { note(row, changed: nil) }
      for update in changes.updated { note(update.snapshot, changed: update.changedSlots) }
      claims = order.map { ($0, found[$0] ?? []) }
    }

    /// Whether the save writes no unique values.
    var areEmpty: Bool { claims.isEmpty }

    private func constraints(of id: ManagedObjectID) -> [Constraint] {
      guard let entity = store.layout.model.entity(of: id) else { return [] }
      var result: [Constraint] = []
      var place: ResolvedEntity? = entity
      while let next = place {
        let own = next.uniquenessConstraints.suffix(next.description.uniquenessConstraints.count)
        result += own.map { Constraint(entity: next.index, slots: $0) }
        place = next.parent.map { store.layout.model.entities[$0] }
      }
      return result
    }

    /// The changed rows that release unique values, for a second attempt.
    var passingRows: [Passing] {
      changes.updated.map { ($0.snapshot.id, Set($0.changedSlots)) }.grouped(by: \.0.entitySymbol).compactMap {
        symbol, rows in
        guard let entity = store.layout.model.entity(symbol), let layout = try? store.layout.layout(entity) else {
          return nil
        }
        let unique = Set(entity.uniquenessConstraints.joined()).intersection(
          rows.reduce(into: []) { $0.formUnion($1.1) })
        return Passing(entity: layout, slots: unique, keys: rows.map(\.0.key))
      }
    }

    /// The rows whose values other rows have, in the schema or in the save.
    func conflicts(on connection: PostgreSQLConnection) throws -> [SaveConflict] {
      let gone = Set(changes.deleted.map(\.id))
      var conflicts: [SaveConflict] = []
      var refused: Set<ManagedObjectID> = []
      for (constraint, claims) in claims {
        let entity = store.layout.model.entities[constraint.entity]
        let moved = Set(
          changes.updated.filter { !$0.changedSlots.allSatisfy { !constraint.slots.contains($0) } }.map(\.snapshot.id))
        let names = constraint.slots.map { entity.properties[$0].name }
        var owners: [[Value]: ManagedObjectID] = [:]
        for row in try rows(of: entity, with: claims, constraint.slots, connection)
        where !gone.contains(row.id) && !moved.contains(row.id) {
          owners[constraint.slots.map { row.values[$0] }] = row.id
        }
        for claim in claims where !refused.contains(claim.row.id) {
          if let owner = owners[claim.values], owner != claim.row.id {
            conflicts.append(SaveConflict(claim.row.id, .sameValues(properties: names, as: owner)))
            refused.insert(claim.row.id)
          } else {
            owners[claim.values] = claim.row.id
          }
        }
      }
      return conflicts
    }

    /// The stored rows that have one of the values, found by the first column of the constraint.
    private func rows(
      of entity: ResolvedEntity, with claims: [Claim], _ slots: [Slot], _ connection: PostgreSQLConnection
    ) throws -> [Snapshot] {
      guard let first = slots.first,
        let column = try store.layout.layout(entity).column(of: [entity.properties[first].name])
      else { return [] }
      let reader = try store.reader(entity, includesSubentities: true)
      let restriction = reader.select.entityCondition.map { " AND \($0)" } ?? ""
      let rows = try connection.query(
        "SELECT \(reader.select.columns.joined(separator: ", ")) FROM \(identifier(reader.select.table)) t0 "
          + "WHERE t0.\(identifier(column)) = ANY($1)\(restriction) ORDER BY t0.Z_PK",
        Parameters([.list(claims.map { $0.values[0] })]))
      let collector = RowCollector(store: store.number, expecting: rows.count)
      try reader.collect(rows, 0..<rows.count, into: collector)
      return Array(collector.finish())
    }
  }
#endif
