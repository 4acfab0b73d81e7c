import MoonbasePlatform

extension PredicateFunction {
  /// The value of a function over a collection.
  func reduce(_ collection: Value) throws(ModelError) -> Value {
    var reduction = Reduction(self)
    switch collection {
    case .list(let list): for element in list { try reduction.add(element) }
    case .null: break
    default: throw refusal(of: collection)
    }
    return try reduction.value
  }
}
