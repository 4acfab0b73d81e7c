import MoonbasePlatform

/// The meaning of keys in dictionary results, where the subject is a group of rows.
///
/// `PredicateChecker` uses the scope in place of the entity. Without a scope, the subject is a
/// single object.
enum GroupScope {
  /// Within a column: keys are the entity's, and functions such as `@sum.age` and `sum:(age)` run over the rows of the
  /// group.
  case column
  /// Within the condition on groups: keys are the names of columns and the grouping keys.
  case condition(columns: [String: FetchColumn], keys: Set<String>)

  /// The column that an expression names.
  ///
  /// Returns nil within a column, and for other expressions.
  func column(_ expression: Expression) -> FetchColumn? {
    guard case .condition(let columns, _) = self, case .keyPath(.evaluatedObject, let components) = expression else {
      return nil
    }
    return columns[components.joined(separator: ".")]
  }

  /// The end of a key path; nil for a column, whose type is that of its expression.
  ///
  /// Throws `.predicateMismatch` for a key that no column and no grouping key provides.
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
  ///
  /// Throws `.predicateMismatch`, for example for a sum of texts.
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
  /// The type and the attribute of the column's values.
  ///
  /// The type is that of `resultType` if the column states one.
  func side(in checker: PredicateChecker) throws(ModelError) -> PredicateChecker.Side {
    if let resultType {
      let attribute = AttributeDescription(name, type: resultType)
      return PredicateChecker.Side(type: CheckedType(attribute), attribute: attribute)
    }
    return try PredicateChecker(entity: checker.entity, model: checker.model, groups: .column).side(expression)
  }
}

extension PredicateFunction {
  /// Whether the function takes numbers only; the other functions take any ordered values.
  var needsNumbers: Bool {
    switch self {
    case .sum, .average, .median, .standardDeviation: true
    default: false
    }
  }
}
