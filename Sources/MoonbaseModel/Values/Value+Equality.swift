extension Value {
  /// Whether a value is `.null`. `nil` is no literal of `Value`, so without this operator Swift would compare an
  /// optional, which is never nil.
  public static func == (value: Value, _: _OptionalNilComparisonType) -> Bool { value.isNull }
  /// Whether a value is not `.null`.
  public static func != (value: Value, _: _OptionalNilComparisonType) -> Bool { !value.isNull }
}

extension Value {
  /// Whether both values have the same case and are equal; text is compared by code points. Lists and maps of any depth
  /// are compared without recursion.
  public static func == (left: Value, right: Value) -> Bool {
    switch (left, right) {
    case (.list, .list), (.map, .map): haveSameLeaves(left, right, areEqualScalars)
    default: areEqualScalars(left, right)
    }
  }

  /// Hashes the case and its content; only the outer levels of nested lists and maps.
  public func hash(into hasher: inout Hasher) { hash(into: &hasher, levels: 8) }

  /// Hashes at most `levels` levels of lists and maps.
  private func hash(into hasher: inout Hasher, levels: Int) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .int(let value): hasher.combine(value)
    case .double(let value): hasher.combine(value)
    case .decimal(let value): hasher.combine(value)
    case .string(let value): hasher.combine(ExactText(value))
    case .date(let value): hasher.combine(value)
    case .data(let value): hasher.combine(value)
    case .uuid(let value): hasher.combine(value)
    case .uri(let value): hasher.combine(value)
    case .objectID(let value): hasher.combine(value)
    case .object(let value): hasher.combine(value)
    case .list(let list):
      hasher.combine(list.count)
      if levels > 0 { for element in list { element.hash(into: &hasher, levels: levels - 1) } }
    case .map(let map):
      hasher.combine(map.count)
      // A map is unordered, so the hashes of its entries are added.
      var sum = 0
      for (key, value) in map where levels > 0 {
        var entry = Hasher()
        entry.combine(ExactText(key))
        value.hash(into: &entry, levels: levels - 1)
        sum &+= entry.finalize()
      }
      hasher.combine(sum)
    }
  }

  // MARK: Two trees in step

  /// Whether two scalars are equal; false for lists and maps.
  @inline(__always)
  static func areEqualScalars(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.decimal(let left), .decimal(let right)): left == right
    case (.string(let left), .string(let right)): ExactText.areSame(left, right)
    case (.date(let left), .date(let right)): left == right
    case (.data(let left), .data(let right)): left == right
    case (.uuid(let left), .uuid(let right)): left == right
    case (.uri(let left), .uri(let right)): left == right
    case (.objectID(let left), .objectID(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    default: false
    }
  }

  /// Whether two trees have the same structure of lists and maps, with leaves that satisfy the test.
  static func haveSameLeaves(_ left: Value, _ right: Value, _ areSame: (Value, Value) -> Bool) -> Bool {
    var pending = [(left, right)]
    while let (left, right) = pending.popLast() {
      switch (left, right) {
      case (.list(let left), .list(let right)):
        guard left.count == right.count else { return false }
        pending += zip(left, right)
      case (.map(let left), .map(let right)):
        guard left.count == right.count else { return false }
        for (key, one) in left {
          guard let two = right.value(exactly: key) else { return false }
          pending.append((one, two))
        }
      default: if !areSame(left, right) { return false }
      }
    }
    return true
  }
}

extension Value {
  /// Whether assigning the value would change nothing. Unlike `==`, NaN is the same as NaN.
  package func isSame(as other: Value) -> Bool {
    switch (self, other) {
    case (.list, .list), (.map, .map): Value.haveSameLeaves(self, other, Value.areSameScalars)
    default: Value.areSameScalars(self, other)
    }
  }

  /// Whether two scalars are the same, with NaN equal to itself.
  private static func areSameScalars(_ left: Value, _ right: Value) -> Bool {
    if case .double(let one) = left, case .double(let two) = right { return one == two || one.isNaN && two.isNaN }
    return areEqualScalars(left, right)
  }
}
