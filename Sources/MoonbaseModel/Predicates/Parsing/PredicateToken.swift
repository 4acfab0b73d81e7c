/// A token of predicate text: a kind and a range of bytes.
struct PredicateToken: Sendable {
  /// The kind of a token.
  enum Kind: Equatable, Sendable {
    /// The end of the text.
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
    /// A reserved word.
    case keyword(PredicateKeyword)
    /// Literals.
    case integer, real, string
    /// `%@`, `%K`, `%d` and so on.
    case placeholder
    /// Brackets.
    case leftParenthesis, rightParenthesis, leftBrace, rightBrace, leftBracket, rightBracket
    /// Punctuation; `assign` is `:=`.
    case comma, period, assign
    /// Operators of arithmetic.
    case plus, minus, times, divide, power, modulus
    /// Bitwise operators.
    case ampersand, bar, caret, tilde, leftShift, rightShift
    /// Signs for NOT, AND and OR.
    case bang, andSign, orSign
    /// An operator such as `==` or `<`.
    case compare(Predicate.Comparison.Operator)
  }

  /// The kind.
  var kind: Kind
  /// The first byte.
  var start: Int
  /// The end of the range, exclusive.
  var end: Int
}
