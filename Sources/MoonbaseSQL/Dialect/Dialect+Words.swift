import MoonbaseModel

/// What statements are put together of.
extension Dialect {
  /// A truth as a condition.
  func truth(_ value: Bool) -> String { value ? truth.yes : truth.no }

  /// Whether a term is one of some constants, all in one parameter.
  func membership(_ term: SQLFragment, in values: [Value]) -> SQLFragment {
    switch keySets {
    case .json: term + " IN (" + ConstantList.select(values) + ")"
    case .arrays: term + SQLFragment(" = ANY(?)", values: [.list(values)])
    }
  }

  /// A column of whatever type, beside columns of others: only whether it has a value matters.
  func ofAnyType(_ column: String) -> String {
    switch keySets {
    case .json: column
    case .arrays: "CAST(\(column) AS TEXT)"
    }
  }

  /// The same of a column of keys, as text with a parameter for the keys.
  package func isOneOfKeys(_ column: String) -> String {
    switch keySets {
    case .json: "\(column) IN (SELECT value FROM json_each(?))"
    case .arrays: "\(column) = ANY(?)"
    }
  }

  /// A table of a parameter's keys, whose column is `value`.
  package var keyTable: String {
    switch keySets {
    case .json: "json_each(?)"
    case .arrays: "unnest(?) AS keys (value)"
    }
  }

  /// Whether a column is one of so many keys, each a parameter of its own or all of them one.
  package func isOneOf(_ count: Int, _ column: String) -> String {
    switch keySets {
    case .json: "\(column) IN (\(parameters(count)))"
    case .arrays: "\(column) = ANY(?)"
    }
  }

  /// A text as the engine compares it by code points.
  func ordered(_ text: SQLFragment) -> SQLFragment { collation.map { text + " COLLATE \($0)" } ?? text }

  /// The direction of a sort key: a missing value is less than all others.
  func direction(ascending: Bool) -> String {
    let word = ascending ? " ASC" : " DESC"
    switch nullOrder {
    case .least: return word
    case .written: return word + (ascending ? " NULLS FIRST" : " NULLS LAST")
    }
  }

  /// How many rows one statement takes that has so many parameters for each.
  package func rowsPerStatement(_ parameterCount: Int) -> Int {
    switch writing {
    case .rows: 1
    case .sets(let greatest): max(1, greatest / max(1, parameterCount))
    }
  }

  /// Which rows of a result are wanted; 0 means no limit.
  func window(limit: Int, offset: Int) -> SQLFragment {
    if limit <= 0, offset <= 0 { return SQLFragment("") }
    if limit <= 0, noLimit == .absent { return SQLFragment(" OFFSET ?", values: [.int(Int64(offset))]) }
    return SQLFragment(" LIMIT ? OFFSET ?", values: [.int(limit > 0 ? Int64(limit) : -1), .int(Int64(offset))])
  }

  /// A statement as the engine wants it: its parameters are written as question marks until it is whole.
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
