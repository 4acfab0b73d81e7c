import MoonbaseModel

/// What a registry has, and what is there without one.
extension ExtensionRegistry {
  /// The transformer of a name. Core Data's names of its default mean the one of the graph, unless the registry has its own.
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

  /// The class of an attribute's values. Those of Foundation mean kinds of values, where the attribute's type does not say one.
  func valueClass(_ name: String, of attribute: AttributeDescription) -> ValueClass? {
    if let known = valueClasses[name] { return known }
    guard attribute.type == .transformable || attribute.type == .undefined,
      AppleNames.contains(.null, className: name) != nil
    else { return nil }
    return ValueClass(name) { AppleNames.contains($0, className: name) ?? true }
  }
}
