import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

import enum MoonbaseModel.Predicate

/// What predicates can say and SQL cannot, as SQL functions that run the same code as evaluation in memory.
enum PredicateFunctions {
  typealias Operator = Predicate.Comparison.Operator
  typealias Options = Predicate.Comparison.Options

  static func register(on connection: Connection) throws {
    for comparator in Operator.allCases {
      guard let word = word(comparator) else { continue }
      let matchers = MatcherCache(comparator)
      try register("moonbase_\(word)", arguments: 3, on: connection) { call in
        if call.isNull(1) || call.isNull(2) { return call.setNull() }
        let matcher = try matchers.matcher(
          call.text(2), options: Options(rawValue: UInt8(truncatingIfNeeded: call.integer(0))))
        let isMatch = try comparator == .matches ? matcher.matches(call.text(1)) : matches(matcher, call: call)
        call.set(Int64(isMatch ? 1 : 0))
      }
    }
    try register("moonbase_fold", arguments: 2, on: connection) { call in
      if call.isNull(1) { return call.setNull() }
      call.set(Options(rawValue: UInt8(truncatingIfNeeded: call.integer(0))).fold(call.text(1)))
    }
    try registerDecimals(on: connection)
    try ConstantList.register(on: connection)
    for (index, function) in functions.enumerated() {
      try register(name(index), arguments: Int32(function.arity), on: connection) { call in
        let arguments = (0..<function.arity).map { SQLValue.plain(call, at: $0) }
        SQLValue.set(try function.function.evaluate(arguments), on: call)
      }
    }
  }

  private static func register(
    _ name: String, arguments: Int32, on connection: Connection,
    _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) throws {
    try connection.register(function: name, arguments: arguments, traits: [.deterministic, .directOnly], body)
  }

  /// The bytes alone tell most answers; a string is made only where they do not.
  private static func matches(_ matcher: StringMatcher, call: borrowing FunctionCall) throws -> Bool {
    try call.withText(1) { matcher.matches(utf8: $0) } ?? matcher.matches(call.text(1))
  }

  // MARK: Operators on strings

  private static func word(_ comparator: Operator) -> String? {
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

  // MARK: Decimals

  private static func registerDecimals(on connection: Connection) throws {
    try register("moonbase_decimal", arguments: 1, on: connection) { call in
      setKey(call.isNull(0) ? nil : call.withText(0) { DecimalKey(text: $0) }, on: call)
    }
    try register("moonbase_decimal_number", arguments: 1, on: connection) { call in
      setKey(call.isNull(0) ? nil : DecimalKey(SQLValue.plain(call, at: 0)), on: call)
    }
  }

  private static func setKey(_ key: DecimalKey?, on call: borrowing FunctionCall) {
    if let key { call.set(key.data) } else { call.setNull() }
  }

  /// What a decimal column holds, as a key.
  static func key(decimal: SQLFragment) -> SQLFragment { "moonbase_decimal(" + decimal + ")" }

  /// Any other number, as a key beside those of decimals.
  static func key(number: SQLFragment) -> SQLFragment { "moonbase_decimal_number(" + number + ")" }

  // MARK: Functions

  private struct Entry: Sendable {
    var function: PredicateFunction
    var arity: Int
    var argument: SQLKind
    var result: SQLKind
  }

  private static let functions: [Entry] =
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

  private static func name(_ index: Int) -> String { "moonbase_function_\(index)" }

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

/// The last pattern that an operator met, prepared: within one statement it is nearly always the same.
private final class MatcherCache {
  private let comparator: PredicateFunctions.Operator
  private var known: (pattern: String, options: PredicateFunctions.Options, matcher: StringMatcher)?

  init(_ comparator: PredicateFunctions.Operator) { self.comparator = comparator }

  func matcher(_ pattern: String, options: PredicateFunctions.Options) throws -> StringMatcher {
    if let known, known.options == options, known.pattern.utf8.elementsEqual(pattern.utf8) { return known.matcher }
    let new = try StringMatcher(comparator, pattern: pattern, options: options)
    known = (pattern, options, new)
    return new
  }
}
