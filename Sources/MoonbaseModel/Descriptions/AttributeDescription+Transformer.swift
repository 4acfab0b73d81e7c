extension AttributeDescription {
  /// The name of the transformer that turns values of a transformable attribute into bytes. One that names none has Core Data's default,
  /// for which a domain may register one.
  package var transformerName: String { valueTransformerName ?? "NSSecureUnarchiveFromData" }

  /// Why a transformable attribute can keep no value where nobody has its transformer, and what to do about it.
  package var lackOfTransformer: String {
    let advice =
      valueTransformerName.map { "load an extension that has transformer \($0)" } ?? "name a transformer in the model"
    return "nothing here can turn its values into bytes: \(advice)"
  }
}
