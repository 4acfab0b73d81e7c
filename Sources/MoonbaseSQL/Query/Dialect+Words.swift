import MoonbaseModel

/// The building blocks of statements.
///
/// Each function returns text for one construct on which engines differ; the translator and the statements call these
/// instead of testing for an engine.
extension Dialect {
  /// A constant condition. `1` in SQLite, `TRUE` in PostgreSQL.
  func truth(_ value: Bool) -> String { value ? truth.yes : truth.no }

  /// The condition that a term equals one of some constants, bound as a single parameter. For example `t0.ZNAME IN
  /// (SELECT value FROM json_each(?))`, or `t0.ZNAME = ANY(?)` with arrays. The list never appears in the text, so that
  /// statements are cached.
  func membership(_ term: SQLFragment, in values: [Value]) -> SQLFragment {
    switch keySets {
    case .json: term + " IN (" + ConstantList.select(values) + ")"
    case .arrays: term + SQLFragment(" = ANY(?)", values: [.list(values)])
    }
  }

  /// A column whose type may differ from the other columns in an expression. Only whether it has a value matters.
  /// `COALESCE` over columns of different types is an error in PostgreSQL.
  func ofAnyType(_ column: String) -> String {
    switch keySets {
    case .json: column
    case .arrays: "CAST(\(column) AS TEXT)"
    }
  }

  /// The condition that a key column has one of the keys of a single parameter, as text. The caller binds the keys as
  /// JSON or as an array, by `keySets`.
  package func isOneOfKeys(_ column: String) -> String {
    switch keySets {
    case .json: "\(column) IN (SELECT value FROM json_each(?))"
    case .arrays: "\(column) = ANY(?)"
    }
  }

  /// A table of the keys of a single parameter, whose column is `value`. Used after `FROM`.
  package var keyTable: String {
    switch keySets {
    case .json: "json_each(?)"
    case .arrays: "unnest(?) AS keys (value)"
    }
  }

  /// The condition that a column has one of `count` keys, bound as a parameter each or all as one. The caller binds
  /// `count` parameters, or an array as the only one.
  package func isOneOf(_ count: Int, _ column: String) -> String {
    switch keySets {
    case .json: "\(column) IN (\(parameters(count)))"
    case .arrays: "\(column) = ANY(?)"
    }
  }

  /// A text with the collation by code points. Without it, an engine's locale would decide, while memory compares code
  /// points.
  func ordered(_ text: SQLFragment) -> SQLFragment { collation.map { text + " COLLATE \($0)" } ?? text }

  /// The direction of a sort key. Null sorts before all values. The text begins with a blank: ` ASC`, ` DESC NULLS
  /// LAST`.
  func direction(ascending: Bool) -> String {
    let word = ascending ? " ASC" : " DESC"
    switch nullOrder {
    case .least: return word
    case .written: return word + (ascending ? " NULLS FIRST" : " NULLS LAST")
    }
  }

  /// The number of rows that a statement can insert, with so many parameters for each row. At least 1. The greatest
  /// number of parameters of a statement bounds it.
  package func rowsPerStatement(_ parameterCount: Int) -> Int {
    switch writing {
    case .rows: 1
    case .sets(let greatest): max(1, greatest / max(1, parameterCount))
    }
  }

  /// The limit and the offset of a result; 0 means no limit. The text begins with a blank: ` LIMIT ? OFFSET ?`. Empty
  /// without both.
  func window(limit: Int, offset: Int) -> SQLFragment {
    if limit <= 0, offset <= 0 { return SQLFragment("") }
    if limit <= 0, noLimit == .absent { return SQLFragment(" OFFSET ?", values: [.int(Int64(offset))]) }
    return SQLFragment(" LIMIT ? OFFSET ?", values: [.int(limit > 0 ? Int64(limit) : -1), .int(Int64(offset))])
  }

  /// A statement with the engine's placeholders. Statements under construction use question marks.
  ///
  /// For example, `ZAGE > ? AND ZNAME = '?'` becomes `ZAGE > $1 AND ZNAME = '?'`: question marks in quotes stay. Linear
  /// in the text.
  package func statement(_ text: String) -> String {
    guard placeholder == .numbered else { return text }
    var result = ""
    var count = 0
    var quote: Character?
    for character in text {
      if let open = quote {
        if character == open { quote = nil }
      } else if character == "\"" || character == "'" {
        quote = character
      } else if character == "?" {
        count += 1
        result += "$\(count)"
        continue
      }
      result.append(character)
    }
    return result
  }
}
