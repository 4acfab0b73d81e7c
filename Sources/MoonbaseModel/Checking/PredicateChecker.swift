import MoonbasePlatform

/// Checks a predicate against an entity and converts its literals.
///
/// The checker walks the tree once and returns a tree with converted literals. It finds mistakes
/// before anything is fetched: unknown keys, comparisons of different types, and to-many keys
/// without a quantifier. Errors are `.predicateMismatch`.
///
/// Examples of refused predicates over a person:
///
/// ```text
/// agee > 3               there is no such property
/// name > 3               a string is compared with a number
/// children.age > 5       a to-many key without ANY, ALL or NONE
/// born > "yesterday"     no ISO 8601 date
/// ```
struct PredicateChecker {
  /// The entity of the subject.
  let entity: ResolvedEntity
  /// The model, to follow relationships.
  let model: ResolvedModel
  /// The meaning of keys where the subject is a group of rows; nil where the subject is an object.
  let groups: GroupScope?
  /// The paths that variables of subqueries and assignments stand for.
  private var scope: [String: PathResolver.Path?] = [:]
  /// The depth of the tree at the current node.
  private var depth = 0

  /// The static properties of an operand of a comparison.
  struct Side {
    /// The type, as far as it is known.
    var type: CheckedType
    /// Whether it is a collection.
    var isToMany = false
    /// The attribute at the end of a key path. Literals are converted to its type.
    var attribute: AttributeDescription?
  }

  /// A checker for objects of an entity. `source` is the entity of `$FETCH_SOURCE` in a fetched
  /// property.
  init(
    entity: ResolvedEntity, model: ResolvedModel, groups: GroupScope? = nil, source: ResolvedEntity? = nil
  ) {
    self.entity = entity
    self.model = model
    self.groups = groups
    if let source { scope["FETCH_SOURCE"] = PathResolver.Path(end: .entity(source)) }
  }

  /// Checks a predicate, and returns it with converted literals.
  mutating func check(_ predicate: Predicate) throws(ModelError) -> Predicate {
    depth += 1
    try PredicateLimits.check(depth: depth)
    try ModelError.charge()
    defer { depth -= 1 }
    switch predicate {
    case .constant: return predicate
    case .comparison(let comparison): return .comparison(try check(comparison))
    case .and(let parts): return .and(try check(parts))
    case .or(let parts): return .or(try check(parts))
    case .not(let inner): return .not(try check(inner))
    }
  }

  /// Checks the parts of a compound predicate.
  private mutating func check(_ parts: [Predicate]) throws(ModelError) -> [Predicate] {
    var result: [Predicate] = []
    for part in parts { result.append(try check(part)) }
    return result
  }

  // MARK: Comparisons

  /// Checks a comparison: both operands, then plurality, literals and types.
  private mutating func check(_ comparison: Predicate.Comparison) throws(ModelError) -> Predicate.Comparison {
    var result = comparison.asMembership ?? comparison
    result.left = try checkInside(result.left)
    do { result.right = try checkInside(result.right) } catch { throw hinting(error, at: result.right) }
    let left = try side(result.left)
    let right = try side(result.right)
    try checkPlurality(result, left, right)
    let stated = result
    result.right = try convert(result.right, for: left)
    result.left = try convert(result.left, for: right)
    try checkTypes(stated, try side(result.left), try side(result.right), converted: result)
    return result
  }

  /// Throws for a to-many key without a quantifier, and for a quantifier of a single value.
  private func checkPlurality(_ comparison: Predicate.Comparison, _ left: Side, _ right: Side) throws(ModelError) {
    let isContainer = comparison.operator == .contains
    if comparison.modifier == .direct, left.isToMany, !isContainer {
      throw mismatch(
        "to-many key not allowed here: \(shown(comparison.left)) leads to several objects; write ANY, ALL or NONE before it, "
          + "or use @count")
    }
    if comparison.modifier != .direct, !left.isToMany, left.type != .unknown {
      throw mismatch("ANY, ALL and NONE need a to-many key path, but \(shown(comparison.left)) is \(left.type.phrase)")
    }
    if right.isToMany, comparison.operator != .in, comparison.operator != .between {
      throw mismatch(
        "to-many key not allowed here: \(shown(comparison.right)) leads to several objects; exchange the sides and write ANY, "
          + "or use IN")
    }
  }

