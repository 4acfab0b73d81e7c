import MoonbaseModel

/// The building blocks of statements.
extension Dialect {
  /// A constant condition.
  func truth(_ value: Bool) -> String { value ? truth.yes : truth.no }

  /// The condition that a term equals one of some constants, bound as a single parameter.
  func membership(_ term: SQLFragment, in values: [Value]) -> SQLFragment {
    switch keySets {
    case .json: term + " IN (" + ConstantList.select(values) + ")"
    case .arrays: term + SQLFragment(" = ANY(?)", values: [.list(values)])
    }
  }

  /// A column whose type may differ from the other columns in an expression. Only whether it has a value matters.
  func ofAnyType(_ column: String) -> String {
    switch keySets {
    case .json: column
    case .arrays: "CAST(\(column) AS TEXT)"
    }
  }

  /// The condition that a key column has one of the keys of a single parameter, as text.
  package func isOneOfKeys(_ column: String) -> String {
    switch keySets {
    case .json: "\(column) IN (SELECT value FROM json_each(?))"
    case .arrays: "\(column) = ANY(?)"
    }
  }

  /// A table of the keys of a single parameter, whose column is `value`.
  package var keyTable: String {
    switch keySets {
    case .json: "json_each(?)"
    case .arrays: "unnest(?) AS keys (value)"
    }
  }

  /// The condition that a column has one of `count` keys, bound as a parameter each or all as one.
  package func isOneOf(_ count: Int, _ column: String) -> String {
    switch keySets {
    case .json: "\(column) IN (\(parameters(count)))"
    case .arrays: "\(column) = ANY(?)"
    }
  }

  /// A text with the collation by code points.
  func ordered(_ text: SQLFragment) -> SQLFragment { collation.map { text + " COLLATE \($0)" } ?? text }

  /// The direction of a sort key. Null sorts before all values.
  func direction(ascending: Bool) -> String {
    let word = ascending ? " ASC" : " DESC"
    switch nullOrder {
    case .least: return word
    case .written: return word + (ascending ? " NULLS FIRST" : " NULLS LAST")
    }
  }

  /// The number of rows that a statement can insert, with so many parameters for each row.
  package func rowsPerStatement(_ parameterCount: Int) -> Int {
    switch writing {
    case .rows: 1
    case .sets(let greatest): max(1, greatest / max(1, parameterCount))
    }
  }

  /// The limit and the offset of a result; 0 means no limit.
  func window(limit: Int, offset: Int) -> SQLFragment {
    if limit <= 0, offset <= 0 { return SQLFragment("") }
    if limit <= 0, noLimit == .absent { return SQLFragment(" OFFSET ?", values: [.int(Int64(offset))]) }
    return SQLFragment(" LIMIT ? OFFSET ?", values: [.int(limit > 0 ? Int64(limit) : -1), .int(Int64(offset))])
  }

  /// A statement with the engine's placeholders. Statements under construction use question marks.
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
