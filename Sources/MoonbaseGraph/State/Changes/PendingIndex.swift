import MoonbaseModel
import MoonbasePlatform

/// Finds changed objects by the values of properties, without a search through all changes.
///
/// Supports plain properties, and properties computed from the object's own values. A table is made at the first lookup
/// for an entity and properties. Added, changed and removed objects are recorded, and the tables are updated at the
/// next lookup.
final class PendingIndex {
  /// The entities and slots that a table covers.
  private struct Key: Hashable {
    var entities: Range<EntityIndex>
    var slots: [Slot]
  }

  /// A class, because a structure would be copied while the dictionary of tables is accessed.
  private final class Table {
    var members: [[Value]: Members] = [:]
    var places: [ObjectIdentifier: [Value]] = [:]
  }

  /// The objects with equal values; usually a single object.
  private enum Members {
    case one(ManagedObject)
    case several(Set<ManagedObject>)

    var objects: [ManagedObject] {
      switch self {
      case .one(let object): [object]
      case .several(let objects): Array(objects)
      }
    }

    mutating func insert(_ object: ManagedObject) {
      switch self {
      case .one(let known): self = .several([known, object])
      case .several(var objects):
        self = .several([])  // avoids a copy of the set
        objects.insert(object)
        self = .several(objects)
      }
    }

    /// Removes an object; returns false if no object is left.
    mutating func remove(_ object: ManagedObject) -> Bool {
      guard case .several(var objects) = self else { return false }
      self = .several([])
      objects.remove(object)
      self = .several(objects)
      return !objects.isEmpty
    }
  }

  /// The limit of tables, since each refers to all changed objects; beyond the limit all tables are dropped.
  private static let greatestCount = 32

  private var tables: [Key: Table] = [:]
  private var noted = NotedObjects()
  /// The number of updates of table entries, for tests that count work.
  private(set) var placings = 0

  /// The number of objects recorded for the next lookup.
  var notedCount: Int { noted.count }

  /// Records that an object was added or changed.
  func note(_ object: ManagedObject) { noted.insert(object) }

  /// Records that an object is no longer changed; needed only if a table contains it.
  func leave(_ object: ManagedObject) {
    let id = ObjectIdentifier(object)
    if tables.values.contains(where: { $0.places[id] != nil }) { noted.insert(object) } else { noted.remove(object) }
  }

  /// The changed objects that satisfy a condition, in the order of their first change.
  func objects(_ condition: IndexedCondition, in context: ManagedObjectContext) throws -> [ManagedObject] {
    let key = Key(entities: condition.entities, slots: condition.slots)
    do {
      // Reading values may run hooks, which may change objects.
      while let object = noted.popLast() { for key in tables.keys { try place(object, under: key) } }
      if tables[key] == nil {
        if tables.count == Self.greatestCount { tables = [:] }
        tables[key] = Table()
        for object in context.changedObjects { try place(object, under: key) }
      }
    } catch {
      tables = [:]
      throw error
    }
    var found: [ManagedObject] = []
    for values in condition.keys { found += tables[key]?.members[values]?.objects ?? [] }
    try HostWork.charge(found.count &+ condition.keys.count &- 1)
    if found.count <= 1 { return found }
    return found.sorted { $0.changePosition < $1.changePosition }
  }

  /// Updates an object's entry in a table.
  private func place(_ object: ManagedObject, under key: Key) throws {
    try HostWork.charge()
    placings += 1
    let belongs = object.state.contains(.listed) && !object.isDeleted && key.entities.contains(object.entity.index)
    let new = try belongs ? key.slots.map { try Self.key(of: object, slot: $0) } : nil
    guard let table = tables[key] else { return }
    let old = table.places[ObjectIdentifier(object)]
    guard old != new else { return }
    if let old, table.members[old]?.remove(object) == false { table.members[old] = nil }
    if let new { table.members[new]?.insert(object) ?? (table.members[new] = .one(object)) }
    table.places[ObjectIdentifier(object)] = new
  }

  private static func key(of object: ManagedObject, slot: Slot) throws -> Value {
    IndexedCondition.key(of: try object.read(slot), as: object.entity.property(at: slot)) ?? .null
  }
}

/// An unordered set of objects with removal of any element in constant time.
///
/// Unlike `Set`, it finds the last element without a scan when the beginning of its storage is empty.
private struct NotedObjects {
  private var objects: [ManagedObject] = []
  private var places: [ObjectIdentifier: Int] = [:]

  var count: Int { objects.count }

  mutating func insert(_ object: ManagedObject) {
    guard places[ObjectIdentifier(object)] == nil else { return }
    places[ObjectIdentifier(object)] = objects.count
    objects.append(object)
  }

  mutating func remove(_ object: ManagedObject) {
    guard let place = places.removeValue(forKey: ObjectIdentifier(object)) else { return }
    objects.swapAt(place, objects.count - 1)
    objects.removeLast()
    if place < objects.count { places[ObjectIdentifier(objects[place])] = place }
  }

  mutating func popLast() -> ManagedObject? {
    let object = objects.popLast()
    if let object { places[ObjectIdentifier(object)] = nil }
    return object
  }
}
