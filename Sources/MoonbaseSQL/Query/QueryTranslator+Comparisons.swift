import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Comparisons: operators with two terms, quantifiers, IN and BETWEEN.
extension QueryTranslator {
  /// A comparison of a predicate.
  typealias Comparison = Predicate.Comparison

  /// The condition for a comparison. Throws `Untranslatable` where SQL would give another result than memory.
  func translate(_ comparison: Comparison) throws -> SQLFragment {
    if comparison.modifier != .direct { return try quantified(comparison) }
    switch comparison.operator {
    case .in: return try membership(comparison)
    case .between: return try between(comparison)
    case .contains:
      if let path = try toManyPath(comparison.left) {
        return try exists(path, isFixed: comparison.right.isFixed) {
          try compare($0, by: .equal, to: try translate(comparison.right), options: [])
        }
      }
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .beginsWith, .endsWith,
      .like,
      .matches:
      break
    }
    let left = try translate(comparison.left)
    return try compare(left, by: comparison.operator, to: try translate(comparison.right), options: comparison.options)
  }

  // MARK: Quantifiers

  /// `ANY` becomes EXISTS. `ALL` becomes NOT EXISTS of the opposite comparison. For example, `ANY friends.age > 3`
  /// becomes `EXISTS (SELECT 1 FROM … WHERE … AND t1.ZAGE > 3)`.
  private func quantified(_ comparison: Comparison) throws -> SQLFragment {
    guard let path = try toManyPath(comparison.left) else {
      throw Untranslatable("it quantifies what is no to-many relationship")
    }
    let isAll = comparison.modifier == .all
    let found = try exists(path, isFixed: comparison.right.isFixed) { element in
      let condition = try compareElement(element, in: comparison)
      return isAll ? condition.parenthesized + " IS NOT TRUE" : condition
    }
    return isAll ? "NOT " + found : found
  }

  /// The condition on one destination within a quantifier.
  private func compareElement(_ element: SQLTerm, in comparison: Comparison) throws -> SQLFragment {
    switch comparison.operator {
    case .in: try membership(element, in: comparison.right, options: comparison.options)
    case .between: try between(element, bounds: comparison.right)
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .contains, .beginsWith,
      .endsWith, .like, .matches:
      try compare(element, by: comparison.operator, to: try translate(comparison.right), options: comparison.options)
    }
  }

  // MARK: Two terms

  /// The kinds of both sides decide: objects, decimals, numbers of single precision, texts with options, and plain
  /// values have rules of their own. A comparison with NULL becomes `IS NULL`.
  func compare(
    _ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm, options: Comparison.Options
  ) throws -> SQLFragment {
    if left.kind == .null || right.kind == .null { return try compareWithNull(left, by: comparator, to: right) }
    switch comparator {
    case .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual:
      if case .object = left.kind { return try compareObjects(left, by: comparator, to: right) }
      guard left.kind.compares(with: right.kind) else { throw Untranslatable("it compares values of different kinds") }
      if left.kind == .decimal || right.kind == .decimal { return try compareDecimals(left, by: comparator, to: right) }
      if dialect.arithmetic == .checked, left.kind.isNumeric {
        return try compareLevelled(left, by: comparator, to: right)
      }
      if left.isSingle || right.isSingle { return try compareSingles(left, by: comparator, to: right) }
      var sides = try [left, right].map { $0.kind == .string ? try fold($0.fragment, options: options) : $0.fragment }
      let isOrder = comparator != .equal && comparator != .notEqual
      if left.kind == .string, isOrder { sides[0] = dialect.ordered(sides[0]) }
      return sides[0] + " \(comparator.sql) " + sides[1]
    case .contains, .beginsWith, .endsWith, .like, .matches:
      return try match(left, by: comparator, to: right, options: options)
    case .in, .between: throw Untranslatable("it lists or brackets within a comparison")
    }
  }

  /// Compares a single-precision column with a constant by the range of numbers that are read as the constant, so that
  /// an index may serve. A Float column may hold doubles, which memory rounds to single precision. Several doubles
  /// therefore equal one constant.
  private func compareSingles(_ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm) throws
    -> SQLFragment
  {
    if left.isSingle, let range = right.constant?.asDouble.flatMap(Single.range) {
      return Self.compare(left.fragment, by: comparator, to: range)
    }
    if right.isSingle, let range = left.constant?.asDouble.flatMap(Single.range) {
      return Self.compare(right.fragment, by: comparator.mirrored, to: range)
    }
    if left.constant != nil || right.constant != nil {
      return left.fragment + " \(comparator.sql) " + right.fragment
    }
    return try narrowed(left) + " \(comparator.sql) " + narrowed(right)
  }

