package import MoonbaseModel

package import enum MoonbaseModel.Predicate

/// What predicates can say and SQL cannot, as SQL functions that run the same code as evaluation in memory.
package enum PredicateFunctions {
  package typealias Operator = Predicate.Comparison.Operator
  package typealias Options = Predicate.Comparison.Options

  // MARK: Operators on strings

  /// An operator in the name of its function; nil for operators that SQL has itself.
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

  /// The call of an operator; nil for operators that SQL has itself.
  static func call(_ comparator: Operator, options: Options, _ left: SQLFragment, _ right: SQLFragment)
    -> SQLFragment?
  {
    word(comparator).map { "moonbase_\($0)(\(options.rawValue), " + left + ", " + right + ")" }
  }

  /// A string without the differences that the options ignore.
  static func fold(_ text: SQLFragment, options: Options) -> SQLFragment {
    "moonbase_fold(\(options.rawValue), " + text + ")"
  }

  /// The number of single precision that a column's number is read as.
  static func single(_ number: SQLFragment) -> SQLFragment { "moonbase_single(" + number + ")" }

  // MARK: Decimals

  /// What a decimal column holds, as a key.
  static func key(decimal: SQLFragment) -> SQLFragment { "moonbase_decimal(" + decimal + ")" }

  /// Any other number, as a key beside those of decimals.
  static func key(number: SQLFragment) -> SQLFragment { "moonbase_decimal_number(" + number + ")" }

  /// What a function of collections makes of decimals, given as texts with spaces between them.
  package static let decimalReduction = "moonbase_decimal_reduction"

  // MARK: Sums

  /// Adds integers of 64 bits up, as an aggregate: an integer, or for means a double where 64 bits do not hold the
  /// sum. With an input that is no integer the result is a text.
  package static let integerSum = "moonbase_sum"

  /// Fails: a column that was to be added up, whose attribute it is given, holds what is no number.
  package static let noNumber = "moonbase_no_number"

  /// Fails: 64 bits do not hold the sum of an attribute, which it is given.
  package static let sumTooLarge = "moonbase_sum_too_large"

  // MARK: Functions

  /// A function that SQL is given.
  package struct Entry: Sendable {
    package var function: PredicateFunction
    package var arity: Int
    var argument: SQLKind
    var result: SQLKind
  }

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

  package static func name(_ index: Int) -> String { "moonbase_function_\(index)" }

  /// A call of a predicate's function; nil where SQL has no such function, or the arguments are of another kind.
  static func call(_ function: PredicateFunction, arguments: [SQLTerm]) -> SQLTerm? {
    guard let index = functions.firstIndex(where: { $0.function == function }),
      functions[index].arity == arguments.count,
      arguments.allSatisfy({ $0.kind == functions[index].argument })
    else { return nil }
    let list = arguments.map(\.fragment).joined(", ")
    return SQLTerm(fragment: "\(name(index))(" + list + ")", kind: functions[index].result)
  }
}
