/// A token of predicate text: a kind and a range of bytes.
struct PredicateToken: Sendable {
  enum Kind: Equatable, Sendable {
    case end
    /// A plain name.
    case identifier
    /// A function's name with colons, `add:to:`.
    case selector
    /// `#name` or `#"any text"`: a key, even if the word is a keyword.
    case escapedIdentifier
    /// A collection operator such as `@count`.
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
  /// The end of the range, exclusive.
  var end: Int
}
