/// What a missing value means in a comparison.
package enum NullRules: Sendable {
  /// A fetch: comparing a missing attribute with a value is neither true nor false, so that NOT does not make it a match;
  /// `= NULL` and `!= NULL` ask for absence; relationships compare with NULL as plain values.
  case fetch
  /// `evaluate(with:)`: nil equals nil and nothing else, and is in no order.
  case foundation
}

/// SQL's three truth values.
package enum Truth: Int8, Sendable {
  case no, yes, unknown

  @inline(__always)
  init(_ value: Bool) { self = value ? .yes : .no }

  @inline(__always)
  var negated: Truth {
    switch self {
    case .no: .yes
    case .yes: .no
    case .unknown: .unknown
    }
  }
}
