import MoonbaseModel

/// Reads predicates and expressions from a keyed archive.
///
/// A value carries the depth of nesting: each level is read by a copy that is one level deeper.
/// Errors are `.malformedFile` and name the part. Nothing in an archive is instantiated or called.
struct ArchivedPredicateReader {
  /// The most levels of predicates and expressions.
  private static let greatestDepth = 64
  /// The number of levels above the current object.
  private var depth = 0

  /// Reads an object of a predicate class.
  func predicate(_ object: ArchivedObject) throws(ModelError) -> Predicate {
    let inner = try deeper()
    switch object.className {
    case "NSTruePredicate": return .constant(true)
    case "NSFalsePredicate": return .constant(false)
    case "NSComparisonPredicate": return .comparison(try inner.comparison(object))
    case "NSCompoundPredicate":
      var parts: [Predicate] = []
      for part in object.elements("NSSubpredicates") ?? [] {
        guard let part = part.object else { throw unreadable("a compound predicate") }
        parts.append(try inner.predicate(part))
      }
      switch object.integer("NSCompoundPredicateType") {
      case 0 where parts.count == 1: return .not(parts[0])
      case 1: return .and(parts)
      case 2: return .or(parts)
      default: throw unreadable("a compound predicate")
      }
    default: throw unreadable("a \(object.className)")
    }
  }

  /// Reads a comparison: two expressions and an operator object. The string comparison options are
  /// in the operator's lower four bits.
  private func comparison(_ object: ArchivedObject) throws(ModelError) -> Predicate.Comparison {
    guard let left = object["NSLeftExpression"]?.object, let right = object["NSRightExpression"]?.object,
      let archived = object["NSPredicateOperator"]?.object,
      let type = archived.integer("NSOperatorType"), let operation = ArchivedOperator.operators[type]
    else { throw unreadable("a comparison") }
    let options = archived.integer("NSOptions") ?? archived.integer("NSFlags") ?? 0
    let modifier = try modifier(archived.integer("NSModifier") ?? 0)
    let negated = operation == .equal && archived.bool("NSNegate")
    return Predicate.Comparison(
      try expression(left), negated ? .notEqual : operation, try expression(right), modifier: modifier,
      options: Predicate.Comparison.Options(rawValue: UInt8(truncatingIfNeeded: options & 0xf)))
  }

  /// The modifier of a number: 0 direct, 1 all, 2 any.
  private func modifier(_ number: Int) throws(ModelError) -> Predicate.Comparison.Modifier {
    switch number {
    case 0: .direct
    case 1: .all
    case 2: .any
    default: throw unreadable("a comparison with modifier \(number)")
    }
  }

  // MARK: Expressions

  /// Reads an object of an expression class.
  func expression(_ object: ArchivedObject) throws(ModelError) -> Expression {
    let inner = try deeper()
    switch object.className {
    case "NSSelfExpression": return .evaluatedObject
    case "NSConstantValueExpression": return .constant(try constant(object))
    case "NSVariableExpression":
      guard let name = object.string("NSVariable") else { throw unreadable("a variable") }
      return .variable(name)
    case "NSKeyPathSpecifierExpression":
      guard let path = object.string("NSKeyPath") else { throw unreadable("a key path") }
      return .keyPath(path)
    case "NSKeyPathExpression", "NSFunctionExpression": return try inner.function(object)
    case "NSAggregateExpression":
      return .aggregate(try inner.expressions(object, key: "NSCollection"))
    case "NSSubqueryExpression": return try inner.subquery(object)
    case "NSTernaryExpression":
      guard let condition = object["NSPredicate"]?.object, let first = object["NSTrueExpression"]?.object,
        let second = object["NSFalseExpression"]?.object
      else { throw unreadable("a ternary expression") }
      return .conditional(
        try inner.predicate(condition), try inner.expression(first), try inner.expression(second))
    case "NSAnyKeyExpression": return .anyKey
    case "NSVariableAssignmentExpression":
      guard let name = object["NSAssignmentVariable"]?.object?.string("NSVariable"),
        let value = object["NSSubexpression"]?.object
      else { throw unreadable("an assignment") }
      return .assignment(name, try inner.expression(value))
    default: throw unreadable("a \(object.className)")
    }
  }

