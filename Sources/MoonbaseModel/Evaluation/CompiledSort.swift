import MoonbasePlatform

/// A compiled sort order.
///
/// The order is total over objects. Objects that are equal in all keys are ordered by ID (`ManagedObjectID.isBefore`),
/// in the direction of the last key, as an index of that key orders its rows. For other subjects the sort is stable.
package struct CompiledSort: Sendable {
  /// A sort key.
  private struct Key: Sendable {
    /// The expression of the key path.
    var expression: CompiledExpression
    /// Whether the order is ascending.
    var ascending: Bool
    /// The comparison of texts.
    var comparator: SortDescriptor.Comparator
  }

  /// The keys, the most significant first.
  private let keys: [Key]
  /// The direction of the order by ID among objects that are equal in all keys.
  private let breaksTiesAscending: Bool
  /// Whether objects that refer to the same object can share a part of a key. Pass a memo to `sorted` then.
  package var hasSharedParts: Bool { keys.contains(where: \.expression.hasSharedParts) }

  /// Compiles sort descriptors over objects of an entity. Throws `.predicateMismatch` for a key that cannot be sorted
  /// by.
  package init(_ descriptors: [SortDescriptor], entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var keys: [Key] = []
    for descriptor in descriptors {
      try descriptor.check(against: entity, in: model)
      let expression = try CompiledExpression(.keyPath(descriptor.keyPath), entity: entity, in: model)
      keys.append(Key(expression: expression, ascending: descriptor.ascending, comparator: descriptor.comparator))
    }
    self.keys = keys
    breaksTiesAscending = descriptors.breakTiesAscending
  }

  /// The subjects in order, with missing values first in ascending keys. Each key is read once per subject.
  ///
  /// Throws the errors of the subject, and `.evaluation` for values without an order. The work is
  /// O(n log n) comparisons.
  package func sorted<Subject: SlottedSubject>(
    _ subjects: [Subject], memo: EvaluationMemo? = nil
  ) throws -> [Subject] where Subject.Related == Subject {
    var rows: [(index: Int, rank: Rank)] = []
    rows.reserveCapacity(subjects.count)
    for (index, subject) in subjects.enumerated() { rows.append((index, try rank(of: subject, memo: memo))) }
    try rows.sort { left, right in
      switch try order(left.rank, right.rank) {
      case .same: left.index < right.index
      case let order: order == .ascending
      }
    }
    return rows.map { subjects[$0.index] }
  }

  /// The sort position of a subject: the values of its sort keys, prepared for comparison.
  package struct Rank {
    /// The prepared values of the keys.
    fileprivate let values: [Value]
    /// The object's ID, which breaks ties; nil for other subjects.
    fileprivate let id: ManagedObjectID?
  }

  /// The order of two ranks.
  ///
  /// A tie is `same` only for equal IDs, or for subjects without an ID.
  package func order(_ left: Rank, _ right: Rank) throws -> ValueOrder {
    try HostWork.charge()
    for (position, key) in keys.enumerated() {
      let order = key.comparator.order(left.values[position], right.values[position])
      if order != .same { return (order == .ascending) == key.ascending ? .ascending : .descending }
    }
    guard let left = left.id, let right = right.id, left != right else { return .same }
    return left.isBefore(right) == breaksTiesAscending ? .ascending : .descending
  }

  /// The rank of a subject.
  ///
  /// Two subjects are compared by their ranks, so that each key is read once.
  package func rank<Subject: SlottedSubject>(
    of subject: Subject, memo: EvaluationMemo?
  ) throws -> Rank where Subject.Related == Subject {
    try HostWork.charge()
    var values: [Value] = []
    for key in keys {
      let value = try key.expression.value(subject, memo: memo)
      try value.checkComparable()
      values.append(key.comparator.prepared(value))
    }
    guard case .objectID(let id) = subject.predicateValue else { return Rank(values: values, id: nil) }
    return Rank(values: values, id: id)
  }
}

extension [SortDescriptor] {
  /// Whether objects that are equal in all keys are ordered by ascending ID. Follows the direction of the first key, so
  /// that an index whose first key ascends can be scanned forwards or backwards, whatever the directions of its other
  /// keys.
  package var breakTiesAscending: Bool { first?.ascending ?? true }
}

extension SortDescriptor {
  /// A value prepared for `order`, so that comparisons need not prepare it again. Throws for a value without an order.
  package func prepared(_ value: Value) throws -> Value {
    try value.checkComparable()
    return comparator.prepared(value)
  }

  /// The order of two prepared values in the direction of the key.
  package func order(_ left: Value, _ right: Value) -> ValueOrder {
    let order = comparator.order(left, right)
    return order == .same || ascending ? order : order == .ascending ? .descending : .ascending
  }
}

extension SortDescriptor.Comparator {
  /// The order of two prepared values.
  func order(_ left: Value, _ right: Value) -> ValueOrder {
    guard case .string(let left) = left, case .string(let right) = right else { return Value.order(left, right) }
    return order(left, right)
  }

  /// The order of two prepared texts.
  package func order(_ left: String, _ right: String) -> ValueOrder {
    switch self {
    case .compare, .caseInsensitiveCompare: Value.order(.string(left), .string(right))
    case .localizedCompare: ValueOrder(left.localizedCompare(right))
    case .localizedCaseInsensitiveCompare: ValueOrder(left.localizedCaseInsensitiveCompare(right))
    case .localizedStandardCompare: ValueOrder(left.localizedStandardCompare(right))
    }
  }

  /// The value after the work that would otherwise be repeated in each comparison.
  func prepared(_ value: Value) -> Value {
    guard self == .caseInsensitiveCompare, case .string(let text) = value else { return value }
    return .string(Predicate.Comparison.Options.caseInsensitive.fold(text))
  }
}

extension ValueOrder {
  /// The order of a result of Foundation.
  fileprivate init(_ result: ComparisonResult) {
    self =
      switch result {
      case .orderedAscending: .ascending
      case .orderedSame: .same
      case .orderedDescending: .descending
      }
  }
}
