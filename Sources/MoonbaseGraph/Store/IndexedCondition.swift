import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Predicate

/// The part of a predicate that says what some plain properties are equal to, one of them perhaps to any of a list (IN).
///
/// Its values are at least as coarse as the predicate's equality: what an index finds by them is asked the predicate itself.
struct IndexedCondition {
  let entities: Range<EntityIndex>
  private(set) var slots: [Slot] = []
  /// What the slots may hold together: several where one of them is one of a list.
  private(set) var keys: [[Value]] = []

  /// Lists of more are gone through as the objects are.
  private static let greatestCount = 512

  /// Nil where the predicate does not ask for a value of a plain property.
  ///
  /// `isStoredAsIs` says of a slot whether what a predicate sees of it is what rows hold.
  init?(
    _ predicate: Predicate, entity: ResolvedEntity, entities: Range<EntityIndex>, isStoredAsIs: (Slot) throws -> Bool
  ) throws {
    self.entities = entities
    let conditions = if case .and(let all) = predicate { all } else { [predicate] }
    var found: [Slot: [Value]] = [:]
    for case .comparison(let comparison) in conditions {
      guard let (slot, values) = Self.equality(comparison, of: entity), found[slot] == nil,
        // One list is enough: with two there would be as many keys as pairs.
        values.count == 1 || found.values.allSatisfy({ $0.count == 1 }), try isStoredAsIs(slot)
      else { continue }
      found[slot] = values
    }
    guard !found.isEmpty else { return nil }
    slots = found.keys.sorted()
    let count = found.values.reduce(1) { $0 * $1.count }
    keys = (0..<count).map { index in slots.compactMap { found[$0].map { $0.count == 1 ? $0[0] : $0[index] } } }
  }

  /// Makes the condition that slots hold values together; nil where a value is not compared by itself alone.
  init?(entities: Range<EntityIndex>, entity: ResolvedEntity, slots: [Slot], values: [Value]) {
    self.entities = entities
    var keys: [(slot: Slot, key: Value)] = []
    for (slot, value) in zip(slots, values) {
      guard let key = Self.key(of: value, as: entity.property(at: slot)) else { return nil }
      keys.append((slot, key))
    }
    keys.sort { $0.slot < $1.slot }
    (self.slots, self.keys) = (keys.map(\.slot), [keys.map(\.key)])
  }

  private static func equality(_ comparison: Predicate.Comparison, of entity: ResolvedEntity) -> (Slot, [Value])? {
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(.evaluatedObject, let names) = comparison.left, names.count == 1, let slot = entity.slot(names[0]),
      let values = values(comparison)
    else { return nil }
    let keys = values.compactMap { key(of: $0, as: entity.property(at: slot)) }
    return keys.count == values.count ? (slot, Array(Set(keys))) : nil
  }

  /// The constants of which one is asked for.
  private static func values(_ comparison: Predicate.Comparison) -> [Value]? {
    switch (comparison.operator, comparison.right) {
    case (.equal, .constant(let value)): return [value]
    case (.in, .constant(.list(let values))): return values.count <= greatestCount ? values : nil
    case (.in, .aggregate(let elements)) where elements.count <= greatestCount:
      let values = elements.compactMap { if case .constant(let value) = $0 { value } else { nil } }
      return values.count == elements.count ? values : nil
    default: return nil
    }
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
      // It comes before all numbers.
      case .decimal(let decimal) where decimal.isNaN: -.infinity
      default: value.asDouble
      }
    return number.flatMap { $0.isNaN ? nil : $0 }
  }
}
