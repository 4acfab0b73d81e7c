import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Predicates that SQLite cannot evaluate by itself call these functions. They use the same code as the evaluation in
/// memory, so that a fetch gives the same objects either way.
extension PredicateFunctions {
  /// Registers all functions on a connection. Each operator gets a cache of its own, so that connections share nothing.
  package static func register(on connection: Connection) throws {
    for comparator in Operator.allCases {
      guard let word = word(comparator) else { continue }
      let matchers = MatcherCache(comparator)
      try register("moonbase_\(word)", arguments: 3, on: connection) { call in
        if call.isNull(1) || call.isNull(2) { return call.setNull() }
        let matcher = try call.prepared(2) {
          try matchers.matcher(
            call.text(2), options: Options(rawValue: UInt8(truncatingIfNeeded: call.integer(0))))
        }.matcher
        let isMatch = try comparator == .matches ? matcher.matches(call.text(1)) : matches(matcher, call: call)
        call.set(Int64(isMatch ? 1 : 0))
      }
    }
    try register("moonbase_fold", arguments: 2, on: connection) { call in
      if call.isNull(1) { return call.setNull() }
      call.set(Options(rawValue: UInt8(truncatingIfNeeded: call.integer(0))).fold(call.text(1)))
    }
    try register("moonbase_single", arguments: 1, on: connection) { call in
      if call.isNull(0) { call.setNull() } else { call.set(Single.value(of: call.double(0))) }
    }
    try connection.registerIntegerSum(integerSum)
    try register(noNumber, arguments: 1, on: connection) { call in
      throw GraphError(
        .invalidStore,
        message:
          "\(call.text(0)) was to be added up, and a row holds in its column what is no number: `moonbase doctor` names the rows"
      )
    }
    try register(sumTooLarge, arguments: 1, on: connection) { call in throw ModelError.sumTooLarge(of: call.text(0)) }
    try registerDecimals(on: connection)
    try ConstantList.register(on: connection)
    for (index, function) in functions.enumerated() {
      try register(name(index), arguments: Int32(function.arity), on: connection) { call in
        let arguments = (0..<function.arity).map { SQLValue.plain(call, at: $0) }
        SQLValue.set(try function.function.evaluate(arguments), on: call)
      }
    }
  }

  /// The functions are deterministic, and not callable from the schema of a file.
  private static func register(
    _ name: String, arguments: Int32, on connection: Connection,
    _ body: @escaping (borrowing FunctionCall) throws -> Void
  ) throws {
    try connection.register(function: name, arguments: arguments, traits: [.deterministic, .directOnly], body)
  }

  /// Most matches are decided on the bytes. A string is made only for the others. Throws the limits of a script's run.
  private static func matches(_ matcher: StringMatcher, call: borrowing FunctionCall) throws -> Bool {
    try call.withText(1) { matcher.matches(utf8: $0) } ?? matcher.matches(call.text(1))
  }

  /// The keys that order decimal numbers, and the sums and averages of decimals.
  private static func registerDecimals(on connection: Connection) throws {
    try register("moonbase_decimal", arguments: 1, on: connection) { call in
      setKey(call.isNull(0) ? nil : call.withText(0) { DecimalKey(text: $0) }, on: call)
    }
    try register("moonbase_decimal_number", arguments: 1, on: connection) { call in
      setKey(call.isNull(0) ? nil : DecimalKey(SQLValue.plain(call, at: 0)), on: call)
    }
    try register(decimalReduction, arguments: 2, on: connection) { call in
      let numbers = call.text(1).split(separator: " ").map { ColumnDecoder.decimal(String($0)) }
      switch try PredicateFunction(rawValue: call.text(0))?.evaluate([.list(numbers)]) {
      case .decimal(let decimal)?: SQLValue.set(StoredDecimal(decimal), on: call)
      case let value?: SQLValue.set(value, on: call)
      case nil: call.setNull()
      }
    }
  }

  /// NULL for no key.
  private static func setKey(_ key: DecimalKey?, on call: borrowing FunctionCall) {
    if let key { call.set(key.data) } else { call.setNull() }
  }
}

/// The last pattern of an operator, prepared. Patterns from rows often repeat in succession.
///
/// Belongs to one function on one connection.
private final class MatcherCache {
  /// The operator, such as `CONTAINS`.
  private let comparator: PredicateFunctions.Operator
  /// The last pattern with its options.
  private var known: PreparedMatcher?

  /// Nothing is prepared yet.
  init(_ comparator: PredicateFunctions.Operator) { self.comparator = comparator }

  /// Charges the work of the pattern to a running script. Throws for an invalid regular expression.
  func matcher(_ pattern: String, options: PredicateFunctions.Options) throws -> PreparedMatcher {
    try HostWork.charge(1 &+ pattern.utf8.count >> 6)
    if let known, known.options == options, known.pattern.utf8.elementsEqual(pattern.utf8) { return known }
    let matcher = try StringMatcher(comparator, pattern: pattern, options: options)
    let new = PreparedMatcher(pattern: pattern, options: options, matcher: matcher)
    known = new
    return new
  }
}

/// A prepared pattern, which SQLite keeps with its statement.
///
/// Immutable. SQLite keeps it while the argument stays constant.
private final class PreparedMatcher {
  /// The source of the pattern.
  let pattern: String
  /// Letter case and diacritics.
  let options: PredicateFunctions.Options
  /// The compiled pattern.
  let matcher: StringMatcher

  init(pattern: String, options: PredicateFunctions.Options, matcher: StringMatcher) {
    (self.pattern, self.options, self.matcher) = (pattern, options, matcher)
  }
}
