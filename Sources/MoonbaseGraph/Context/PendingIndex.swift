import MoonbaseModel
import MoonbasePlatform

/// Finds changed objects by values of plain properties, and of such as are computed from the object's own values, so that to look one up does not go through all changes.
///
/// A table is made at the first question for an entity and properties. An object that comes, changes or goes is noted, and
/// put in its place when the next question is asked.
final class PendingIndex {
  private struct Key: Hashable {
    var entities: Range<EntityIndex>
    var slots: [Slot]
  }

  /// A class, for as a value it would be copied whole while the list of tables is being looked at.
  private final class Table {
    var members: [[Value]: Members] = [:]
    var places: [ObjectIdentifier: [Value]] = [:]
  }

  /// The objects with the same values: mostly there is one.
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
        self = .several([])  // so that the set is not copied
        objects.insert(object)
        self = .several(objects)
      }
    }

    /// Takes an object out; false where none is left.
    mutating func remove(_ object: ManagedObject) -> Bool {
      guard case .several(var objects) = self else { return false }
      self = .several([])
      objects.remove(object)
      self = .several(objects)
      return !objects.isEmpty
    }
  }

  /// Each table keeps something of all changed objects, so that there are few: beyond these all are made anew.
  private static let greatestCount = 32

  private var tables: [Key: Table] = [:]
  private var noted = NotedObjects()
  /// How many objects were put in their places so far. Tests count the work by it.
  private(set) var placings = 0

  /// How many objects it keeps for the next question.
  var notedCount: Int { noted.count }

  func note(_ object: ManagedObject) { noted.insert(object) }

  /// An object is no longer changed: it is kept only where a table has it to be taken out of.
  func leave(_ object: ManagedObject) {
    let id = ObjectIdentifier(object)
    if tables.values.contains(where: { $0.places[id] != nil }) { noted.insert(object) } else { noted.remove(object) }
  }

  /// The changed objects that satisfy a condition, in the order in which they became changed.
  func objects(_ condition: IndexedCondition, in context: ManagedObjectContext) throws -> [ManagedObject] {
    let key = Key(entities: condition.entities, slots: condition.slots)
    do {
      // What reads values may run hooks, and these may change objects.
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

/// Objects in no order, each once. The last one is found and any one taken out without looking at the others, which a set does not
/// do once its beginning is empty.
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
