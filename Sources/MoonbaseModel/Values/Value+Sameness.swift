extension Value {
  /// Whether this is the same value, so that assigning it changes nothing. NaN, which equals nothing, is the same as NaN.
  package func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.list, .list), (.map, .map): Value.haveSameLeaves(self, other, \.isSameScalar)
    default: Pair(self, other).isSameScalar
    }
  }
}

extension Value.Pair {
  fileprivate var isSameScalar: Bool {
    if case .double(let one) = left, case .double(let two) = right { return one == two || one.isNaN && two.isNaN }
    return isEqualScalar
  }
}
