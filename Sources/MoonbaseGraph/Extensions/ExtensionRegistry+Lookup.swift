import MoonbaseModel

/// Lookup in a registry, with built-in defaults.
extension ExtensionRegistry {
  /// The transformer with a name. A name of Core Data's default transformer finds `ValueTransformer.archiving`, unless
  /// the registry replaces it.
  package func transformer(_ name: String) -> ValueTransformer? {
    transformers[name] ?? (AppleNames.isDefaultTransformer(name) ? .archiving(name) : nil)
  }

  /// The transformer of an attribute.
  func transformer(of attribute: AttributeDescription) -> ValueTransformer? {
    guard let transformer = transformer(attribute.transformerName), transformer.isDefault else {
      return transformers[attribute.transformerName]
    }
    return .archiving(transformer.name, listClass: attribute.archivedListClass)
  }

  /// The class of an attribute's values.
  ///
  /// A class name of Foundation gives a check of the kind of value, for a transformable or undefined attribute.
  func valueClass(_ name: String, of attribute: AttributeDescription) -> ValueClass? {
    if let known = valueClasses[name] { return known }
    guard attribute.type == .transformable || attribute.type == .undefined,
      AppleNames.contains(.null, className: name) != nil
    else { return nil }
    return ValueClass(name) { AppleNames.contains($0, className: name) ?? true }
  }
}
