import MoonbasePlatform

/// Compiles predicates and expressions into nodes: names become slots, variables become indexes, constant patterns
/// become matchers.
///
/// A compiler is a value that makes one tree. With an entity and a model, keys become slots;
/// without, the subject answers keys by name.
struct PredicateCompiler {
  /// The entity of the subject; nil without a model.
  let entity: ResolvedEntity?
  /// The model; nil for subjects that answer keys by name.
  let model: ResolvedModel?
  /// The meaning of missing values.
  let nulls: NullRules

  /// A variable of a subquery or an assignment.
  private struct Variable {
    /// The index in `Bindings`.
    var index: Int
    /// The path that the variable stands for, if the model determines it.
    var path: PathResolver.Path?
  }

  /// Whether a path goes through a to-one relationship to many objects or values, which other rows may share.
  private(set) var leadsToShared = false

  /// The variables in scope, by name.
  private var scope: [String: Variable] = [:]
  /// The number of variables so far.
  private var variableCount = 0
  /// The depth of the tree at the current node.
  private var depth = 0

  /// A compiler for subjects of an entity.
  init(entity: ResolvedEntity?, model: ResolvedModel?, nulls: NullRules) {
    self.entity = entity
    self.model = model
    self.nulls = nulls
  }

  // MARK: Conditions

  /// Compiles a predicate. Throws `.predicateMismatch` and `.evaluation` as the parts do.
  mutating func condition(_ predicate: Predicate) throws(ModelError) -> ConditionNode {
    try enter()
    defer { depth -= 1 }
    switch predicate {
    case .constant(let value): return .constant(Truth(value))
    case .comparison(let comparison): return try condition(comparison)
    case .and(let parts): return .and(try conditions(parts))
    case .or(let parts): return .or(try conditions(parts))
    case .not(let inner): return .not(try condition(inner))
    }
  }

  /// Trees are walked recursively, here and at each evaluation. Deeper trees than any text can express are refused, to
  /// protect the stack.
  ///
  /// Throws `.invalidPredicate` beyond the limit.
  private mutating func enter() throws(ModelError) {
    depth += 1
    try PredicateLimits.check(depth: depth)
  }

  /// Compiles the parts of a compound predicate.
  private mutating func conditions(_ parts: [Predicate]) throws(ModelError) -> [ConditionNode] {
    var nodes: [ConditionNode] = []
    for part in parts { nodes.append(try condition(part)) }
    return nodes
  }

  /// Compiles a comparison, with constant operands prepared: folded texts, matchers and hashed
  /// lists.
  private mutating func condition(_ comparison: Predicate.Comparison) throws(ModelError) -> ConditionNode {
    let left = try value(comparison.left)
    let right = try value(comparison.right)
    var rules = try rules(comparison, left, right)
    let sides =
      rules.foldsConstants(of: right) ? (left.folded(by: rules.options), right.folded(by: rules.options)) : nil
    if sides?.0 != nil { rules.folded.insert(.left) }
    if sides?.1 != nil { rules.folded.insert(.right) }
    let (one, other) = (sides?.0 ?? left, sides?.1 ?? right)
    var members: MemberSet?
    if comparison.operator == .in, rules.options.isEmpty || rules.folded.contains(.right),
      case .constant(.list(let values)) = other
    {
      members = MemberSet(values)
    }
    return .comparison(
      ComparisonNode(
        left: one, right: other, operator: comparison.operator, modifier: comparison.modifier, rules: rules,
        members: members))
  }

  /// The rules of a comparison. Throws for an invalid regular expression.
  private func rules(
    _ comparison: Predicate.Comparison, _ left: ValueNode, _ right: ValueNode
  ) throws(ModelError) -> ScalarComparison {
    var matcher: StringMatcher?
    let patterns: [Predicate.Comparison.Operator] = [.contains, .beginsWith, .endsWith, .like, .matches]
    if patterns.contains(comparison.operator), case .constant(.string(let pattern)) = right {
      matcher = try StringMatcher(comparison.operator, pattern: pattern, options: comparison.options)
    }
    let isNullPlain =
      left.constant?.isNull ?? false || right.constant?.isNull ?? false || isReference(comparison.left)
      || isReference(comparison.right)
    return ScalarComparison(
      operator: comparison.operator, options: comparison.options, nulls: nulls, isNullPlain: isNullPlain,
      matcher: matcher)
  }