  /// Throws for operands whose types the operator cannot compare.
  private func checkTypes(
    _ comparison: Predicate.Comparison, _ left: Side, _ right: Side, converted: Predicate.Comparison
  ) throws(ModelError) {
    switch comparison.operator {
    case .contains where left.isToMany && comparison.modifier == .direct:
      try checkComparable((comparison.left, left), (comparison.right, right))
    case .contains, .beginsWith, .endsWith, .like, .matches: try checkStrings(comparison, left, right)
    case .in, .between:
      if let elements = converted.right.elements {
        let stated = comparison.right.elements ?? elements
        for (element, shown) in zip(elements, stated) {
          try checkPart(shown, of: comparison, left: left)
          try checkComparable((comparison.left, left), (shown, try side(element)))
        }
      } else if right.isToMany {
        try checkComparable((comparison.left, left), (comparison.right, right))
      } else if right.type != .unknown, !(comparison.operator == .in && right.type == .string && left.type == .string) {
        throw mismatch(
          "\(comparison.operator.rawValue) needs a list, but \(shown(comparison.right)) is \(right.type.phrase)")
      }
    default:
      try checkScalar((comparison.left, left), against: (comparison.right, right))
      try checkScalar((comparison.right, right), against: (comparison.left, left))
      try checkComparable((comparison.left, left), (comparison.right, right))
      try checkOrder(comparison, type: left.type)
    }
  }

  /// An operand as written, with its static properties.
  private typealias Operand = (expression: Expression, side: Side)

  /// Throws for values of different types, with the most helpful explanation.
  private func checkComparable(_ left: Operand, _ right: Operand) throws(ModelError) {
    guard !left.side.type.isComparable(with: right.side.type) else { return }
    try checkLiteral(right, for: left)
    try checkLiteral(left, for: right)
    for (one, other) in [(left, right), (right, left)] {
      guard case .constant(.data) = one.expression, other.side.type == .string else { continue }
      throw mismatch("impossible comparison: \(phrase(other)), and bytes that are no UTF-8 text are no string")
    }
    for operand in [left, right] where operand.side.type == .composite {
      guard let element = operand.side.attribute?.elements.first?.name else { continue }
      throw mismatch(
        "impossible comparison: \(phrase(left)), \(phrase(right)); compare an element, as \(shown(operand.expression)).\(element)"
      )
    }
    // YES and NO are keywords. A text such as the country code 'NO' needs quotes.
    let isWord = left.side.type == .string && right.expression.isTruthValue
    let advice = isWord ? "; a text is written in quotes, as 'NO' or 'TRUE'" : ""
    throw mismatch("impossible comparison: \(phrase(left)), \(phrase(right))\(advice)")
  }

  /// An operand with its type, for messages.
  private func phrase(_ operand: Operand) -> String { "\(shown(operand.expression)) is \(operand.side.type.phrase)" }

  /// Refuses a text literal that does not parse as the date, UUID or other type that it is compared with.
  private func checkLiteral(_ literal: Operand, for other: Operand) throws(ModelError) {
    guard case .constant(.string) = literal.expression, let attribute = other.side.attribute else { return }
    let form: String? =
      switch attribute.type {
      case .date: "no ISO 8601 date such as 2001-01-01 or 2001-01-01T12:00:00Z"
      case .uuid: "no UUID such as 6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
      case .uri: "no URI"
      case .decimal: "no decimal number"
      default: nil
      }
    guard let form else { return }
    throw mismatch("impossible comparison: \(phrase(other)), and the text \(shown(literal.expression)) is \(form)")
  }

  /// Refuses a list compared with a plain value.
  private func checkScalar(_ list: Operand, against other: Operand) throws(ModelError) {
    guard list.expression.elements != nil, other.side.type != .unknown, other.side.type != .null else { return }
    throw mismatch("impossible comparison: \(phrase(other)), \(shown(list.expression)) is a list; write IN")
  }

  /// Refuses lists as elements of an IN list and as bounds of BETWEEN.
  private func checkPart(_ part: Expression, of comparison: Predicate.Comparison, left: Side) throws(ModelError) {
    guard part.elements != nil, comparison.operator == .between || left.type != .unknown else { return }
    let place = comparison.operator == .between ? "a bound of BETWEEN" : "an element of the list beside IN"
    throw mismatch("\(shown(part)) is a list, but \(place) is one value")
  }

  /// Throws for an order of objects.
  private func checkOrder(_ comparison: Predicate.Comparison, type: CheckedType) throws(ModelError) {
    guard comparison.operator != .equal, comparison.operator != .notEqual, case .object = type else { return }
    throw mismatch(
      "objects have no order: compare \(shown(comparison.left)) with = or !=, or name one of its attributes")
  }

