/// Finds words in predicate text that probably have another meaning than the language gives them.
///
/// The findings are hints for people who write predicates in commands and scripts. They are not
/// errors, because the text has a valid meaning.
package enum PredicateWords {
  /// The first keyword in a text that is also the name of a property, spelled as in the text; nil if there is none.
  /// `asOperand` restricts the search to keywords that stand for a value. The parser reports no error for these: `no ==
  /// 1` compares false with 1.
  package static func property(in text: String, of entity: ResolvedEntity, asOperand: Bool) -> String? {
    var lexer = PredicateLexer(text)
    while let token = try? lexer.next(), token.kind != .end {
      guard case .keyword(let keyword) = token.kind, !asOperand || keyword.isOperand else { continue }
      let word = String(decoding: lexer.bytes[token.start..<token.end], as: UTF8.self)
      if entity.property(word) != nil { return word }
    }
    return nil
  }

  /// The advice for a LIKE pattern with SQL's wildcards.
  package static func advice(pattern: String) -> String {
    "LIKE '\(TextLimits.beginning(of: pattern))': the wildcards are * and ?, and % stands for itself"
  }

  /// The advice for a property whose name is a keyword.
  package static func advice(_ word: String) -> String {
    "\(word) is a word of the predicate language here: the property is written #\(word)"
  }
}

extension PredicateKeyword {
  /// Whether the keyword stands for a value.
  fileprivate var isOperand: Bool {
    switch self {
    case .null, .true, .false, .self: true
    default: false
    }
  }
}

extension Predicate {
  /// A LIKE pattern with SQL's wildcards and without those of the predicate language; nil if there is none.
  package var sqlPattern: String? {
    switch self {
    case .constant: return nil
    case .and(let parts), .or(let parts): return parts.lazy.compactMap(\.sqlPattern).first
    case .not(let inner): return inner.sqlPattern
    case .comparison(let comparison):
      guard comparison.operator == .like, case .constant(.string(let pattern)) = comparison.right,
        // Bytes are compared, because comparing characters normalizes them in time quadratic in a letter's marks.
        pattern.utf8.contains(UInt8(ascii: "%")),
        !pattern.utf8.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") })
      else { return nil }
      return pattern
    }
  }
}