  /// The value of a constant expression; a missing value is null.
  private func constant(_ object: ArchivedObject) throws(ModelError) -> Value {
    guard let archived = object["NSConstantValue"] else { return .null }
    guard let value = archived.modelValue else {
      throw unreadable("a constant of class \(archived.object?.className ?? "unknown")")
    }
    return value
  }

  /// Reads a function call. A key path is archived as a call of `valueForKey:` or `valueForKeyPath:`.
  private func function(_ object: ArchivedObject) throws(ModelError) -> Expression {
    guard let name = object.string("NSSelectorName") else { throw unreadable("a function without a name") }
    let arguments = try expressions(object, key: "NSArguments")
    guard name == "valueForKey:" || name == "valueForKeyPath:" else {
      // A predefined function's operand is a class of Foundation; a method's is its receiver, which becomes the first
      // argument.
      guard let operand = object["NSOperand"]?.object, operand.fields["NSConstantValueClassName"] == nil else {
        return .function(name, arguments)
      }
      return .function(name, [try expression(operand)] + arguments)
    }
    guard arguments.count == 1, let operand = object["NSOperand"]?.object else { throw unreadable("a key path") }
    let components: [String]
    switch arguments[0] {
    case .keyPath(.evaluatedObject, let path): components = path
    case .constant(.string(let path)): components = path.split(separator: ".").map(String.init)
    default: throw unreadable("a key path")
    }
    let base = try expression(operand)
    if case .keyPath(let inner, let first) = base { return .keyPath(inner, first + components) }
    return .keyPath(base, components)
  }

  /// Reads a subquery. Its variable is a name, or an expression in newer archives.
  private func subquery(_ object: ArchivedObject) throws(ModelError) -> Expression {
    guard let collection = object["NSCollection"]?.object, let predicate = object["NSPredicate"]?.object,
      let variable = object.string("NSVariable")
        ?? object["NSVariableExpression"]?.object?.string("NSVariable")
    else { throw unreadable("a subquery") }
    return .subquery(try expression(collection), variable: variable, try self.predicate(predicate))
  }

  /// The expressions in the array of a key.
  private func expressions(_ object: ArchivedObject, key: String) throws(ModelError) -> [Expression] {
    var result: [Expression] = []
    for element in object.elements(key) ?? [] {
      guard let element = element.object else { throw unreadable("a list of expressions") }
      result.append(try expression(element))
    }
    return result
  }

  // MARK: Limits

  /// A reader for the next level. Throws `.malformedFile` beyond `greatestDepth`, as for a
  /// predicate that contains itself.
  private func deeper() throws(ModelError) -> Self {
    guard depth < Self.greatestDepth else { throw unreadable("a predicate that is nested too deeply, or in itself") }
    var inner = self
    inner.depth += 1
    return inner
  }

  /// The error about an unreadable part.
  private func unreadable(_ what: String) -> ModelError {
    ModelError(.malformedFile, message: "\(what) cannot be read from the archive")
  }
}

/// The numbers of comparison operators in archives.
///
/// These are the values of `NSComparisonPredicate.Operator`.
enum ArchivedOperator {
  /// The operators by number.
  static let operators: [Int: Predicate.Comparison.Operator] = [
    0: .lessThan, 1: .lessThanOrEqual, 2: .greaterThan, 3: .greaterThanOrEqual, 4: .equal, 5: .notEqual, 6: .matches,
    7: .like, 8: .beginsWith, 9: .endsWith, 10: .in, 99: .contains, 100: .between,
  ]

  /// The number of an operator.
  static func number(of operation: Predicate.Comparison.Operator) -> Int {
    operators.first { $0.value == operation }?.key ?? 4
  }
}
