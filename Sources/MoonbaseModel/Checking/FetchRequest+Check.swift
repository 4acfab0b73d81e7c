import MoonbasePlatform

extension FetchRequest {
  /// Checks the request against a model. Returns the request with the literals of its predicate converted to the types
  /// of their attributes.
  ///
  /// Throws `.predicateMismatch` for a name that the entity does not have, and for values that cannot be compared or
  /// sorted.
  ///
  /// The check is made once for each request, before it is planned or evaluated.
  public func checked(in model: ResolvedModel) throws(ModelError) -> FetchRequest {
    try checked(in: model, source: nil)
  }

  /// Checks the request of a fetched property. `$FETCH_SOURCE` stands for an object of the entity `source`, which has
  /// the property.
  ///
  /// A source also allows the variable in sort keys and columns.
  func checked(in model: ResolvedModel, source: ResolvedEntity?) throws(ModelError) -> FetchRequest {
    guard let entity = model.entity(entityName) else {
      let hint = suggestion(for: entityName, among: model.entities.map(\.name))
      throw ModelError(
        .predicateMismatch, message: "there is no entity \(entityName.asName)\(hint)", entity: entityName)
    }
    var result = self
    try checkNumbers()
    if let predicate {
      var checker = PredicateChecker(entity: entity, model: model, source: source)
      result.predicate = try checker.check(predicate)
    }
    for key in sortDescriptors {
      if sortsRows {
        try check(rowKey: key, of: entity, in: model)
      } else {
        try key.check(against: entity, in: model)
      }
    }
    for path in relationshipKeyPathsForPrefetching { try checkPrefetch(path, from: entity, in: model) }
    for column in propertiesToFetch { try check(column, of: entity, in: model) }
    for key in propertiesToGroupBy {
      try TextLimits.check(path: key)
      try check(FetchColumn(key), of: entity, in: model)
    }
    if let havingPredicate { result.havingPredicate = try check(having: havingPredicate, of: entity, in: model) }
    try checkGroupedColumns(of: entity)
    return result
  }

  /// Refuses columns whose value is not determined by the grouping keys. The column would show the value of an
  /// arbitrary row of the group.
  ///
  /// Throws `.predicateMismatch`.
  private func checkGroupedColumns(of entity: ResolvedEntity) throws(ModelError) {
    if propertiesToGroupBy.isEmpty { return }
    let keys = propertiesToGroupBy.map { $0.split(separator: ".").map(String.init) }
    for column in propertiesToFetch {
      guard let path = column.expression.ownPaths.first(where: { path in !keys.contains { path.starts(with: $0) } })
      else { continue }
      let name = path.joined(separator: ".")
      let isPlain = path != ["SELF"] && !path.contains { $0.hasPrefix("@") }
      let together = isPlain ? ", or take all of them together, as @min.\(name) and @count.\(name) do" : ""
      throw ModelError(
        .predicateMismatch,
        message:
          "the column \(column.name) has many values in a group, and no one of them is the group's: add \(name) to group_by"
          + together,
        entity: entity.name, property: path.first)
    }
  }

  /// Throws `.predicateMismatch` for a negative limit, offset or batch size.
  private func checkNumbers() throws(ModelError) {
    for (what, number) in [("limit", fetchLimit), ("offset", fetchOffset), ("batch size", fetchBatchSize)]
    where number < 0 {
      throw ModelError(
        .predicateMismatch,
        message: "the \(what) of the fetch is \(number): it cannot be negative, and 0 stands for none",
        entity: entityName)
    }
  }

  /// Throws `.predicateMismatch` for a path that does not end at a relationship.
  private func checkPrefetch(_ path: String, from entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    let components = try TextLimits.keys(of: path)
    let resolved = try PathResolver(model: model).resolve(components, from: entity)
    guard case .entity = resolved.end else {
      throw ModelError(
        .predicateMismatch, message: "\(path) cannot be prefetched: it leads to no relationship", entity: entity.name)
    }
  }