  /// Whether an expression ends at objects, whose absence compares as a plain value.
  private func isReference(_ expression: Expression) -> Bool {
    guard let path = try? path(of: expression) else { return false }
    switch path.end {
    case .entity, .identity: return true
    default: return false
    }
  }

  // MARK: Expressions

  /// Compiles an expression.
  mutating func value(_ expression: Expression) throws(ModelError) -> ValueNode {
    try enter()
    defer { depth -= 1 }
    switch expression {
    case .constant(let value):
      try PredicateLimits.check(value)
      return .constant(value)
    case .evaluatedObject: return .subject
    case .variable(let name): return .variable(try variable(name).index)
    case .keyPath(let base, let components): return try keyPath(expression, base: base, components: components)
    case .function(let name, let arguments): return try call(name, arguments: arguments)
    case .aggregate(let elements): return try aggregate(elements)
    case .subquery(let collection, let name, let predicate):
      return try subquery(collection, variable: name, where: predicate)
    case .conditional(let predicate, let then, let otherwise):
      return .conditional(try condition(predicate), try value(then), try value(otherwise))
    case .assignment(let name, let assigned):
      let node = try value(assigned)
      return .assignment(bind(name, path: try? path(of: assigned)), node)
    case .anyKey:
      throw ModelError(.evaluation, message: "ANYKEY is known to Spotlight only; name the keys")
    }
  }

  /// Compiles a list. A list of constants becomes a constant.
  private mutating func aggregate(_ elements: [Expression]) throws(ModelError) -> ValueNode {
    var nodes: [ValueNode] = []
    for element in elements { nodes.append(try value(element)) }
    let constants = nodes.compactMap(\.constant)
    return constants.count == nodes.count ? .constant(.list(constants)) : .aggregate(nodes)
  }

  /// Compiles a function call. Throws `.evaluation` for an unknown function or another number of
  /// arguments.
  private mutating func call(_ name: String, arguments: [Expression]) throws(ModelError) -> ValueNode {
    guard let function = PredicateFunction(rawValue: name), arguments.count == function.argumentCount else {
      throw ModelError(.evaluation, message: "there is no function \(name) of \(arguments.count) arguments")
    }
    var nodes: [ValueNode] = []
    for argument in arguments { nodes.append(try value(argument)) }
    if function == .element { return .element(of: nodes[0], at: nodes[1]) }
    if function == .sum, try path(of: arguments[0])?.isOfDecimals == true { return .sumOfDecimals(.call(.sum, nodes)) }
    return function.isArithmetic ? .arithmetic(function, nodes[0], nodes[1]) : .call(function, nodes)
  }

  /// Compiles a subquery, whose variable is in scope only for its condition.
  private mutating func subquery(
    _ collection: Expression, variable name: String, where predicate: Predicate
  ) throws(ModelError) -> ValueNode {
    let source = try value(collection)
    var element = try path(of: collection)
    element?.isToMany = false
    element?.steps = []
    let outer = scope[name]
    let index = bind(name, path: element)
    let node = try condition(predicate)
    scope[name] = outer
    return .subquery(source, variable: index, node)
  }

  /// Binds a variable, and returns its index.
  private mutating func bind(_ name: String, path: PathResolver.Path?) -> Int {
    let index = variableCount
    variableCount += 1
    scope[name] = Variable(index: index, path: path)
    return index
  }

  /// The variable with a name. Throws `.evaluation` with a suggestion.
  private func variable(_ name: String) throws(ModelError) -> Variable {
    guard let variable = scope[name] else {
      throw ModelError(
        .evaluation, message: "there is no value for $\(name)\(suggestion(for: name, among: scope.keys.sorted()))")
    }
    return variable
  }

