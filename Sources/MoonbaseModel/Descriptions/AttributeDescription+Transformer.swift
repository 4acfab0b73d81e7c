extension AttributeDescription {
  /// The name of the transformer that stores values of a transformable attribute as bytes, or the default
  /// transformer's.
  package var transformerName: String { valueTransformerName ?? AppleNames.defaultTransformer }

  /// Replaces an empty transformer name by nil. Xcode writes an empty name after a transformer was removed.
  package mutating func forgetEmptyTransformer() {
    if valueTransformerName?.isEmpty == true { valueTransformerName = nil }
  }

  /// The reason why a transformable attribute cannot keep a value while its transformer is missing, with advice.
  package var lackOfTransformer: String {
    if AppleNames.makesTruthValues(transformerName) {
      return
        "transformer \(transformerName) makes a truth value and no bytes: name another one, or make the attribute a boolean"
    }
    return "nothing here can turn its values into bytes: load an extension that has transformer \(transformerName)"
  }

  /// The class under which the default transformer archives a list.
  package var archivedListClass: String {
    valueClassName == "NSSet" || valueClassName == "NSMutableSet" ? "NSSet" : "NSArray"
  }
}
