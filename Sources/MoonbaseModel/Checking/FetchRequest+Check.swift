extension FetchRequest {
  /// Checks the request against a model, and returns it with the literals of its predicate in their attributes' types.
  ///
  /// Throws `.predicateMismatch` for whatever names something that the entity does not have, cannot be compared or sorted by.
  public func checked(in model: ResolvedModel) throws(ModelError) -> FetchRequest {
    try checked(in: model, source: nil)
  }

  /// The same for the fetch of a property: `$FETCH_SOURCE` stands for an object of the entity that has it.
  func checked(in model: ResolvedModel, source: ResolvedEntity?) throws(ModelError) -> FetchRequest {
    guard let entity = model.entity(entityName) else {
      let hint = suggestion(for: entityName, among: model.entities.map(\.name))
      throw ModelError(.predicateMismatch, "there is no entity \(entityName)\(hint)", entity: entityName)
    }
    var result = self
    try checkNumbers()
    if let predicate {
      var checker = PredicateChecker(entity: entity, model: model, source: source)
      result.predicate = try checker.check(predicate)
    }
    for key in sortDescriptors { try key.check(against: entity, in: model) }
    for path in relationshipKeyPathsForPrefetching { try checkPrefetch(path, entity, model) }
    for column in propertiesToFetch { try check(column, entity, model) }
    for key in propertiesToGroupBy { try check(FetchColumn(key), entity, model) }
    if let havingPredicate { result.havingPredicate = try check(having: havingPredicate, entity, model) }
    return result
  }

  private func checkNumbers() throws(ModelError) {
    for (what, number) in [("limit", fetchLimit), ("offset", fetchOffset), ("batch size", fetchBatchSize)]
    where number < 0 {
      throw ModelError(
        .predicateMismatch, "the \(what) of the fetch is \(number): it cannot be negative, and 0 stands for none",
        entity: entityName)
    }
  }

  private func checkPrefetch(_ path: String, _ entity: ResolvedEntity, _ model: ResolvedModel) throws(ModelError) {
    let components = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let resolved = try PathResolver(model: model).resolve(components, from: entity)
    guard case .entity = resolved.end else {
      throw ModelError(
        .predicateMismatch, "\(path) cannot be prefetched: it leads to no relationship", entity: entity.name)
    }
  }

  private func check(_ column: FetchColumn, _ entity: ResolvedEntity, _ model: ResolvedModel) throws(ModelError) {
    var checker = PredicateChecker(entity: entity, model: model, groups: .column)
    let expression = try checker.checkInside(column.expression)
    if try checker.side(expression).isToMany {
      throw ModelError(
        .predicateMismatch, "the column \(column.name) leads to several values; use @count or another operator",
        entity: entity.name)
    }
  }

  private func check(
    having predicate: Predicate, _ entity: ResolvedEntity, _ model: ResolvedModel
  ) throws(ModelError) -> Predicate {
    let columns = columns(of: entity).map { ($0.name, $0) }
    let scope = GroupScope.condition(
      columns: Dictionary(columns) { first, _ in first }, keys: Set(propertiesToGroupBy))
    var checker = PredicateChecker(entity: entity, model: model, groups: scope)
    return try checker.check(predicate)
  }

  /// The columns of dictionary results: those asked for, or all attributes.
  package func columns(of entity: ResolvedEntity) -> [FetchColumn] {
    guard propertiesToFetch.isEmpty else { return propertiesToFetch }
    return entity.attributeSlots.map { FetchColumn(entity.properties[$0].name) }
  }
}
