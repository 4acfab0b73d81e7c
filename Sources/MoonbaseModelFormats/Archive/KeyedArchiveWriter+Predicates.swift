import MoonbaseModel

extension KeyedArchiveWriter {
  /// Archives a predicate as Foundation's classes do, and returns its reference.
  ///
  /// Throws `.unsupportedForm` for a constant or a key path that no archive can hold.
  mutating func predicate(_ predicate: Predicate) throws(ModelError) -> PropertyList {
    switch predicate {
    case .constant(let constant): return object(constant ? "NSTruePredicate" : "NSFalsePredicate", fields: [:])
    case .not(let other): return try compound(0, parts: [other])
    case .and(let parts): return try compound(1, parts: parts)
    case .or(let parts): return try compound(2, parts: parts)
    case .comparison(let comparison):
      return object(
        "NSComparisonPredicate",
        fields: [
          "NSLeftExpression": try expression(comparison.left), "NSRightExpression": try expression(comparison.right),
          "NSPredicateOperator": comparisonOperator(comparison),
        ])
    }
  }

  /// Archives a compound predicate: type 0 for not, 1 for and, 2 for or.
  private mutating func compound(_ type: Int64, parts: [Predicate]) throws(ModelError) -> PropertyList {
    var references: [PropertyList] = []
    for part in parts { references.append(try predicate(part)) }
    return object(
      "NSCompoundPredicate", fields: ["NSCompoundPredicateType": .integer(type), "NSSubpredicates": array(references)])
  }

  /// Archives the operator of a comparison. Foundation has a class for each kind of operator, with
  /// different keys for the options.
  private mutating func comparisonOperator(_ comparison: Predicate.Comparison) -> PropertyList {
    let type = PropertyList.integer(Int64(ArchivedOperator.number(of: comparison.operator)))
    let options = PropertyList.integer(Int64(comparison.options.rawValue))
    let modifier: PropertyList =
      switch comparison.modifier {
      case .direct: 0
      case .all: 1
      case .any: 2
      }
    let common = ["NSOperatorType": type, "NSModifier": modifier]
    let (name, fields): (String, [String: PropertyList]) =
      switch comparison.operator {
      case .equal: ("NSEqualityPredicateOperator", ["NSNegate": false, "NSOptions": options])
      case .notEqual: ("NSEqualityPredicateOperator", ["NSNegate": true, "NSOptions": options])
      case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
        ("NSComparisonPredicateOperator", ["NSVariant": type, "NSOptions": options])
      case .in, .contains: ("NSInPredicateOperator", ["NSFlags": options])
      case .between: ("NSBetweenPredicateOperator", [:])
      case .beginsWith: ("NSSubstringPredicateOperator", ["NSFlags": options, "NSSubstringPosition": 0])
      case .endsWith: ("NSSubstringPredicateOperator", ["NSFlags": options, "NSSubstringPosition": 1])
      case .like: ("NSLikePredicateOperator", ["NSFlags": options])
      case .matches: ("NSMatchingPredicateOperator", ["NSFlags": options])
      }
    return object(name, fields: fields.merging(common) { own, _ in own })
  }

  // MARK: Expressions

  /// Archives an expression, and returns its reference. `NSExpressionType` is the number of its
  /// kind.
  mutating func expression(_ expression: Expression) throws(ModelError) -> PropertyList {
    switch expression {
    case .evaluatedObject: return object("NSSelfExpression", fields: ["NSExpressionType": 1])
    case .variable(let name):
      return object("NSVariableExpression", fields: ["NSExpressionType": 2, "NSVariable": string(name)])
    case .anyKey: return object("NSAnyKeyExpression", fields: ["NSExpressionType": 15])
    case .constant(let constant):
      guard let reference = value(constant) else {
        throw ModelError(.unsupportedForm, message: "\(constant.typePhrase) in a predicate cannot be archived")
      }
      return object("NSConstantValueExpression", fields: ["NSExpressionType": 0, "NSConstantValue": reference])
    case .keyPath(let base, let path): return try keyPath(base, path: path)
    case .function(let name, let arguments): return try function(name, arguments: arguments)
    case .aggregate(let elements):
      return object(
        "NSAggregateExpression", fields: ["NSExpressionType": 14, "NSCollection": array(try expressions(elements))])
    case .subquery(let collection, let variable, let predicate):
      return object(
        "NSSubqueryExpression",
        fields: [
          "NSExpressionType": 13, "NSCollection": try self.expression(collection),
          "NSVariableExpression": try self.expression(.variable(variable)),
          "NSPredicate": try self.predicate(predicate),
        ])
    case .conditional(let condition, let first, let second):
      return object(
        "NSTernaryExpression",
        fields: [
          "NSExpressionType": 20, "NSPredicate": try predicate(condition),
          "NSTrueExpression": try self.expression(first), "NSFalseExpression": try self.expression(second),
        ])
    case .assignment(let name, let value):
      return object(
        "NSVariableAssignmentExpression",
        fields: [
          "NSExpressionType": 12, "NSAssignmentVariable": try self.expression(.variable(name)),
          "NSSubexpression": try self.expression(value),
        ])
    }
  }

  /// A function call. The operand is the receiver of a method, and a class of Foundation for a predefined function.
  private mutating func function(_ name: String, arguments: [Expression]) throws(ModelError) -> PropertyList {
    let isMethod = PredicateFunction(rawValue: name).map(\.isMethod) ?? true
    let operand: PropertyList
    if isMethod, let receiver = arguments.first {
      operand = try expression(receiver)
    } else {
      operand = object(
        "NSConstantValueExpression",
        fields: ["NSExpressionType": 0, "NSConstantValueClassName": string("_NSPredicateUtilities")])
    }
    return object(
      "NSFunctionExpression",
      fields: [
        "NSExpressionType": 4, "NSSelectorName": string(name), "NSOperand": operand,
        "NSArguments": array(try expressions(isMethod ? Array(arguments.dropFirst()) : arguments)),
      ])
  }

  /// Archives a list of expressions.
  private mutating func expressions(_ list: [Expression]) throws(ModelError) -> [PropertyList] {
    var references: [PropertyList] = []
    for element in list { references.append(try expression(element)) }
    return references
  }

  /// A key path, archived as a call: `valueForKey:` of SELF for a single key, `valueForKeyPath:` otherwise.
  ///
  /// Throws `.unsupportedForm` for a key that is empty or contains a dot.
  private mutating func keyPath(_ base: Expression, path: [String]) throws(ModelError) -> PropertyList {
    let ofSelf = base == .evaluatedObject
    guard path.allSatisfy({ !$0.isEmpty && !$0.contains(".") }), !path.isEmpty else {
      throw ModelError(.unsupportedForm, message: "the key path \(Expression.keyPath(base, path)) cannot be archived")
    }
    let specifier = object(
      "NSKeyPathSpecifierExpression",
      fields: ["NSExpressionType": 10, "NSKeyPath": string(path.joined(separator: "."))])
    return object(
      "NSKeyPathExpression",
      fields: [
        "NSExpressionType": ofSelf ? 3 : 4,
        "NSSelectorName": string(ofSelf && path.count == 1 ? "valueForKey:" : "valueForKeyPath:"),
        "NSOperand": try expression(base), "NSArguments": array([specifier], className: "NSMutableArray"),
      ])
  }
}