  /// The condition that a column is in the given relation to every number of a range.
  static func compare(
    _ column: SQLFragment, by comparator: Comparison.Operator, to range: ClosedRange<Double>
  ) -> SQLFragment {
    let (lower, upper) = (Value.double(range.lowerBound), Value.double(range.upperBound))
    return switch comparator {
    case .equal: column + SQLFragment(" BETWEEN ? AND ?", values: [lower, upper])
    case .notEqual: column + SQLFragment(" NOT BETWEEN ? AND ?", values: [lower, upper])
    case .lessThan: column + SQLFragment(" < ?", values: [lower])
    case .lessThanOrEqual: column + SQLFragment(" <= ?", values: [upper])
    case .greaterThan: column + SQLFragment(" > ?", values: [upper])
    default: column + SQLFragment(" >= ?", values: [lower])
    }
  }

  /// A column's number as single precision. Throws `Untranslatable` where statements cannot call functions.
  func narrowed(_ term: SQLTerm) throws -> SQLFragment {
    guard term.isSingle else { return term.fragment }
    try needFunctions("comparing numbers of single precision")
    return PredicateFunctions.single(term.fragment)
  }

  /// The text itself without options.
  func fold(_ text: SQLFragment, options: Comparison.Options) throws -> SQLFragment {
    if options.isEmpty { return text }
    try needFunctions("comparing texts in another way than by their characters")
    return PredicateFunctions.fold(text, options: options)
  }

  /// Throws where statements cannot call functions of this process. Throws `Untranslatable`. `what` is the start of the
  /// reason.
  func needFunctions(_ what: String) throws {
    guard dialect.matching == .functions else { throw Untranslatable("\(what) is not left to \(dialect.engine)") }
  }

  /// Equality tests the stored column, so that a decimal needs no key. An order with NULL is left to memory.
  private func compareWithNull(_ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm) throws
    -> SQLFragment
  {
    let other = left.kind == .null ? right : left
    let tested = other.stored ?? other.fragment
    return switch comparator {
    case .equal: tested + " IS NULL"
    case .notEqual: tested + " IS NOT NULL"
    default: throw Untranslatable("it orders a missing value")
    }
  }

  /// Relationships compare with NULL as plain values. Keys of different tables are never equal. The keys of `Z_PK` are
  /// compared. Objects of different tables, and orders of objects, are left to memory.
  private func compareObjects(_ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm) throws
    -> SQLFragment
  {
    guard case .object(let one) = left.kind, case .object(let other) = right.kind else {
      throw Untranslatable("it compares an object with a value")
    }
    let isSameTable = layout.model.entities[one].root == layout.model.entities[other].root
    guard isSameTable else { throw Untranslatable("it compares objects of different tables") }
    let isPresent = left.isPresent && right.isPresent
    if comparator == .equal, !isPresent, right.isPresent, !dialect.findsMissing {
      return (left.fragment + " = " + right.fragment + " AND " + left.fragment + " IS NOT NULL").parenthesized
    }
    return switch comparator {
    case .equal: left.fragment + (isPresent ? " = " : " \(dialect.nullSafe.equal) ") + right.fragment
    case .notEqual: left.fragment + (isPresent ? " <> " : " \(dialect.nullSafe.distinct) ") + right.fragment
    default: throw Untranslatable("it orders objects")
    }
  }

  /// String operators, evaluated by the same code as in memory. `BEGINSWITH` with a constant prefix is preceded by a
  /// range, so that an index may serve.
  private func match(
    _ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm, options: Comparison.Options
  ) throws -> SQLFragment {
    guard left.kind == .string, right.kind == .string else {
      throw Untranslatable("it looks into something that is no text")
    }
    try needFunctions(comparator.rawValue)
    guard let call = PredicateFunctions.call(comparator, options: options, left.fragment, right.fragment) else {
      throw Untranslatable("\(dialect.engine) has no \(comparator.rawValue) as the one in memory")
    }
    guard comparator == .beginsWith, options.isSubset(of: .normalized), case .string(let prefix)? = right.constant,
      let range = PrefixRange(prefix)
    else { return call }
    return range.condition(dialect.ordered(left.fragment)) + " AND " + call
  }

