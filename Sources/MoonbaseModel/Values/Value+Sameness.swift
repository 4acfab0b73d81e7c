extension Value {
  /// Whether this is the same value, so that assigning it changes nothing. NaN, which equals nothing, is the same as NaN.
  package func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.list, .list), (.map, .map): Value.haveSameLeaves(self, other, Value.areSameScalars)
    default: Value.areSameScalars(self, other)
    }
  }

  private static func areSameScalars(_ left: Value, _ right: Value) -> Bool {
    if case .double(let one) = left, case .double(let two) = right { return one == two || one.isNaN && two.isNaN }
    return areEqualScalars(left, right)
  }
}
