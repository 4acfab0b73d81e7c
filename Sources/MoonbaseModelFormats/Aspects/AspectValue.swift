package import MoonbaseModel

/// The value of an aspect.
///
/// Comparison and Lua treat all settings alike by this type: `isSame(as:)` compares, and `tree()`
/// gives the Lua form.
package enum AspectValue: Sendable, Hashable {
  /// A boolean setting.
  case flag(Bool)
  /// A text, such as a name of a class.
  case text(String)
  /// A number, such as a limit.
  case number(Int)
  /// The type of an attribute.
  case type(AttributeType)
  /// The delete rule of a relationship.
  case deleteRule(DeleteRule)
  /// A value of an attribute, such as its default.
  case value(Value)
  /// The allowed values of an attribute.
  case values([Value])
  /// The validation predicates of an attribute.
  case rules([ValidationPredicate])
  /// The attributes of an entity, or the elements of a composite.
  case attributes([AttributeDescription])
  /// The relationships of an entity.
  case relationships([RelationshipDescription])
  /// The fetched properties of an entity.
  case fetchedProperties([FetchedPropertyDescription])
  /// User info.
  case userInfo([String: Value])
  /// Names in order.
  case names([String])
  /// Names whose order is irrelevant.
  case set([String])
  /// The predicate of a fetch request.
  case predicate(Predicate)
  /// The sort keys of a fetch request.
  case sort([SortDescriptor])
  /// The columns of a fetch request.
  case columns([FetchColumn])
  /// The result type of a fetch request.
  case resultType(FetchRequest.ResultType)
  /// The uniqueness constraints of an entity.
  case constraints([[String]])
  /// The fetch indexes of an entity.
  case indexes([FetchIndexDescription])
  /// A fetch request template.
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

  /// A value that is not null.
  static func value(known value: Value?) -> Self? { value.flatMap { $0.isNull ? nil : .value($0) } }

  /// User info that is not empty.
  static func userInfo(known entries: [String: Value]) -> Self? { entries.isEmpty ? nil : .userInfo(entries) }

  /// A list of names that is not empty.
  static func names(known names: [String]) -> Self? { names.isEmpty ? nil : .names(names) }
}
