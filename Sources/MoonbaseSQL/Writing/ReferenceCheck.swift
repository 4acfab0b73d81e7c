package import MoonbaseGraph
import MoonbaseModel

/// Checks that a save leaves no dangling references. Called within its transaction, when all rows are written.
///
/// Several contexts may save at the same time, each without the changes of the other: a context deletes a department
/// while another adds an employee to it. The check finds these cases by queries over the keys that the save touched, so
/// its cost depends on the save and not on the size of the store. Conflicts are values, which the merge policy
/// resolves.
package struct ReferenceCheck {
  /// The rows and links that the save writes.
  private let changes: StoreChanges
  /// The tables and columns.
  private let layout: StoreLayout
  /// The engine's dialect.
  private let dialect: Dialect
  /// The queries.
  private let statements: ReferenceStatements
  /// Runs a statement and returns its integers, row by row.
  private let ask: (_ sql: String, _ keys: Keys) throws -> [[Int64]]

  /// The single parameter of a statement. An engine binds a list as one parameter.
  package enum Keys {
    case one(Int64)
    case list([Int64])
  }

  /// Makes a check of a save's changes. `ask` runs on the connection of the transaction.
  package init(
    _ changes: StoreChanges, layout: StoreLayout, dialect: Dialect,
    ask: @escaping (_ sql: String, _ keys: Keys) throws -> [[Int64]]
  ) {
    (self.changes, self.layout, self.dialect, self.ask) = (changes, layout, dialect, ask)
    statements = ReferenceStatements(dialect)
  }

  /// The conflicts with other contexts: a destination that they deleted, or a new reference to an object that is
  /// deleted here. At most `StoreChanges.greatestConflicts` of each kind. Throws the errors of the engine.
  package func conflicts() throws -> [SaveConflict] {
    let missing = try missingDestinations()
    return try changes.conflicts(missing: missing, in: layout.model) + unreached() + unpaired()
  }

  // MARK: Destinations without a row

  /// The destinations of new references whose rows do not exist, grouped by table into one query each.
  private func missingDestinations() throws -> Set<ManagedObjectID> {
    let new = NewDestinations(changes, in: layout.model).ids
    var missing: Set<ManagedObjectID> = []
    for (root, ids) in Dictionary(grouping: new, by: { layout.model.entity(of: $0)?.root ?? -1 }) where root >= 0 {
      let table = try layout.layout(layout.model.entities[root]).table
      let rows = try rows(statements.missing(from: table), ids: ids)
      let keys = Set(rows.map { $0[0] })
      if !keys.isEmpty { missing.formUnion(ids.filter { keys.contains($0.key) }) }
    }
    return missing
  }

  /// The rows of a query over the keys of objects, at most `StoreChanges.greatestConflicts`.
  private func rows(_ sql: String, ids: [ManagedObjectID]) throws -> [[Int64]] {
    try ask("\(sql) LIMIT \(StoreChanges.greatestConflicts)", .list(ids.map(\.key)))
  }

  // MARK: Rows that delete rules did not reach

  /// The destinations that another context linked to objects deleted here, for relationships with a delete rule.
  private func unreached() throws -> [SaveConflict] {
    var conflicts: [SaveConflict] = []
    for (symbol, ids) in Dictionary(grouping: changes.deleted.map(\.id), by: \.entitySymbol) {
      guard let entity = layout.model.entity(symbol) else { continue }
      for slot in entity.ruledSlots { conflicts += try unreached(ids, slot: slot, of: entity) }
    }
    return conflicts
  }

  /// The conflicts of one relationship: rows whose column still has the key of a deleted object.
  private func unreached(_ ids: [ManagedObjectID], slot: Slot, of entity: ResolvedEntity) throws -> [SaveConflict] {
    guard case .foreignKey(let toOne, let destination) = try layout.layout(entity).slots[slot] else { return [] }
    let declared = layout.model.entities[destination]
    let table = try layout.layout(declared).table
    let rows = try rows(statements.rows(of: table, leadingBy: toOne.column), ids: ids)
    return rows.compactMap { row in
      guard let id = ids.first(where: { $0.key == row[0] }) else { return nil }
      return .destinationWasAdded(
        object(row[1], entity: row[2], declared: declared, store: id.storeNumber), to: id, slot: slot,
        in: layout.model)
    }
  }

  // MARK: One-to-one relationships that lead back to where nothing leads from

  /// Both directions of one-to-one relationships that the save changed must agree.
  private func unpaired() throws -> [SaveConflict] {
    try OneToOneEnds(changes, in: layout.model).ids.flatMap { try unpaired($1, side: $0) }
  }

  /// The conflicts of one relationship: rows that refer to a changed object without a reference back, and the reverse.
  private func unpaired(_ ids: [ManagedObjectID], side: OneToOneEnds.Side) throws -> [SaveConflict] {
    let own = try layout.layout(layout.model.entities[side.entity])
    let declared = layout.model.entities[side.destination]
    let other = try layout.layout(declared)
    guard case .toOne(let toOne) = own.slots[side.slot], case .toOne(let back) = other.slots[side.inverse] else {
      return []
    }
    let rows = try rows(
      statements.rows(of: other.table, leadingBy: back.column, butNotBackFrom: own.table, by: toOne.column),
      ids: ids)
    let leading: [SaveConflict] = rows.compactMap { row in
      guard let id = ids.first(where: { $0.key == row[0] }) else { return nil }
      return .destinationIsRemoved(
        id, from: object(row[1], entity: row[2], declared: declared, store: id.storeNumber), slot: side.inverse,
        in: layout.model)
    }
    let elsewhere = try self.rows(
      statements.destinations(
        by: toOne.column, of: own.table, in: other.table, notLeadingBackBy: back.column), ids: ids)
    return leading
      + elsewhere.compactMap { row in
        guard let id = ids.first(where: { $0.key == row[0] }) else { return nil }
        return .destinationIsLinkedElsewhere(
          object(row[1], entity: row[2], declared: declared, store: id.storeNumber), from: id, slot: side.slot,
          in: layout.model)
      }
  }

  /// The ID of a row. A number of an unknown entity counts as the declared entity.
  private func object(
    _ key: Int64, entity: Int64, declared: ResolvedEntity, store: UInt32
  ) -> ManagedObjectID {
    let symbol = layout.entity(number: entity)?.entity.symbol ?? declared.symbol
    return ManagedObjectID(store: StoreNumber(rawValue: store), entity: symbol, key: key)
  }

  /// The conflicts with links that another context added to deleted objects, unknown to a cascade or deny rule. Called
  /// while the pairs still exist.
  package func unreachedPairs() throws -> [SaveConflict] {
    let gone = Set(changes.deleted.lazy.map(\.id))
    var conflicts: [SaveConflict] = []
    for deletion in changes.deleted {
      for slot in layout.model.entity(of: deletion.id)?.ruledPairSlots ?? [] {
        let unseen = try pairs(of: deletion.id, slot: slot) {
          !gone.contains($0) && deletion.released[slot]?.contains($0) != true
        }
        conflicts += unseen.map { .destinationWasAdded($0, to: deletion.id, slot: slot, in: layout.model) }
        if conflicts.count >= StoreChanges.greatestConflicts { return conflicts }
      }
    }
    return conflicts
  }

  /// The destinations of a deleted object in a pair table that fulfil a condition, at most
  /// `StoreChanges.greatestConflicts`.
  private func pairs(of id: ManagedObjectID, slot: Slot, where isWanted: (ManagedObjectID) -> Bool) throws
    -> [ManagedObjectID]
  {
    guard let query = try DestinationQuery(slot, of: layout.layout(of: id), layout: layout, dialect: dialect) else {
      return []
    }
    let rows = try ask(query.select(keyCount: 1), .one(id.key))
    let others = rows.lazy.map { row in
      ManagedObjectID(
        store: StoreNumber(rawValue: id.storeNumber),
        entity: layout.entity(number: row[1])?.entity.symbol ?? query.entity.symbol, key: row[0])
    }
    return Array(others.filter(isWanted).prefix(StoreChanges.greatestConflicts))
  }
}
