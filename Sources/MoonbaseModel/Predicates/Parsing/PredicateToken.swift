/// A token of predicate text: its kind and the bytes it covers.
struct PredicateToken: Sendable {
  enum Kind: Equatable, Sendable {
    case end
    /// A plain name.
    case identifier
    /// A function's name with colons, `add:to:`.
    case selector
    /// `#name` or `#"any text"`: a key, whatever the word means elsewhere.
    case escapedIdentifier
    /// `@count` and its kin.
    case keyPathOperator
    /// `$name`.
    case variable
    case keyword(PredicateKeyword)
    case integer, real, string
    /// `%@`, `%K`, `%d` and so on.
    case placeholder
    case leftParenthesis, rightParenthesis, leftBrace, rightBrace, leftBracket, rightBracket
    case comma, period, assign
    case plus, minus, times, divide, power, modulus
    case ampersand, bar, caret, tilde, leftShift, rightShift
    case bang, andSign, orSign
    case compare(Predicate.Comparison.Operator)
  }

  var kind: Kind
  /// The first byte.
  var start: Int
  /// The byte behind the last one.
  var end: Int
}
