import MoonbaseModel

/// Finds rows of an in-memory store by the values of plain properties, without scanning all rows.
///
/// The index builds a table on the first query for a set of entities and properties; saves keep the table up to date.
struct InMemoryIndex {
  /// The entities and slots of a table.
  private struct Key: Hashable {
    var entities: Range<EntityIndex>
    var slots: [Slot]
  }

  /// The greatest number of tables, as each costs as much memory as the rows. A further table replaces the least
  /// recently used one.
  static let greatestCount = 8

  private var tables: [Key: [[Value]: Set<ManagedObjectID>]] = [:]
  /// The keys of the tables, the most recently used last.
  private var uses: [Key] = []
  /// The number of rows placed and found so far. Tests measure the work by it.
  private(set) var work = 0

  /// Whether the index has no tables yet.
  var isEmpty: Bool { tables.isEmpty }

  /// The IDs of candidates for a condition. `rows` returns all rows of the condition's entities.
  mutating func ids(
    _ condition: IndexedCondition, in model: ResolvedModel, rows: () -> [Snapshot]
  ) -> Set<ManagedObjectID> {
    let key = Key(entities: condition.entities, slots: condition.slots)
    if uses.last != key {
      uses.removeAll { $0 == key }
      uses.append(key)
    }
    if tables[key] == nil {
      if uses.count > Self.greatestCount { tables[uses.removeFirst()] = nil }
      tables[key] = [:]
      for row in rows() {
        if let entity = model.entity(of: row.id) { place(row, of: entity, under: key) }
      }
    }
    var found: Set<ManagedObjectID> = []
    for values in condition.keys { found.formUnion(tables[key]?[values] ?? []) }
    work += found.count
    return found
  }

  /// Updates the tables for a row that was inserted (`old` is nil), changed or deleted (`new` is nil).
  mutating func move(from old: Snapshot?, to new: Snapshot?, of entity: ResolvedEntity) {
    // A copy of the keys: iterating over the dictionary while a table changes would copy the table.
    for key in Array(tables.keys) where key.entities.contains(entity.index) {
      if let old { remove(old, of: entity, under: key) }
      if let new { place(new, of: entity, under: key) }
    }
  }

  private mutating func place(_ row: Snapshot, of entity: ResolvedEntity, under key: Key) {
    work += 1
    tables[key]?[Self.values(of: row, entity: entity, under: key), default: []].insert(row.id)
  }

  private mutating func remove(_ row: Snapshot, of entity: ResolvedEntity, under key: Key) {
    let values = Self.values(of: row, entity: entity, under: key)
    tables[key]?[values]?.remove(row.id)
    if tables[key]?[values]?.isEmpty == true { tables[key]?[values] = nil }
  }

  /// The values of a row in the slots of a table.
  private static func values(of row: Snapshot, entity: ResolvedEntity, under key: Key) -> [Value] {
    key.slots.map { IndexedCondition.key(of: row, slot: $0, entity: entity) }
  }
}
