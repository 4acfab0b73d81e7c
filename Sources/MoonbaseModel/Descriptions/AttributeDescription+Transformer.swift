extension AttributeDescription {
  /// The name of the transformer that turns values of a transformable attribute into bytes: the default one where none is named.
  package var transformerName: String { valueTransformerName ?? AppleNames.defaultTransformer }

  /// An empty name is none: Xcode writes one where a transformer was taken away.
  package mutating func forgetEmptyTransformer() {
    if valueTransformerName?.isEmpty == true { valueTransformerName = nil }
  }

  /// Why a transformable attribute can keep no value where nobody has its transformer, and what to do about it.
  package var lackOfTransformer: String {
    if AppleNames.makesTruthValues(transformerName) {
      return
        "transformer \(transformerName) makes a truth value and no bytes: name another one, or make the attribute a boolean"
    }
    return "nothing here can turn its values into bytes: load an extension that has transformer \(transformerName)"
  }

  /// The class of the list that the default transformer archives of a value.
  package var archivedListClass: String {
    valueClassName == "NSSet" || valueClassName == "NSMutableSet" ? "NSSet" : "NSArray"
  }
}