  /// Decimals compare by their keys. With a constant, a condition on the column itself comes first, for which an index
  /// may serve. It selects numbers near the constant, and texts and blobs, which sort after all numbers.
  private func compareDecimals(_ left: SQLTerm, by comparator: Comparison.Operator, to right: SQLTerm) throws
    -> SQLFragment
  {
    if dialect.decimals == .exact { return try left.exact + " \(comparator.sql) " + right.exact }
    let exact = left.asDecimal.fragment + " \(comparator.sql) " + right.asDecimal.fragment
    guard let stored = left.stored, let number = right.constant?.asDouble, number.isFinite,
      let near = Self.near(stored, by: comparator, to: number)
    else { return exact }
    return near.parenthesized + " AND " + exact
  }

  /// The condition for values of a decimal column that may satisfy a comparison. Nil where any value may. The tolerance
  /// covers the rounding of decimals that are stored as doubles.
  private static func near(_ column: SQLFragment, by comparator: Comparison.Operator, to number: Double) -> SQLFragment?
  {
    let (lower, upper) = (Value.double(number - abs(number) * 1e-12), Value.double(number + abs(number) * 1e-12))
    let text = SQLFragment(" OR ") + column + " >= ''"
    return switch comparator {
    case .equal: column + SQLFragment(" BETWEEN ? AND ?", values: [lower, upper]) + text
    case .greaterThan, .greaterThanOrEqual: column + SQLFragment(" >= ?", values: [lower])
    case .lessThan, .lessThanOrEqual: column + SQLFragment(" <= ?", values: [upper]) + text
    default: nil
    }
  }

  // MARK: IN and BETWEEN

  /// `x IN friends` becomes EXISTS, a list of constants becomes a single parameter.
  private func membership(_ comparison: Comparison) throws -> SQLFragment {
    if let path = try toManyPath(comparison.right) {
      let left = try translate(comparison.left)
      return try exists(path, isFixed: comparison.left.isFixed) {
        try compare($0, by: .equal, to: left, options: comparison.options)
      }
    }
    return try membership(try translate(comparison.left), in: comparison.right, options: comparison.options)
  }

  /// A null in the list means `OR x IS NULL`, since `NULL IN (…)` is unknown in SQL.
  private func membership(_ left: SQLTerm, in right: Expression, options: Comparison.Options) throws -> SQLFragment {
    let elements = try elements(of: right)
    let hasNull = elements.contains { $0.kind == .null }
    let values = elements.filter { $0.kind != .null }
    var found = try list(left, in: values, options: options)
    if hasNull { found = found.parenthesized + " OR " + (left.stored ?? left.fragment) + " IS NULL" }
    return hasNull ? found.parenthesized : found
  }

  /// The condition for elements without null. All constants of a kind are bound as one list; computed elements become
  /// ORs.
  private func list(_ left: SQLTerm, in values: [SQLTerm], options: Comparison.Options) throws -> SQLFragment {
    if case .object = left.kind { return try objects(left, in: values) }
    guard left.kind != .opaque, values.allSatisfy({ left.kind.compares(with: $0.kind) }) else {
      throw Untranslatable("it lists values of different kinds")
    }
    if values.isEmpty { return SQLFragment(dialect.truth(false)) }
    if !values.allSatisfy({ $0.constant != nil }) {
      return try values.map { try compare(left, by: .equal, to: $0, options: options) }.combined("OR").parenthesized
    }
    if left.kind == .decimal || values.contains(where: { $0.kind == .decimal }) {
      if dialect.decimals == .exact {
        return dialect.membership(try left.exact, in: try values.flatMap { try $0.exact.values })
      }
      return dialect.membership(left.asDecimal.fragment, in: values.flatMap(\.asDecimal.fragment.values))
    }
    if dialect.arithmetic == .checked, left.kind.isNumeric { return try levelledList(left, in: values) }
    if left.isSingle {
      return dialect.membership(try narrowed(left), in: values.flatMap(\.fragment.values))
    }
    guard left.kind == .string, !options.isEmpty else {
      // The column's affinity would round an integer to a floating-point number.
      let column =
        left.isReal && values.contains { !$0.isExactDouble } ? dialect.withoutIndex + left.fragment : left.fragment
      return dialect.membership(column, in: values.flatMap(\.fragment.values))
    }
    let folded = values.flatMap(\.fragment.values).map { value in
      if case .string(let text) = value { Value.string(options.fold(text)) } else { value }
    }
    return dialect.membership(try fold(left.fragment, options: options), in: folded)
  }

