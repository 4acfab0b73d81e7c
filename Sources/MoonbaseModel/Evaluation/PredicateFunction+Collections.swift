import MoonbasePlatform

extension PredicateFunction {
  /// The value of the function over a collection.
  ///
  /// For example, `sum:` over `{1, 2}` is 3. Null is an empty collection. A value that is no
  /// collection throws `.evaluation`.
  func reduce(_ collection: Value) throws(ModelError) -> Value {
    var reduction = Reduction(self)
    switch collection {
    case .list(let list): for element in list { try reduction.add(element) }
    case .null: break
    default: throw refusal(of: collection)
    }
    return try reduction.value
  }

  /// The value of a function over the inputs of a stored derived attribute. A sum of integers that overflows 64 bits is
  /// a double, which does not fit the attribute.
  package func derive(from values: some Sequence<Value>) throws(ModelError) -> Value {
    var reduction = Reduction(self)
    for value in values { try reduction.add(value) }
    return self == .sum ? try reduction.sum : try reduction.value
  }
}

extension ModelError {
  /// The error for a sum of integers that overflows 64 bits.
  package static func sumTooLarge(of name: String? = nil) -> ModelError {
    ModelError(
      .evaluation,
      message: "the sum of \(name ?? "integers") is more than 64 bits hold: add up decimals or doubles, or fewer values"
    )
  }
}
