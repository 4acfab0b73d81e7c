/// Predicates and values in the text of models.
extension Predicate {
  /// Keeps the text of a predicate as a constant that is always true when evaluated.
  init(modelText text: String) throws(ModelError) {
    self = .comparison(Comparison(.constant(.string(text)), .equal, .constant(.string(text))))
  }
}

extension AttributeDescription {
  /// A value that a model gives the attribute, as default or bound, in the attribute's type.
  func checkedInModel(_ value: Value) throws(ModelError) -> Value { value }
}
