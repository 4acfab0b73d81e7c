extension SortDescriptor {
  /// Checks that objects of an entity can be sorted by this key.
  ///
  /// Throws `.predicateMismatch` for an unknown key, a to-many key, and values that have no order.
  public func check(against entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    let components = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard components.allSatisfy({ !$0.isEmpty }) else {
      throw ModelError(.predicateMismatch, "“\(keyPath)” is no key path to sort by", entity: entity.name)
    }
    let path = try PathResolver(model: model).resolve(components, from: entity)
    if path.isToMany {
      throw ModelError(
        .predicateMismatch, "\(entity.name) cannot be sorted by \(keyPath): it leads to several objects",
        entity: entity.name,
        property: components[0])
    }
    guard case .attribute(let attribute) = path.end else { return }
    if [.transformable, .composite, .undefined].contains(attribute.type), !attribute.isTransient {
      throw ModelError(
        .predicateMismatch, "\(entity.name) cannot be sorted by \(keyPath): \(attribute.type.phrase) has no order",
        entity: entity.name, property: components[0])
    }
  }
}
