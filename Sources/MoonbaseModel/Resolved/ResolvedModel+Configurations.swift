extension ResolvedModel {
  /// The entities of a configuration with their ancestors, or all entities for nil.
  ///
  /// Throws `ModelError` with `.invalidModel` for an unknown configuration.
  public func entities(inConfiguration name: String?) throws(ModelError) -> [ResolvedEntity] {
    guard let name else { return entities }
    guard let members = description.configurations[name] else {
      throw ModelError(.invalidModel, "the model has no configuration \(name)")
    }
    var indexes: Set<Int> = []
    for member in members {
      var current = entity(member)
      while let entity = current, indexes.insert(entity.index).inserted {
        current = entity.parent.map { entities[$0] }
      }
    }
    return indexes.sorted().map { entities[$0] }
  }
}
