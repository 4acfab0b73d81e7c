/// A reserved word of the predicate language. Case is ignored.
///
/// The lexer finds keywords without making strings: up to 16 letters are packed into a number and
/// looked up.
enum PredicateKeyword: UInt8, Sendable {
  /// Connectives.
  case and, or, not
  /// Quantifiers; `SOME` is `any`.
  case any, all, none
  /// Operators.
  case between, `in`, contains, beginsWith, endsWith, like, matches
  /// Operands, and constant predicates.
  case null, `self`, `true`, `false`, anyKey, truePredicate, falsePredicate
  /// Keywords only if a parenthesis follows.
  case subquery, ternary, cast, function

  /// The keyword spelled by these bytes; nil if there is none.
  static func find(_ bytes: ArraySlice<UInt8>) -> PredicateKeyword? {
    packed(bytes).flatMap { table[$0] }
  }

  /// The keywords by their packed spellings, including synonyms such as `NIL` and `YES`.
  private static let table: [UInt128: PredicateKeyword] = {
    let words: [(String, PredicateKeyword)] = [
      ("AND", .and), ("OR", .or), ("NOT", .not), ("ANY", .any), ("SOME", .any), ("ALL", .all), ("NONE", .none),
      ("BETWEEN", .between), ("IN", .in), ("CONTAINS", .contains), ("BEGINSWITH", .beginsWith),
      ("ENDSWITH", .endsWith), ("LIKE", .like), ("MATCHES", .matches), ("NULL", .null), ("NIL", .null),
      ("SELF", .self), ("TRUE", .true), ("YES", .true), ("FALSE", .false), ("NO", .false), ("ANYKEY", .anyKey),
      ("TRUEPREDICATE", .truePredicate), ("FALSEPREDICATE", .falsePredicate), ("SUBQUERY", .subquery),
      ("TERNARY", .ternary), ("CAST", .cast), ("FUNCTION", .function),
    ]
    return Dictionary(
      uniqueKeysWithValues: words.compactMap { word, keyword in
        packed(Array(word.utf8)[...]).map { ($0, keyword) }
      })
  }()

  /// Up to 16 ASCII letters, in upper case, packed into a number; nil for other bytes.
  private static func packed(_ bytes: ArraySlice<UInt8>) -> UInt128? {
    guard bytes.count <= 16 else { return nil }
    var result: UInt128 = 0
    for byte in bytes {
      let upper = byte & 0xDF
      guard upper >= 0x41, upper <= 0x5A else { return nil }
      result = result << 8 | UInt128(upper)
    }
    return result
  }

  /// The words that Core Data's parser reserves, in upper case. Keys with these names are printed with `#`.
  static let reserved: Set<String> = [
    "AND", "OR", "IN", "NOT", "ALL", "ANY", "SOME", "NONE", "LIKE", "CASEINSENSITIVE", "CI", "MATCHES", "CONTAINS",
    "BEGINSWITH", "ENDSWITH", "BETWEEN", "NULL", "NIL", "SELF", "TRUE", "YES", "FALSE", "NO", "FIRST", "LAST", "SIZE",
    "ANYKEY", "SUBQUERY", "FETCH", "CAST", "TERNARY", "FUNCTION", "TRUEPREDICATE", "FALSEPREDICATE",
  ]
}
