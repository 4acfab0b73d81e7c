import MoonbaseModel
import MoonbasePlatform
import Testing

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// The lists of the predicate language, word by word: each name in Core Data's documentation is supported, or refused
/// with a reason.
@Suite struct LanguageTests {
  private static let reserved = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE",
    "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TRUEPREDICATE", "FALSEPREDICATE",
  ]

  @Test(arguments: reserved, [true, false])
  func aReservedWordIsAKeyBehindASharp(word: String, isUpper: Bool) throws {
    let word = isUpper ? word : word.lowercased()
    for text in ["#\(word) == 5", "a.#\(word) == 5", "#\"\(word)\" == 5", "ANY a.#\(word).b == 5"] {
      let predicate = try Predicate(format: text)
      #expect(predicate.keyPaths.first?.contains(word) == true, "\(text)")
      #expect(predicate.description.contains("#\(word)"), "\(predicate)")
      #expect(try Predicate(format: predicate.description) == predicate)
    }
    // SELF means the object itself, also as an argument.
    if word.uppercased() == "SELF" { return }
    let argument = try Predicate(format: "%K == 5", .string(word))
    #expect(argument.keyPaths == [[word]])
    #expect(try Predicate(format: argument.description) == argument)
    #expect(try argument.evaluate(with: [word: 5]))
  }

  private static let unary = [
    "sqrt:", "log:", "ln:", "exp:", "floor:", "ceiling:", "abs:", "trunc:", "uppercase:", "lowercase:", "canonical:",
    "noindex:", "random:", "onesComplement:", "sum:", "count:", "min:", "max:", "average:", "median:", "mode:",
    "stddev:",
  ]
  private static let binary = [
    "add:to:", "from:subtract:", "multiply:by:", "divide:by:", "modulus:by:", "raise:toPower:", "bitwiseAnd:with:",
    "bitwiseOr:with:", "bitwiseXor:with:", "leftshift:by:", "rightshift:by:", "castObject:toType:",
    "objectFrom:withIndex:",
  ]

  @Test(arguments: unary.map { ($0, 1) } + binary.map { ($0, 2) } + [("now", 0), ("random", 0)])
  func aFunctionIsWrittenByItsNameAndByFunction(name: String, count: Int) throws {
    let arguments = name == "castObject:toType:" ? ["a", "'NSString'"] : ["a", "b"]
    let list = arguments.prefix(count).joined(separator: ", ")
    let called = try Expression(format: "\(name)(\(list))")
    guard case .function(let found, let given) = called else {
      Issue.record("\(called) is no function")
      return
    }
    #expect(found == name && given.count == count)
    #expect(try Expression(format: called.description) == called)
    #expect(try Expression(format: "\(name.uppercased())(\(list))") == called)
    if count > 0 {
      #expect(
        try Expression(format: "FUNCTION(\(arguments[0]), '\(name)'\(count > 1 ? ", \(arguments[1])" : ""))") == called)
    }
  }

  private static let operators: [Predicate.Comparison.Operator] = [
    .equal, .notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual, .in, .contains, .beginsWith,
    .endsWith, .like, .matches,
  ]

  /// Each operator accepts each option in any order and case, prints it uniformly, and applies it.
  @Test(arguments: operators)
  func everyOperatorTakesEveryOption(_ comparator: Predicate.Comparison.Operator) throws {
    for bits in 1..<16 {
      let letters = zip("cdnl", [1, 2, 4, 8]).filter { bits & $1 != 0 }.map { String($0.0) }
      let expected = Predicate.comparison(
        .init(
          .keyPath("name"), comparator, comparator == .in ? .aggregate([.constant("ZOÉ")]) : .constant("ZOÉ"),
          options: .init(rawValue: UInt8(bits))))
      let right = comparator == .in ? "{'ZOÉ'}" : "'ZOÉ'"
      for option in [letters.joined(), letters.reversed().joined(), letters.joined().uppercased()] {
        #expect(try Predicate(format: "name \(comparator.rawValue)[\(option)] \(right)") == expected)
        #expect(try Predicate(format: "name \(comparator.rawValue) [\(option)] \(right)") == expected)
      }
      #expect(try Predicate(format: expected.description) == expected)
      guard ![.notEqual, .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual].contains(comparator) else {
        continue
      }
      // Only both options together match "zoe" with "ZOÉ"; for [l] the machine's locale decides, which knows these
      // letters.
      #expect(try expected.evaluate(with: ["name": "zoe"]) == (bits & 3 == 3), "\(expected)")
      #expect(try expected.evaluate(with: ["name": "zoé"]) == (bits & 1 == 1), "\(expected)")
      #expect(try expected.evaluate(with: ["name": "ZOE"]) == (bits & 2 == 2), "\(expected)")
    }
  }

  private static let placements: [(String, [Value], String)] = [
    ("%K == %@", ["a.b", 5], "a.b == 5"), ("%K.%K == %d", ["a", "b", 5], "a.b == 5"),
    ("a.%K > %i", ["b.c", 5], "a.b.c > 5"), ("%@ == %K", [5, "a"], "5 == a"), ("%K[%d] == 1", ["a", 2], "a[2] == 1"),
    ("ANY %K.%K IN %@", ["a", "b", [1, 2]], "ANY a.b IN {1, 2}"), ("a IN {%@, %@}", [1, "x"], #"a IN {1, "x"}"#),
    ("a BETWEEN %@", [[1, 2]], "a BETWEEN {1, 2}"), ("%@ IN %@", ["x", ["x"]], #""x" IN {"x"}"#),
    ("SUBQUERY(%K, $x, $x.%K == %@).@count > %d", ["a", "b", "c", 0], #"SUBQUERY(a, $x, $x.b == "c").@count > 0"#),
    ("%K.@count == %u", ["a", 3], "a.@count == 3"), ("a.@sum.%K == 1", ["b"], "a.@sum.b == 1"),
    ("uppercase(%K) == %@", ["in", "A"], #"uppercase:(#in) == "A""#), ("%d + %d == %f", [1, 2, 3], "1 + 2 == 3.0"),
    ("%K == NULL", ["two words"], ##"#"two words" == NULL"##),
    ("TERNARY(%K == 1, %@, %@) == 2", ["a", 1, 2], "TERNARY(a == 1, 1, 2) == 2"),
    ("a == '%@' AND b == \"%K\"", [], #"a == "%@" AND b == "%K""#), ("a %% 2 == %d", [1], "modulus:by:(a, 2) == 1"),
    ("a == %x", [255], "a == 255"), ("a == %ld AND b == %lld", [1, 2], "a == 1 AND b == 2"),
    ("a == %@", [.null], "a == NULL"),
    ("a ==[c] %@", ["x"], #"a ==[c] "x""#), ("CAST(%@, %@) == a", [5, "NSString"], #"CAST(5, "NSString") == a"#),
    ("$v == %@ AND $v.%K == 1", [1, "a"], "$v == 1 AND $v.a == 1"), ("-%d == a", [5], "0 - 5 == a"),
    ("FUNCTION(%K, %@) == 1", ["a", "length"], #"FUNCTION(a, "length") == 1"#),
  ]

  /// Placeholders are allowed for every operand, key, index and list.
  @Test(arguments: placements)
  func placeholdersStandAnywhere(text: String, arguments: [Value], expected: String) throws {
    let predicate = try Predicate(format: text, arguments: arguments)
    #expect(predicate.description == expected)
    #expect(try Predicate(format: expected).description == expected)
  }

  private static let misplaced: [(String, [Value])] = [
    ("a == %d", [Value.string("x")]), ("%K == 1", [5]), ("%K == 1", [""]), ("%K == 1", ["a..b"]), ("a == 1", [5]),
    ("a == %@", [1, 2]), ("%@ %@", [1, 2]), ("a %@ 1", ["=="]), ("$%@ == 1", ["v"]),
    ("SUBQUERY(a, %@, TRUEPREDICATE).@count > 0", ["$x"]),
    ("%", []), ("%K", ["a"]),
  ]

  @Test(arguments: misplaced)
  func misplacedArgumentsAreErrors(text: String, arguments: [Value]) {
    let error = #expect(throws: ModelError.self) { try Predicate(format: text, arguments: arguments) }
    #expect(error?.code == .invalidPredicate)
    #expect(error?.message.isEmpty == false)
  }
}
