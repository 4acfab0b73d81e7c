import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// The part of a predicate that says what some plain properties are equal to.
///
/// Its values are at least as coarse as the predicate's equality: what an index finds by them is asked the predicate itself.
struct IndexedCondition {
  let entities: Range<EntityIndex>
  private(set) var slots: [Slot] = []
  private(set) var values: [Value] = []

  /// Nil where the predicate does not ask for a value of a plain property.
  ///
  /// `isStoredAsIs` says of a slot whether what a predicate sees of it is what rows hold.
  init?(
    _ predicate: Predicate, entity: ResolvedEntity, entities: Range<EntityIndex>, isStoredAsIs: (Slot) throws -> Bool
  ) throws {
    self.entities = entities
    let conditions = if case .and(let all) = predicate { all } else { [predicate] }
    var found: [Slot: Value] = [:]
    for case .comparison(let comparison) in conditions {
      guard let (slot, value) = Self.equality(comparison, of: entity), found[slot] == nil,
        try isStoredAsIs(slot)
      else { continue }
      found[slot] = value
    }
    guard !found.isEmpty else { return nil }
    slots = found.keys.sorted()
    values = slots.compactMap { found[$0] }
  }

  private static func equality(_ comparison: Predicate.Comparison, of entity: ResolvedEntity) -> (Slot, Value)? {
    guard comparison.operator == .equal, comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(.evaluatedObject, let keys) = comparison.left, keys.count == 1, let slot = entity.slot(keys[0]),
      case .constant(let value) = comparison.right, let key = key(of: value, as: entity.properties[slot])
    else { return nil }
    return (slot, key)
  }

  static func key(of row: Snapshot, slot: Slot, entity: ResolvedEntity) -> Value {
    key(of: row.values[slot], as: entity.properties[slot]) ?? .null
  }

  /// Numbers and dates are compared as doubles here. A destination that is gone counts as none. Nil for what is not compared by its value alone.
  static func key(of value: Value, as property: ResolvedProperty) -> Value? {
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