  /// Throws for operands of a text operator that are no texts, and for invalid patterns.
  private func checkStrings(_ comparison: Predicate.Comparison, _ left: Side, _ right: Side) throws(ModelError) {
    for (expression, side) in [(comparison.left, left), (comparison.right, right)] {
      guard ![.string, .unknown, .null].contains(side.type) else { continue }
      throw mismatch("\(comparison.operator.rawValue) compares strings, but \(phrase((expression, side)))")
    }
    guard case .constant(.string(let pattern)) = comparison.right else { return }
    if comparison.operator == .like, let mistake = TextLimits.mistake(ofPattern: pattern) {
      throw mismatch("LIKE has \(mistake)")
    }
    if comparison.operator == .matches {
      do { _ = try RegularExpressionCache.shared.expression(pattern, isCaseInsensitive: false) } catch {
        throw mismatch(error.message)
      }
    }
  }

  /// An expression for a message, truncated if long.
  func shown(_ expression: Expression) -> String {
    let text = "\(expression)"
    return text.count > 80 ? "\(text.prefix(80))…" : text
  }

  /// An error with code `.predicateMismatch`.
  func mismatch(_ message: String) -> ModelError {
    ModelError(.predicateMismatch, message: message, entity: entity.name)
  }

  /// Adds a hint to an error about an unknown key on the right side, which may have been meant as text.
  private func hinting(_ error: ModelError, at right: Expression) -> ModelError {
    let words: [Expression] = if case .aggregate(let elements) = right { elements } else { [right] }
    guard let key = error.property, error.code == .predicateMismatch,
      words.contains(.keyPath(.evaluatedObject, [key]))
    else { return error }
    var error = error
    error.message += "; a text is written in quotes: '\(key)'"
    return error
  }

  // MARK: Literals

  /// Converts a literal to the type of the attribute on the other side. A literal that does not convert is unchanged
  /// and fails the type check later.
  private func convert(_ expression: Expression, for side: Side) throws(ModelError) -> Expression {
    guard let attribute = side.attribute else { return expression }
    switch expression {
    case .constant(.list(let values)):
      return .constant(.list(try values.map { value throws(ModelError) in try charged(value, for: attribute) }))
    case .constant(let value): return .constant(try charged(value, for: attribute))
    case .aggregate(let elements):
      return .aggregate(try elements.map { element throws(ModelError) in try convert(element, for: side) })
    default: return expression
    }
  }

  /// Converts a literal, and charges the work.
  private func charged(_ value: Value, for attribute: AttributeDescription) throws(ModelError) -> Value {
    let result = convert(value, for: attribute)
    try ModelError.charge(attribute.type == .decimal ? Self.decimalUnits : 1)
    return result
  }

  /// The cost charged for converting a number to a decimal, which goes through the number's digits.
  private static let decimalUnits = 8

  /// A literal in the type of an attribute, or unchanged.
  private func convert(_ value: Value, for attribute: AttributeDescription) -> Value {
    let type: CastType
    switch (attribute.type, value) {
    case (.date, .string): type = .date
    case (.uuid, .string): type = .uuid
    case (.uri, .string): type = .uri
    // Strings of a script are byte strings, which arrive as text if they are valid UTF-8.
    case (.binaryData, .string(let text)): return .data(Data(text.utf8))
    case (.decimal, .string), (.decimal, .int), (.decimal, .double): type = .decimal
    case (.float, .int), (.float, .double), (.float, .decimal): return value.inSinglePrecision
    case (.double, .decimal), (.date, .decimal): return value.asDouble.map(Value.double) ?? value
    default: return value
    }
    return type.convert(value) ?? value
  }

  // MARK: Expressions

  /// The expression with checked inner predicates.
  ///
  /// Also resolves the variables of subqueries and assignments.
  mutating func checkInside(_ expression: Expression) throws(ModelError) -> Expression {
    depth += 1
    try PredicateLimits.check(depth: depth)
    try ModelError.charge()
    defer { depth -= 1 }
    switch expression {
    case .constant(let value):
      try PredicateLimits.check(value)
      return expression
    case .evaluatedObject, .variable, .anyKey: return expression
    case .keyPath(let base, let components):
      guard components.allSatisfy({ !$0.isEmpty }), !components.isEmpty else {
        throw mismatch("a key path is empty, or has an empty key in it")
      }
      try PathResolver.check(components)
      let checked = Expression.keyPath(try checkInside(base), components)
      _ = try path(of: checked)
      return checked
    case .function(let name, let arguments):
      if let groups, let function = expression.groupFunction {
        try groups.check(function, in: self)
        return expression
      }
      let checked = try checkInside(arguments)
      try checkCall(name, arguments: checked)
      return .function(name, checked)
    case .aggregate(let elements): return .aggregate(try checkInside(elements))
    case .assignment(let name, let value):
      let checked = try checkInside(value)
      scope[name] = .some(try path(of: checked))
      return .assignment(name, checked)
    case .conditional(let condition, let then, let otherwise):
      return .conditional(try check(condition), try checkInside(then), try checkInside(otherwise))
    case .subquery(let collection, let name, let condition):
      let source = try checkInside(collection)
      var element = try path(of: source)
      if let path = element, !path.isToMany, !path.isOpaque {
        throw mismatch("SUBQUERY needs a to-many key path, but \(shown(collection)) leads to one value")
      }
      element?.isToMany = false
      let outer = scope[name]
      scope[name] = .some(element)
      defer { scope[name] = outer }
      return .subquery(source, variable: name, try check(condition))
    }
  }