  // MARK: Key paths

  /// Compiles a key path: steps by slot with a model, otherwise steps by key.
  private mutating func keyPath(
    _ expression: Expression, base: Expression, components: [String]
  ) throws(ModelError) -> ValueNode {
    try PathResolver.check(components)
    let start = try value(base)
    guard let model, let basePath = try path(of: base) else {
      let steps = try steps(components)
      if case .evaluatedObject = base, steps.count == 1, case .key(let key) = steps[0] { return .key(key) }
      return .path(start, steps)
    }
    let resolved = try PathResolver(model: model).extend(
      PathResolver.Path(end: basePath.end, isToMany: basePath.isToMany), with: components[...], whole: components)
    leadsToShared = leadsToShared || resolved.steps.leadsToShared
    if resolved.isSumOfDecimals { return .sumOfDecimals(.path(start, resolved.steps)) }
    guard case .evaluatedObject = base, resolved.steps.count == 1 else { return .path(start, resolved.steps) }
    switch resolved.steps[0] {
    case .attribute(let slot), .toOne(let slot): return .slot(slot)
    default: return .path(start, resolved.steps)
    }
  }

  /// The path of an expression, if the model determines it.
  func path(of expression: Expression) throws(ModelError) -> PathResolver.Path? {
    guard let model else { return nil }
    switch expression {
    case .evaluatedObject: return entity.map { PathResolver.Path(end: .entity($0)) }
    case .variable(let name): return scope[name]?.path
    case .subquery(let collection, _, _): return try path(of: collection)
    case .keyPath(let base, let components):
      guard let start = try path(of: base) else { return nil }
      return try PathResolver(model: model).extend(start, with: components[...], whole: components)
    case .function(PredicateFunction.element.rawValue, let arguments):
      var path = try arguments.first.flatMap { argument throws(ModelError) in try self.path(of: argument) }
      path?.isToMany = false
      return path
    default: return nil
    }
  }

  /// The steps by key, for subjects without a model.
  private func steps(_ components: [String]) throws(ModelError) -> [PathStep] {
    guard let position = components.firstIndex(where: { $0.hasPrefix("@") }) else {
      return components.map(PathStep.key)
    }
    guard let found = CollectionOperator.find(components[position]) else {
      let hint = suggestion(for: components[position], among: CollectionOperator.allCases.map(\.rawValue))
      throw ModelError(.evaluation, message: "there is no operator \(components[position])\(hint)")
    }
    return components[..<position].map(PathStep.key) + (try steps(Array(components[(position + 1)...])))
      + [.aggregate(found)]
  }
}

extension ValueNode {
  /// A sum of decimals, which is a decimal even without elements.
  fileprivate static func sumOfDecimals(_ sum: ValueNode) -> ValueNode {
    .arithmetic(.add, sum, .constant(.decimal(0)))
  }
}

extension ScalarComparison {
  /// Whether the texts of both sides are folded separately before comparison. False for substring operators.
  fileprivate func foldsConstants(of right: ValueNode) -> Bool {
    guard options.isFolding else { return false }
    switch (`operator`, right) {
    case (.in, .constant(.list)): return true
    default: return isOfOrder
    }
  }
}

extension ValueNode {
  /// A constant text or list, folded by the options; nil for other expressions.
  fileprivate func folded(by options: Predicate.Comparison.Options) -> ValueNode? {
    switch self {
    case .constant(.string(let text)): .constant(.string(options.noting(text)))
    case .constant(.list(let values)):
      .constant(
        .list(values.map { if case .string(let text) = $0 { .string(options.noting(text)) } else { $0 } }))
    default: nil
    }
  }
}

extension Predicate.Comparison.Options {
  /// The folded text. Folding a long text is charged as work.
  fileprivate func noting(_ text: String) -> String {
    HostWork.note(1 &+ text.utf8.count >> 6)
    return fold(text)
  }
}
