import MoonbasePlatform

/// The meaning of missing values in comparisons.
package enum NullRules: Sendable {
  /// The rules of a fetch. Comparing a missing attribute with a value is unknown, so that NOT does not make it a match.
  /// `= NULL` and `!= NULL` test for absence. Relationships compare with NULL as plain values.
  case fetch
  /// The rules of `evaluate(with:)`: nil equals only nil and has no order.
  case foundation
}

/// SQL's three truth values.
@usableFromInline
package enum Truth: Int8, Sendable {
  /// The result of a comparison, where `unknown` is the result with a missing value.
  case no, yes, unknown

  /// The number of conditions whose cost is part of the charge for the subject.
  private static let wide = 32

  /// Charges the cost of further conditions.
  @usableFromInline
  static func charge(_ parts: [ConditionNode]) throws {
    if parts.count > wide { try HostWork.charge(parts.count) }
  }

  /// The truth of a boolean.
  @inline(__always)
  init(_ value: Bool) { self = value ? .yes : .no }

  /// The conjunction of conditions. The first false condition decides.
  @inlinable
  static func all(_ parts: [ConditionNode], _ truth: (ConditionNode) throws -> Truth) throws -> Truth {
    var result = Truth.yes
    try charge(parts)
    for part in parts {
      let truth = try truth(part)
      if truth == .no { return .no }
      if truth == .unknown { result = .unknown }
    }
    return result
  }

  /// The disjunction of conditions. The first true condition decides.
  @inlinable
  static func any(_ parts: [ConditionNode], _ truth: (ConditionNode) throws -> Truth) throws -> Truth {
    var result = Truth.no
    try charge(parts)
    for part in parts {
      let truth = try truth(part)
      if truth == .yes { return .yes }
      if truth == .unknown { result = .unknown }
    }
    return result
  }

  /// The negation. Unknown stays unknown.
  @inlinable
  var negated: Truth {
    switch self {
    case .no: .yes
    case .yes: .no
    case .unknown: .unknown
    }
  }
}
