import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

import enum MoonbaseModel.Predicate

/// String operators and functions of predicates as SQL functions.
enum StringFunctions {
  typealias Operator = Predicate.Comparison.Operator
  typealias Options = Predicate.Comparison.Options

  /// The call of an operator, its options first; nil for operators on lists.
  static func call(_ comparator: Operator, _ options: Options, _ left: SQLFragment, _ right: SQLFragment)
    -> SQLFragment?
  {
    word(comparator).map { "moonbase_\($0)(\(options.rawValue), " + left + ", " + right + ")" }
  }

  static func name(transforming function: String) -> String { "moonbase_\(function.dropLast())" }

  private static func word(_ comparator: Operator) -> String? {
    switch comparator {
    case .equal: "equal"
    case .notEqual: "differs"
    case .lessThan: "less"
    case .lessThanOrEqual: "less_or_equal"
    case .greaterThan: "greater"
    case .greaterThanOrEqual: "greater_or_equal"
    case .contains: "contains"
    case .beginsWith: "begins"
    case .endsWith: "ends"
    case .like: "like"
    case .matches: "matches"
    case .in, .between: nil
    }
  }

  static func register(on connection: Connection) throws {
    for comparator in Operator.allCases {
      guard let word = word(comparator) else { continue }
      try connection.register(function: "moonbase_\(word)", arguments: 3, traits: [.deterministic, .directOnly]) {
        call in
        if call.isNull(1) || call.isNull(2) { return call.setNull() }
        let options = Options(rawValue: UInt8(truncatingIfNeeded: call.integer(0)))
        let holds = try StringMatch.holds(call.text(1), comparator, call.text(2), options)
        call.set(Int64(holds ? 1 : 0))
      }
    }
    try register("uppercase:", on: connection) { $0.uppercased() }
    try register("lowercase:", on: connection) { $0.lowercased() }
    try register("canonical:", on: connection) {
      $0.folding(options: [.caseInsensitive, .diacriticInsensitive], locale: nil)
    }
  }

  private static func register(
    _ function: String, on connection: Connection, _ transform: @escaping (String) -> String
  ) throws {
    try connection.register(
      function: name(transforming: function), arguments: 1, traits: [.deterministic, .directOnly]
    ) { call in
      if call.isNull(0) { return call.setNull() }
      call.set(transform(call.text(0)))
    }
  }
}