  /// Checks a column: its keys exist, and its expression has a single value.
  func check(_ column: FetchColumn, of entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    var checker = PredicateChecker(entity: entity, model: model, groups: .column)
    let expression = try checker.checkInside(column.expression)
    if try checker.side(expression).isToMany {
      throw ModelError(
        .predicateMismatch,
        message: "the column \(column.name) leads to several values; use @count or another operator",
        entity: entity.name)
    }
  }

  /// Checks a condition on groups, and converts its literals.
  private func check(
    having predicate: Predicate, of entity: ResolvedEntity, in model: ResolvedModel
  ) throws(ModelError) -> Predicate {
    let columns = columns(of: entity).map { ($0.name, $0) }
    let scope = GroupScope.condition(
      columns: Dictionary(columns) { first, _ in first }, keys: Set(propertiesToGroupBy))
    var checker = PredicateChecker(entity: entity, model: model, groups: scope)
    return try checker.check(predicate)
  }

  /// The columns of dictionary results: the properties to fetch if there are any, else the grouping keys, else all
  /// attributes.
  package func columns(of entity: ResolvedEntity) -> [FetchColumn] {
    guard propertiesToFetch.isEmpty else { return propertiesToFetch }
    if !propertiesToGroupBy.isEmpty { return propertiesToGroupBy.map { FetchColumn($0) } }
    return (entity.attributeSlots.map { entity.properties[$0] } + entity.addedProperties).map { FetchColumn($0.name) }
  }
}

extension Predicate {
  /// Checks the predicate against an entity. Returns the predicate with literals converted to the types of the
  /// attributes that they are compared with: ISO 8601 text beside a date becomes a date, text beside a UUID a UUID, a
  /// number beside a decimal a decimal.
  ///
  /// Throws `.predicateMismatch` for unknown keys (with the nearest known name), a to-many key without a quantifier,
  /// and impossible comparisons. Variables without a value pass.
  public func checked(against entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) -> Predicate {
    var checker = PredicateChecker(entity: entity, model: model)
    return try checker.check(self)
  }
}

extension SortDescriptor {
  /// Checks that objects of an entity can be sorted by this key.
  ///
  /// Throws `.predicateMismatch` for an unknown key, a to-many key, and values that have no order.
  ///
  /// Keys that end at a composite or a transformable attribute have no order.
  public func check(against entity: ResolvedEntity, in model: ResolvedModel) throws(ModelError) {
    let components = try TextLimits.keys(of: keyPath)
    guard components.allSatisfy({ !$0.isEmpty }) else {
      throw ModelError(.predicateMismatch, message: "“\(keyPath)” is no key path to sort by", entity: entity.name)
    }
    try checkSpelling(entity)
    let path = try PathResolver(model: model).resolve(components, from: entity)
    if path.isToMany {
      throw ModelError(
        .predicateMismatch, message: "\(entity.name) cannot be sorted by \(keyPath): it leads to several objects",
        entity: entity.name,
        property: components[0])
    }
    guard case .attribute(let attribute) = path.end else { return }
    if [.transformable, .composite, .undefined].contains(attribute.type), !attribute.isTransient {
      throw ModelError(
        .predicateMismatch,
        message: "\(entity.name) cannot be sorted by \(keyPath): \(attribute.type.phrase) has no order",
        entity: entity.name, property: components[0])
    }
  }

  /// Detects a direction written behind the key, as in SQL, and advises how to write it here.
  ///
  /// Throws `.predicateMismatch`. For example, `name DESC` should be `-name`.
  private func checkSpelling(_ entity: ResolvedEntity) throws(ModelError) {
    let words = keyPath.split(separator: " ")
    guard words.count == 2, let direction = words.last?.lowercased() else { return }
    let key = String(words[0])
    guard direction.hasPrefix("desc") || direction.hasPrefix("asc") else { return }
    let advice =
      direction.hasPrefix("desc") ? "write -\(key) to sort in descending order" : "write \(key), which ascends"
    throw ModelError(
      .predicateMismatch, message: "\(entity.name) cannot be sorted by “\(keyPath)”: \(advice)", entity: entity.name,
      property: key)
  }
}
