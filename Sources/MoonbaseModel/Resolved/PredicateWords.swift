/// Finds words in a predicate's text that probably mean something other than what the language reads.
package enum PredicateWords {
  /// The first key word of a text that is the name of a property too, spelled as in the text; nil where there is none.
  /// With `asOperand` only key words that stand for a value count. No error shows these: `no == 1` compares false with
  /// 1.
  package static func property(in text: String, of entity: ResolvedEntity, asOperand: Bool) -> String? {
    var lexer = PredicateLexer(text)
    while let token = try? lexer.next(), token.kind != .end {
      guard case .keyword(let keyword) = token.kind, !asOperand || keyword.isOperand else { continue }
      let word = String(decoding: lexer.bytes[token.start..<token.end], as: UTF8.self)
      if entity.property(word) != nil { return word }
    }
    return nil
  }

  /// The advice for a pattern of LIKE with the wildcards of SQL.
  package static func advice(pattern: String) -> String {
    "LIKE '\(TextLimits.beginning(of: pattern))': the wildcards are * and ?, and % stands for itself"
  }

  /// How such a property is named.
  package static func advice(_ word: String) -> String {
    "\(word) is a word of the predicate language here: the property is written #\(word)"
  }
}

extension PredicateKeyword {
  /// Whether it stands for a value.
  fileprivate var isOperand: Bool {
    switch self {
    case .null, .true, .false, .self: true
    default: false
    }
  }
}

extension Predicate {
  /// A pattern of LIKE with the wildcards of SQL and none of the language's.
  package var sqlPattern: String? {
    switch self {
    case .constant: return nil
    case .and(let parts), .or(let parts): return parts.lazy.compactMap(\.sqlPattern).first
    case .not(let inner): return inner.sqlPattern
    case .comparison(let comparison):
      guard comparison.operator == .like, case .constant(.string(let pattern)) = comparison.right,
        // Characters are compared by their normal forms, which takes the square of the marks that a letter has.
        pattern.utf8.contains(UInt8(ascii: "%")),
        !pattern.utf8.contains(where: { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") })
      else { return nil }
      return pattern
    }
  }
}
