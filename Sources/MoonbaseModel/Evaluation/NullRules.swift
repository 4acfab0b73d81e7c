import MoonbasePlatform

/// What a missing value means in a comparison.
package enum NullRules: Sendable {
  /// A fetch: comparing a missing attribute with a value is neither true nor false, so that NOT does not make it a match;
  /// `= NULL` and `!= NULL` ask for absence; relationships compare with NULL as plain values.
  case fetch
  /// `evaluate(with:)`: nil equals nil and nothing else, and is in no order.
  case foundation
}

/// SQL's three truth values.
@usableFromInline
package enum Truth: Int8, Sendable {
  case no, yes, unknown

  /// Looking at so many conditions is a part of looking at an object.
  private static let wide = 32

  /// Counts what looking at more conditions costs.
  @usableFromInline
  static func charge(_ parts: [ConditionNode]) throws {
    if parts.count > wide { try HostWork.charge(parts.count) }
  }

  @inline(__always)
  init(_ value: Bool) { self = value ? .yes : .no }

  /// What AND makes of conditions: the first that is false decides.
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

  /// What OR makes of conditions: the first that is true decides.
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

  @inlinable
  var negated: Truth {
    switch self {
    case .no: .yes
    case .yes: .no
    case .unknown: .unknown
    }
  }
}