  /// Leaves out objects of other tables, whose keys are never equal. An empty rest is false. Unsaved objects have a key
  /// that no row has.
  private func objects(_ left: SQLTerm, in values: [SQLTerm]) throws -> SQLFragment {
    guard case .object(let entity) = left.kind else { throw Untranslatable("it looks for values among objects") }
    var keys: [SQLTerm] = []
    for value in values {
      guard case .object(let other) = value.kind else { throw Untranslatable("it looks for an object among values") }
      if layout.model.entities[entity].root == layout.model.entities[other].root { keys.append(value) }
    }
    if keys.isEmpty { return SQLFragment(dialect.truth(false)) }
    let isConstant = keys.allSatisfy { $0.constant != nil }
    let found =
      isConstant
      ? dialect.membership(left.fragment, in: keys.flatMap(\.fragment.values))
      : left.fragment + " IN (" + keys.map(\.fragment).joined(", ") + ")"
    return left.isPresent ? found : (found + " AND " + left.fragment + " IS NOT NULL").parenthesized
  }

  /// `BETWEEN` with two bounds, inclusive.
  private func between(_ comparison: Comparison) throws -> SQLFragment {
    try between(try translate(comparison.left), bounds: comparison.right)
  }

  /// Decimals and numbers of single precision become two comparisons.
  private func between(_ left: SQLTerm, bounds right: Expression) throws -> SQLFragment {
    let bounds = try elements(of: right)
    guard bounds.count == 2, bounds.allSatisfy({ left.kind.compares(with: $0.kind) }) else {
      throw Untranslatable("it has no two bounds of one kind")
    }
    if left.kind == .decimal || bounds.contains(where: { $0.kind == .decimal }) {
      let lower = try compareDecimals(left, by: .greaterThanOrEqual, to: bounds[0])
      return lower + " AND " + (try compareDecimals(left, by: .lessThanOrEqual, to: bounds[1]))
    }
    if dialect.arithmetic == .checked, left.kind.isNumeric {
      let lower = try compareLevelled(left, by: .greaterThanOrEqual, to: bounds[0])
      return lower + " AND " + (try compareLevelled(left, by: .lessThanOrEqual, to: bounds[1]))
    }
    if left.isSingle || bounds.contains(where: \.isSingle) {
      let lower = try compareSingles(left, by: .greaterThanOrEqual, to: bounds[0])
      return lower + " AND " + (try compareSingles(left, by: .lessThanOrEqual, to: bounds[1]))
    }
    let tested = left.kind == .string ? dialect.ordered(left.fragment) : left.fragment
    return tested + " BETWEEN " + bounds[0].fragment + " AND " + bounds[1].fragment
  }

  /// The terms of a list. A computed list is left to memory.
  private func elements(of expression: Expression) throws -> [SQLTerm] {
    switch expression {
    case .aggregate(let elements): try elements.map { try translate($0) }
    case .constant(.list(let values)): try values.map { try constant($0) }
    default: throw Untranslatable("the list is computed")
    }
  }
}

extension Expression {
  /// Whether the value is the same for all rows.
  fileprivate var isFixed: Bool {
    switch self {
    case .constant: true
    case .aggregate(let elements): elements.allSatisfy(\.isFixed)
    case .function(_, let arguments): arguments.allSatisfy(\.isFixed)
    case .keyPath, .evaluatedObject, .variable, .subquery, .conditional, .assignment, .anyKey: false
    }
  }
}

extension SQLTerm {
  /// A number that the engine compares with decimals exactly.
  fileprivate var exact: SQLFragment {
    get throws {
      if let constant { return SQLFragment("?", values: [try constant.exactDecimal]) }
      if isReal || !(kind == .decimal || isInteger) {
        throw Untranslatable("it compares decimals with floating-point numbers")
      }
      return stored ?? fragment
    }
  }

  /// Whether the constant is exactly representable as a floating-point number.
  fileprivate var isExactDouble: Bool {
    if case .int(let number)? = constant { Int64(exactly: Double(number)) == number } else { true }
  }
}

/// As SQL writes it.
extension Predicate.Comparison.Operator {
  /// The operator in SQL.
  var sql: String {
    switch self {
    case .equal: "="
    case .notEqual: "<>"
    default: rawValue
    }
  }
}
