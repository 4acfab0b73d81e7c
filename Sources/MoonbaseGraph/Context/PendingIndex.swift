import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Finds changed objects by values of plain properties, so that to look one up does not go through all changes.
///
/// A table is made at the first question for an entity and properties. An object that comes, changes or goes is noted, and
/// put in its place when the next question is asked.
final class PendingIndex {
  private struct Key: Hashable {
    var entities: Range<Int>
    var slots: [Int]
  }

  private struct Table {
    var members: [[Value]: [ManagedObject]] = [:]
    var places: [ObjectIdentifier: [Value]] = [:]
  }

  private var tables: [Key: Table] = [:]
  private var noted: Set<ManagedObject> = []
  /// How many objects were put in their places so far. Tests count the work by it.
  private(set) var placings = 0

  func note(_ object: ManagedObject) { noted.insert(object) }

  /// The changed objects that satisfy a condition, in the order in which they became changed.
  func objects(_ condition: IndexedCondition, in context: ManagedObjectContext) throws -> [ManagedObject] {
    let key = Key(entities: condition.entities, slots: condition.slots)
    do {
      // What reads values may run hooks, and these may change objects.
      while let object = noted.popFirst() { for key in tables.keys { try place(object, key) } }
      if tables[key] == nil {
        tables[key] = Table()
        for object in context.changedObjects { try place(object, key) }
      }
    } catch {
      tables = [:]
      throw error
    }
    return (tables[key]?.members[condition.values] ?? []).sorted { $0.changePosition < $1.changePosition }
  }

  private func place(_ object: ManagedObject, _ key: Key) throws {
    placings += 1
    let belongs = object.state.contains(.listed) && !object.isDeleted && key.entities.contains(object.entity.index)
    let new = try belongs ? key.slots.map { try IndexedCondition.key(of: object, $0) } : nil
    let old = tables[key]?.places[ObjectIdentifier(object)]
    guard old != new else { return }
    if let old {
      tables[key]?.members[old]?.removeAll { $0 === object }
      if tables[key]?.members[old]?.isEmpty == true { tables[key]?.members[old] = nil }
    }
    if let new { tables[key]?.members[new, default: []].append(object) }
    tables[key]?.places[ObjectIdentifier(object)] = new
  }
}

/// The part of a predicate that says what some plain properties are equal to.
///
/// Its values are at least as coarse as the predicate's equality: what an index finds by them is asked the predicate itself.
struct IndexedCondition {
  let entities: Range<Int>
  private(set) var slots: [Int] = []
  private(set) var values: [Value] = []

  /// Nil where the predicate does not ask for a value of a plain property.
  init?(_ predicate: Predicate, _ entity: ResolvedEntity, _ entities: Range<Int>, in context: ManagedObjectContext)
    throws
  {
    self.entities = entities
    let conditions = if case .and(let all) = predicate { all } else { [predicate] }
    var found: [Int: Value] = [:]
    for case .comparison(let comparison) in conditions {
      guard let (slot, value) = Self.equality(comparison, entity), found[slot] == nil,
        try entities.allSatisfy({ try context.behavior(of: context.model.entities[$0]).isStoredAsIs(slot) })
      else { continue }
      found[slot] = value
    }
    guard !found.isEmpty else { return nil }
    slots = found.keys.sorted()
    values = slots.compactMap { found[$0] }
  }

  private static func equality(_ comparison: Predicate.Comparison, _ entity: ResolvedEntity) -> (Int, Value)? {
    guard comparison.operator == .equal, comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(.evaluatedObject, let keys) = comparison.left, keys.count == 1, let slot = entity.slot(keys[0]),
      case .constant(let value) = comparison.right, let key = key(of: value, entity.properties[slot])
    else { return nil }
    return (slot, key)
  }

  static func key(of object: ManagedObject, _ slot: Int) throws -> Value {
    key(of: try object.stored(slot), object.entity.properties[slot]) ?? .null
  }

  static func key(of row: Snapshot, _ slot: Int, _ entity: ResolvedEntity) -> Value {
    key(of: row.values[slot], entity.properties[slot]) ?? .null
  }

  /// Numbers and dates are compared as doubles here. A destination that is gone counts as none. Nil for what is not compared by its value alone.
  private static func key(of value: Value, _ property: ResolvedProperty) -> Value? {
    switch (property.attributeType, value) {
    case (.some, .null), (nil, .objectID), (.string, .string), (.uuid, .uuid), (.binaryData, .data): value
    case (.float, _): number(value).map { .double(Double(Float($0))) }
    case (.boolean, _), (.integer16, _), (.integer32, _), (.integer64, _), (.double, _), (.decimal, _), (.date, _):
      number(value).map(Value.double)
    default: nil
    }
  }

  private static func number(_ value: Value) -> Double? {
    let number: Double? =
      switch value {
      case .bool(let flag): flag ? 1 : 0
      case .date(let date): date.timeIntervalSinceReferenceDate
      default: value.asDouble
      }
    return number.flatMap { $0.isNaN ? nil : $0 }
  }
}

extension EntityBehavior {
  /// Whether what a predicate sees of a property is what is stored.
  fileprivate func isStoredAsIs(_ slot: Int) -> Bool {
    if case .toOne = kinds[slot] { return accessors[slot] == nil }
    return simpleSlots.contains(slot)
  }
}
