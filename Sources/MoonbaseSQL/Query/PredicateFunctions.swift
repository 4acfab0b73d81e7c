package import MoonbaseModel

package import enum MoonbaseModel.Predicate

/// SQL functions for operators and functions of predicates that SQL lacks. They run the same code as evaluation in
/// memory.
///
/// The store registers these functions with each connection. A dialect without functions (`Dialect.Matching.cannot`)
/// leaves such predicates to memory.
package enum PredicateFunctions {
  /// The operators of comparisons.
  package typealias Operator = Predicate.Comparison.Operator
  /// Case, diacritics, normalization and locale, as `[cd]` writes them.
  package typealias Options = Predicate.Comparison.Options

  // MARK: Operators on strings

  /// The name of an operator within its function's name. Nil for operators of SQL.
  package static func word(_ comparator: Operator) -> String? {
    switch comparator {
    case .contains: "contains"
    case .beginsWith: "begins"
    case .endsWith: "ends"
    case .like: "like"
    case .matches: "matches"
    default: nil
    }
  }

  /// The call of an operator. Nil for operators of SQL. For example `moonbase_contains(1, t0.ZNAME, ?)`, where 1 is the
  /// raw value of the options.
  static func call(_ comparator: Operator, options: Options, _ left: SQLFragment, _ right: SQLFragment)
    -> SQLFragment?
  {
    word(comparator).map { "moonbase_\($0)(\(options.rawValue), " + left + ", " + right + ")" }
  }

  /// A string without the differences that the options ignore. Equality with options compares folded strings.
  static func fold(_ text: SQLFragment, options: Options) -> SQLFragment {
    "moonbase_fold(\(options.rawValue), " + text + ")"
  }

  /// The single-precision value of a column's number. A column of type Float may hold a double, which memory reads as a
  /// float.
  static func single(_ number: SQLFragment) -> SQLFragment { "moonbase_single(" + number + ")" }

  // MARK: Decimals

  /// The key of a decimal column's value.
  static func key(decimal: SQLFragment) -> SQLFragment { "moonbase_decimal(" + decimal + ")" }

  /// The key of another number, comparable with those of decimals.
  static func key(number: SQLFragment) -> SQLFragment { "moonbase_decimal_number(" + number + ")" }

  /// The function that aggregates decimals, given as texts separated by spaces. Returns the least, the greatest, the
  /// sum or the mean.
  package static let decimalReduction = "moonbase_decimal_reduction"

  // MARK: Sums

  /// The aggregate that adds 64-bit integers. The result is an integer, or a double for a mean whose sum exceeds 64
  /// bits. With an input that is no integer the result is a text.
  package static let integerSum = "moonbase_sum"

  /// The function that fails because a column to be summed holds a value that is no number. The argument is the
  /// attribute.
  package static let noNumber = "moonbase_no_number"

  /// The function that fails because a sum exceeds 64 bits. The argument is the attribute.
  package static let sumTooLarge = "moonbase_sum_too_large"

  // MARK: Functions

  /// A function of predicates that is registered with SQL. The name in SQL is `name(_:)` of the entry's index.
  package struct Entry: Sendable {
    package var function: PredicateFunction
    /// The number of arguments.
    package var arity: Int
    /// The kind that all arguments have.
    var argument: SQLKind
    /// The kind of the result.
    var result: SQLKind
  }

  /// The functions that are registered with SQL. Arithmetic is not among them, because SQL has it. The order determines
  /// the names.
  package static let functions: [Entry] =
    [
      PredicateFunction.absolute, .floor, .ceiling, .truncate, .squareRoot, .logarithm, .naturalLogarithm, .exponential,
      .onesComplement,
    ]
    .map { Entry(function: $0, arity: 1, argument: .number, result: .number) }
    + [PredicateFunction.modulus, .power, .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift]
    .map { Entry(function: $0, arity: 2, argument: .number, result: .number) }
    + [PredicateFunction.uppercase, .lowercase, .canonical, .uppercaseString, .lowercaseString]
    .map { Entry(function: $0, arity: 1, argument: .string, result: .string) }
    + [Entry(function: .length, arity: 1, argument: .string, result: .number)]

  /// The SQL name of the function with an index in `functions`.
  package static func name(_ index: Int) -> String { "moonbase_function_\(index)" }

  /// The call of a predicate function. Nil where SQL has no such function, or for arguments of another kind. Throws
  /// nothing: nil makes the caller report the function as untranslatable.
  static func call(_ function: PredicateFunction, arguments: [SQLTerm]) -> SQLTerm? {
    guard let index = functions.firstIndex(where: { $0.function == function }),
      functions[index].arity == arguments.count,
      arguments.allSatisfy({ $0.kind == functions[index].argument })
    else { return nil }
    let list = arguments.map(\.fragment).joined(", ")
    return SQLTerm(fragment: "\(name(index))(" + list + ")", kind: functions[index].result)
  }
}
