import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQLite

/// No save leaves a relationship that points at nothing: asked within its transaction, when all is written.
struct ReferenceCheck {
  let changes: StoreChanges
  let layout: StoreLayout
  let connection: Connection

  /// Throws the conflicts with what other contexts deleted, or pointed at what is deleted here.
  func run() throws {
    let missing = try missingDestinations()
    try GraphError.throwConflicts(changes.conflicts(missing: missing, in: layout.model) + unreached())
  }

  // MARK: Destinations without a row

  private func missingDestinations() throws -> Set<ManagedObjectID> {
    let new = NewDestinations(changes, in: layout.model).ids
    var missing: Set<ManagedObjectID> = []
    for (root, ids) in Dictionary(grouping: new, by: { layout.model.entity(of: $0)?.root ?? -1 }) where root >= 0 {
      let table = identifier(try layout.layout(layout.model.entities[root]).table)
      let rows = try rows(
        "SELECT value FROM json_each(?) WHERE NOT EXISTS (SELECT 1 FROM \(table) WHERE Z_PK = value)", ids: ids)
      let keys = Set(rows.map { $0[0] })
      if !keys.isEmpty { missing.formUnion(ids.filter { keys.contains($0.key) }) }
    }
    return missing
  }

  /// What a query over the keys of objects finds, a hundred rows at most.
  private func rows(_ sql: String, ids: [ManagedObjectID]) throws -> [[Int64]] {
    let statement = try connection.statement("\(sql) LIMIT \(StoreChanges.greatestConflicts)")
    SQLValue.bind(.list(ids.map(Value.objectID)), at: 1, to: statement)
    defer { statement.reset() }
    var result: [[Int64]] = []
    while try statement.step() { result.append((0..<statement.columnCount).map { statement.integer($0) }) }
    return result
  }

  // MARK: Rows that delete rules did not reach

  private func unreached() throws -> [GraphError] {
    var conflicts: [GraphError] = []
    for (symbol, ids) in Dictionary(grouping: changes.deleted.map(\.id), by: \.entitySymbol) {
      guard let entity = layout.model.entity(symbol) else { continue }
      for slot in entity.ruledSlots { conflicts += try unreached(ids, slot: slot, of: entity) }
    }
    return conflicts
  }

  private func unreached(_ ids: [ManagedObjectID], slot: Slot, of entity: ResolvedEntity) throws -> [GraphError] {
    guard case .foreignKey(let toOne, let destination) = try layout.layout(entity).slots[slot] else { return [] }
    let declared = layout.model.entities[destination]
    let column = identifier(toOne.column)
    let rows = try rows(
      "SELECT \(column), Z_PK, Z_ENT FROM \(identifier(try layout.layout(declared).table)) "
        + "WHERE \(column) IN (SELECT value FROM json_each(?))", ids: ids)
    return rows.compactMap { row in
      guard let id = ids.first(where: { $0.key == row[0] }) else { return nil }
      let symbol = layout.entity(number: row[2])?.entity.symbol ?? declared.symbol
      let other = ManagedObjectID(store: StoreNumber(rawValue: id.storeNumber), entity: symbol, key: row[1])
      return .unreached(other, from: id, slot: slot, in: layout.model)
    }
  }
}
