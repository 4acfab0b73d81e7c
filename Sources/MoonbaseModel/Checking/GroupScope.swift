import MoonbasePlatform

/// What a key means in dictionary results, where the subject is a group of rows.
enum GroupScope {
  /// In a column: keys are those of the entity, `@sum.age` and `sum:(age)` are over the rows.
  case column
  /// In the condition on groups: keys are those of the columns and of the keys that make the groups.
  case condition(columns: [String: FetchColumn], keys: Set<String>)

  /// The column that an expression names.
  func column(_ expression: Expression) -> FetchColumn? {
    guard case .condition(let columns, _) = self, case .keyPath(.evaluatedObject, let components) = expression else {
      return nil
    }
    return columns[components.joined(separator: ".")]
  }

  /// What a key path leads to; nil for a column, whose kind is that of its expression.
  func path(_ components: [String], in checker: PredicateChecker) throws(ModelError) -> PathResolver.Path? {
    let resolver = PathResolver(model: checker.model)
    if components.first?.hasPrefix("@") ?? false {
      let rows = PathResolver.Path(end: .entity(checker.entity), isToMany: true)
      return try resolver.extend(rows, with: components[...], whole: components)
    }
    guard case .condition(let columns, let keys) = self else {
      return try resolver.resolve(components, from: checker.entity)
    }
    let name = components.joined(separator: ".")
    if columns[name] != nil { return nil }
    if keys.contains(name) { return try resolver.resolve(components, from: checker.entity) }
    if let first = components.first, columns[first] != nil { return nil }
    let hint = suggestion(for: name, among: columns.keys.sorted() + keys.sorted())
    throw checker.mismatch(
      "\(name) is neither a column nor a key of the groups\(hint); a function such as sum:(\(name)) is over their rows")
  }

  /// Checks a function over the rows of a group.
  func check(_ function: GroupFunction, in checker: PredicateChecker) throws(ModelError) {
    guard let components = function.keyPath else { return }
    let path = try PathResolver(model: checker.model).resolve(components, from: checker.entity)
    guard case .attribute(let attribute) = path.end, function.function.needsNumbers else { return }
    let type = CheckedType(attribute)
    if ![.number, .boolean, .unknown].contains(type) {
      throw checker.mismatch(
        "\(function.function.name) needs numbers, but \(components.joined(separator: ".")) is \(type.phrase)")
    }
  }
}

extension FetchColumn {
  /// What is known about the column's values.
  func side(in checker: PredicateChecker) throws(ModelError) -> PredicateChecker.Side {
    if let resultType {
      let attribute = AttributeDescription(name, type: resultType)
      return PredicateChecker.Side(type: CheckedType(attribute), attribute: attribute)
    }
    return try PredicateChecker(entity: checker.entity, model: checker.model, groups: .column).side(expression)
  }
}

extension PredicateFunction {
  /// Whether this is a function over numbers only; all others take whatever has an order.
  var needsNumbers: Bool {
    switch self {
    case .sum, .average, .median, .standardDeviation: true
    default: false
    }
  }
}
