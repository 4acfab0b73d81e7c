import MoonbaseModel
import MoonbaseTestSupport

extension FuzzTarget {
  /// Predicate text: refused, or printed, parsed again and evaluated.
  static let predicate = FuzzTarget(
    name: "predicate", seeds: predicateSeeds, words: predicateWords, body: PredicateFuzzing.run)

  private static let predicateSeeds = [
    #"age >= 100 AND age <= 200 AND name CONTAINS[cd] "é""#,
    #"ANY children.age > 5 OR NOT name IN {"a", 'b', 1.5, NULL, %@}"#,
    "SUBQUERY(children, $x, $x.age BETWEEN {1, 2}).@count > 0",
    #"TERNARY(a == 1, CAST("2001-01-01", "NSDate"), b[FIRST]) != now() + 5 ** -2"#,
    #"name MATCHES "[a-z]+\d" && FUNCTION(name, "length") > uppercase(b) || #in.#size == 0x1F"#,
    #"NONE c.@max.d LIKE[c] "*?" and %K == %d"#, "$v := (1, 2) == {-a, - 5}",
  ].map { Array($0.utf8) }

  private static let predicateWords = [
    "AND", "OR", "NOT", "ANY", "ALL", "NONE", "SELF", "NULL", "BETWEEN", "IN", "LIKE", "MATCHES", "[cd]", "%@", "%K",
    "%d",
    "SUBQUERY(", "TERNARY(", "CAST(", "FUNCTION(", ".@count", "$x", "#", "\\u00e9", "{", "}", "(", ")", "**", ":=",
    "[LAST]",
    "9223372036854775808", "1e999", "NSDecimalNumber",
  ]
}
