package import MoonbaseModel
import MoonbasePlatform

package import enum MoonbaseModel.Predicate

/// The part of a predicate that compares plain properties for equality, one of them possibly with a list (IN).
///
/// The values are at least as coarse as the predicate's equality, so rows found by an index may not satisfy the
/// predicate: callers evaluate the predicate for each.
package struct IndexedCondition {
  package let entities: Range<EntityIndex>
  package private(set) var slots: [Slot] = []
  /// The combinations of values that satisfy the condition: several if one slot is compared with a list.
  package private(set) var keys: [[Value]] = []

  /// The greatest list that is looked up in an index; for longer lists all objects are evaluated.
  private static let greatestCount = 512

  /// Returns nil if the predicate compares no plain property for equality.
  ///
  /// `isStoredAsIs` returns whether a predicate sees the same value of a slot that rows hold.
  package init?(
    _ predicate: Predicate, entity: ResolvedEntity, entities: Range<EntityIndex>, isStoredAsIs: (Slot) throws -> Bool
  ) throws {
    self.entities = entities
    let conditions = if case .and(let all) = predicate { all } else { [predicate] }
    var found: [Slot: [Value]] = [:]
    for case .comparison(let comparison) in conditions {
      guard let (slot, values) = Self.equality(comparison, of: entity), found[slot] == nil,
        // At most one list: two lists would need a key for each pair.
        values.count == 1 || found.values.allSatisfy({ $0.count == 1 }), try isStoredAsIs(slot)
      else { continue }
      found[slot] = values
    }
    guard !found.isEmpty else { return nil }
    slots = found.keys.sorted()
    let count = found.values.reduce(1) { $0 * $1.count }
    keys = (0..<count).map { index in slots.compactMap { found[$0].map { $0.count == 1 ? $0[0] : $0[index] } } }
  }

  /// Makes the condition that slots together hold `values`; returns nil if equality of a value depends on more than the
  /// value.
  package init?(entities: Range<EntityIndex>, entity: ResolvedEntity, slots: [Slot], values: [Value]) {
    self.entities = entities
    var keys: [(slot: Slot, key: Value)] = []
    for (slot, value) in zip(slots, values) {
      guard let key = Self.key(of: value, as: entity.property(at: slot)) else { return nil }
      keys.append((slot, key))
    }
    keys.sort { $0.slot < $1.slot }
    (self.slots, self.keys) = (keys.map(\.slot), [keys.map(\.key)])
  }

  /// The slot and values of a comparison for equality; nil for other comparisons.
  private static func equality(_ comparison: Predicate.Comparison, of entity: ResolvedEntity) -> (Slot, [Value])? {
    guard comparison.modifier == .direct, comparison.options.isEmpty,
      case .keyPath(.evaluatedObject, let names) = comparison.left, names.count == 1, let slot = entity.slot(names[0]),
      let values = values(comparison)
    else { return nil }
    let keys = values.compactMap { key(of: $0, as: entity.property(at: slot)) }
    return keys.count == values.count ? (slot, Array(Set(keys))) : nil
  }

  /// The constants that a comparison accepts.
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

  /// The comparable form of a row's value.
  static func key(of row: Snapshot, slot: Slot, entity: ResolvedEntity) -> Value {
    key(of: row.values[slot], as: entity.properties[slot]) ?? .null
  }

  /// The form in which values are compared here: numbers and dates as doubles, a destination whose row is gone as null.
  /// Nil if a value cannot be compared by itself.
  package static func key(of value: Value, as property: ResolvedProperty) -> Value? {
    switch (property.attributeType, value) {
    case (.some, .null), (nil, .objectID), (.string, .string), (.uuid, .uuid), (.binaryData, .data): value
    case (.float, _): number(value).map { .double(Double(Float($0))) }
    case (.boolean, _), (.integer16, _), (.integer32, _), (.integer64, _), (.double, _), (.decimal, _), (.date, _):
      number(value).map(Value.double)
    default: nil
    }
  }

  /// A number, truth value or date as a double; nil for other values and for not-a-number.
  private static func number(_ value: Value) -> Double? {
    let number: Double? =
      switch value {
      case .bool(let flag): flag ? 1 : 0
      case .date(let date): date.timeIntervalSinceReferenceDate
      // Not-a-number sorts before all numbers.
      case .decimal(let decimal) where decimal.isNaN: -.infinity
      default: value.asDouble
      }
    return number.flatMap { $0.isNaN ? nil : $0 }
  }
}
