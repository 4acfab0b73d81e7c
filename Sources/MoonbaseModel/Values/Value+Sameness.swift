extension Value {
  /// Whether this is the same value, so that assigning it changes nothing. NaN, which equals nothing, is the same as NaN.
  package func isSame(as other: Value) -> Bool {
    if self == other { return true }
    switch (self, other) {
    case (.double(let one), .double(let two)): return one.isNaN && two.isNaN
    case (.list(let one), .list(let two)):
      return one.count == two.count && zip(one, two).allSatisfy { $0.isSame(as: $1) }
    case (.map(let one), .map(let two)):
      return one.count == two.count && one.allSatisfy { key, value in two[key].map(value.isSame) ?? false }
    default: return false
    }
  }
}
