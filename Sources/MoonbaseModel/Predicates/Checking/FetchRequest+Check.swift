extension FetchRequest {
  /// Checks the request against a model, and returns it with the literals of its predicate in their attributes' types.
  ///
  /// Throws `.predicateMismatch` for whatever names something that the entity does not have, cannot be compared or sorted by.
  public func checked(in model: ResolvedModel) throws(ModelError) -> FetchRequest {
    guard let entity = model.entity(entityName) else {
      let hint = suggestion(for: entityName, among: model.entities.map(\.name))
      throw ModelError(.predicateMismatch, "there is no entity \(entityName)\(hint)", entity: entityName)
    }
    var result = self
    if let predicate { result.predicate = try predicate.checked(against: entity, in: model) }
    for key in sortDescriptors { try key.check(against: entity, in: model) }
    for path in relationshipKeyPathsForPrefetching { try checkPrefetch(path, entity, model) }
    for column in propertiesToFetch { try check(column, entity, model) }
    for key in propertiesToGroupBy { try check(FetchColumn(key), entity, model) }
    return result
  }

  private func checkPrefetch(_ path: String, _ entity: ResolvedEntity, _ model: ResolvedModel) throws(ModelError) {
    let components = path.split(separator: ".").map(String.init)
    let resolved = try PathResolver(model: model).resolve(components, from: entity)
    guard case .entity = resolved.end else {
      throw ModelError(
        .predicateMismatch, "\(path) cannot be prefetched: it leads to no relationship", entity: entity.name)
    }
  }

  private func check(_ column: FetchColumn, _ entity: ResolvedEntity, _ model: ResolvedModel) throws(ModelError) {
    guard case .keyPath(.evaluatedObject, let components) = column.expression else {
      // Functions over a group take plain keys as collections; only the keys are checked.
      var collector = KeyPathCollector()
      collector.visit(column.expression)
      for path in collector.paths { _ = try PathResolver(model: model).resolve(path, from: entity) }
      return
    }
    let isGroup = components.first?.hasPrefix("@") ?? false
    let start = PathResolver.Path(end: .entity(entity), isToMany: isGroup)
    let path = try PathResolver(model: model).extend(start, components[...], whole: components)
    if path.isToMany {
      throw ModelError(
        .predicateMismatch, "the column \(column.name) leads to several values; use @count or another operator",
        entity: entity.name)
    }
  }
}
