import MoonbaseModel

/// Finds the rows of an in-memory store by values of plain properties, so that to look one up does not go through all rows.
///
/// A table is made at the first question for some entities and properties; saves keep it up to date.
struct InMemoryIndex {
  private struct Key: Hashable {
    var entities: Range<EntityIndex>
    var slots: [Slot]
  }

  /// Each table costs as much as the rows; who asks for more kinds of values has the one made anew that was not asked for longest.
  static let greatestCount = 8

  private var tables: [Key: [[Value]: Set<ManagedObjectID>]] = [:]
  /// Their keys, the one asked for last at the end.
  private var uses: [Key] = []
  /// How many rows were put in their places and found so far. Tests count the work by it.
  private(set) var work = 0

  /// Whether nobody has asked for anything yet.
  var isEmpty: Bool { tables.isEmpty }

  /// The rows among which those are that satisfy a condition. `rows` gives all of its entities.
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

  /// A row came, changed or went.
  mutating func move(from old: Snapshot?, to new: Snapshot?, of entity: ResolvedEntity) {
    // The keys by themselves: changing a table copies it while the tables are being looked at.
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

  private static func values(of row: Snapshot, entity: ResolvedEntity, under key: Key) -> [Value] {
    key.slots.map { IndexedCondition.key(of: row, slot: $0, entity: entity) }
  }
}