  /// Checks a list of expressions.
  private mutating func checkInside(_ expressions: [Expression]) throws(ModelError) -> [Expression] {
    var result: [Expression] = []
    for expression in expressions { result.append(try checkInside(expression)) }
    return result
  }

  /// The path of an expression; nil for a value that is not reached by keys.
  func path(of expression: Expression) throws(ModelError) -> PathResolver.Path? {
    if let groups, case .keyPath(.evaluatedObject, let components) = expression {
      return try groups.path(components, in: self)
    }
    switch expression {
    case .evaluatedObject: return PathResolver.Path(end: .entity(entity))
    case .variable(let name): return scope[name] ?? nil
    case .subquery(let collection, _, _): return try path(of: collection)
    case .assignment(_, let value): return try path(of: value)
    case .keyPath(let base, let components):
      guard let start = try path(of: base) else { return nil }
      return try PathResolver(model: model).extend(start, with: components[...], whole: components)
    case .function(PredicateFunction.element.rawValue, let arguments):
      guard arguments.count == 2, var path = try path(of: arguments[0]) else { return nil }
      if case .function(PredicateFunction.size.rawValue, _) = arguments[1] { return PathResolver.Path(end: .number) }
      path.isToMany = false
      return path
    default: return nil
    }
  }

  /// The static properties of an expression.
  func side(_ expression: Expression) throws(ModelError) -> Side {
    if let column = groups?.column(expression) { return try column.side(in: self) }
    if let path = try path(of: expression) { return Side(path) }
    switch expression {
    case .constant(let value): return Side(type: CheckedType(value))
    case .function(let name, _): return Side(type: PredicateFunction(rawValue: name)?.resultType ?? .unknown)
    default: return Side(type: .unknown)
    }
  }
}

extension Value {
  /// A number rounded as a float attribute stores it, so that a search for 1.7 finds an assigned 1.7. A number that
  /// single precision would make infinite or zero is unchanged.
  fileprivate var inSinglePrecision: Value {
    guard let number = asDouble else { return self }
    let single = Double(Float(number))
    return single.isFinite && (single != 0 || number == 0) ? .double(single) : self
  }
}

extension Predicate.Comparison {
  /// `{1, 2} CONTAINS x` rewritten as `x IN {1, 2}`, which every store supports.
  fileprivate var asMembership: Self? {
    guard `operator` == .contains, modifier == .direct, left.elements != nil else { return nil }
    return Self(right, .in, left, modifier: .direct, options: options)
  }
}

extension PredicateChecker.Side {
  /// The side at the end of a path.
  fileprivate init(_ path: PathResolver.Path) {
    isToMany = path.isToMany
    switch path.end {
    case .entity(let entity): type = .object(entity.name)
    case .identity: type = .object(nil)
    case .number: type = .number
    case .unknown: type = .unknown
    case .attribute(let attribute):
      type = CheckedType(attribute)
      self.attribute = attribute
    }
  }
}

extension PathResolver.Path {
  /// Whether the type is known only at evaluation, so that the value may be a collection.
  fileprivate var isOpaque: Bool {
    switch end {
    case .unknown: true
    case .attribute(let attribute): attribute.type == .transformable || attribute.type == .undefined
    default: false
    }
  }
}

extension ResolvedModel {
  /// Checks the keys, functions and arguments of an expression over objects of an entity.
  package func checked(_ expression: Expression, from entity: ResolvedEntity) throws(ModelError) -> Expression {
    var checker = PredicateChecker(entity: entity, model: self)
    return try checker.checkInside(expression)
  }
}

extension Expression {
  /// Whether it is a constant boolean.
  fileprivate var isTruthValue: Bool { if case .constant(.bool) = self { true } else { false } }
}
