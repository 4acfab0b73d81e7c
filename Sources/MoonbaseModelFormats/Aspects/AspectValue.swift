package import MoonbaseModel

/// The value of an aspect.
package enum AspectValue: Sendable, Hashable {
  case flag(Bool)
  case text(String)
  case number(Int)
  case type(AttributeType)
  case deleteRule(DeleteRule)
  case value(Value)
  case values([Value])
  case rules([ValidationPredicate])
  case attributes([AttributeDescription])
  case relationships([RelationshipDescription])
  case fetchedProperties([FetchedPropertyDescription])
  case userInfo([String: Value])
  case names([String])
  /// Names whose order is irrelevant.
  case set([String])
  case predicate(Predicate)
  case sort([SortDescriptor])
  case columns([FetchColumn])
  case resultType(FetchRequest.ResultType)
  case constraints([[String]])
  case indexes([FetchIndexDescription])
  case fetch(FetchRequest)

  /// Whether both values are the same. Unlike `==`, NaN is the same as NaN.
  func isSame(as other: AspectValue) -> Bool {
    switch (self, other) {
    case (.value(let left), .value(let right)): left.isSame(as: right)
    case (.values(let left), .values(let right)): Value.list(left).isSame(as: .list(right))
    case (.userInfo(let left), .userInfo(let right)): Value.map(left).isSame(as: .map(right))
    default: self == other
    }
  }
}

extension AspectValue {
  // Nil for empty values, which are defaults.

  static func value(known value: Value?) -> Self? { value.flatMap { $0.isNull ? nil : .value($0) } }

  static func userInfo(known entries: [String: Value]) -> Self? { entries.isEmpty ? nil : .userInfo(entries) }

  static func names(known names: [String]) -> Self? { names.isEmpty ? nil : .names(names) }
}
