package import MoonbaseModel

/// A piece of SQL with the values of its parameters, in the order of their question marks.
///
/// A value type: fragments are concatenated with `+`, and the values keep the order of the question marks. Values never
/// become part of the text, so that a statement is prepared once for all values.
package struct SQLFragment: Equatable {
  /// SQL with a question mark for each value.
  package var text: String
  /// A value `.list` is bound as a single parameter.
  package var values: [Value] = []

  /// Makes a fragment from text with question marks for the values.
  package init(_ text: String, values: [Value] = []) {
    self.text = text
    self.values = values
  }

  /// Joins texts and values.
  package static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
    SQLFragment(left.text + right.text, values: left.values + right.values)
  }

  /// The fragment in parentheses.
  package var parenthesized: SQLFragment { SQLFragment("(\(text))", values: values) }

  /// Appends text without parameters.
  package static func + (left: SQLFragment, right: String) -> SQLFragment {
    SQLFragment(left.text + right, values: left.values)
  }
  /// Prepends text without parameters.
  package static func + (left: String, right: SQLFragment) -> SQLFragment {
    SQLFragment(left + right.text, values: right.values)
  }
}

extension [SQLFragment] {
  /// The fragments with a separator between them. As `joined(separator:)` of texts.
  package func joined(_ separator: String) -> SQLFragment {
    SQLFragment(map(\.text).joined(separator: separator), values: flatMap(\.values))
  }

  /// Conditions joined by AND or OR as a balanced tree, because SQLite limits the depth of an expression. Groups of at
  /// most 64 are joined, then groups of groups. Every condition is put in parentheses.
  package func combined(_ word: String) -> SQLFragment {
    let row = 64
    guard count > row else { return map(\.parenthesized).joined(" \(word) ") }
    let size = (count + row - 1) / row
    return stride(from: 0, to: count, by: size).map { [SQLFragment](self[$0..<Swift.min($0 + size, count)]) }
      .map { $0.combined(word) }.combined(word)
  }
}

/// The kind of an expression's value, as comparisons distinguish it.
enum SQLKind: Equatable {
  /// Integers, floating-point numbers, Booleans.
  case number
  /// Decimals, in SQL as keys. They can be compared, but not computed with.
  case decimal
  case string
  case date
  case uuid
  case uri
  case data
  /// An object of an entity, given by its index. SQL holds its key.
  case object(Int)
  /// Bytes that only a transformer or an external file can interpret. SQL can test whether they are null.
  case opaque
  /// A literal NULL.
  case null

  /// The kind of an attribute's values in its column.
  init(_ attribute: AttributeDescription) {
    self =
      attribute.type == .transformable || attribute.allowsExternalBinaryDataStorage
      ? .opaque : Self(attribute.type)
  }

  /// The kind for an attribute type, without looking at external storage.
  init(_ type: AttributeType) {
    switch type {
    case .integer16, .integer32, .integer64, .double, .float, .boolean: self = .number
    case .decimal: self = .decimal
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .uri: self = .uri
    case .binaryData: self = .data
    case .transformable, .undefined, .objectID, .composite: self = .opaque
    }
  }
}

extension SQLKind {
  /// Whether values of two kinds can be compared: numbers and dates (as seconds) with one another, other kinds with
  /// themselves.
  func compares(with other: SQLKind) -> Bool {
    if self == .opaque { return false }
    return self == other || isNumeric && other.isNumeric
  }

  /// Dates count as numbers, since columns hold seconds.
  var isNumeric: Bool { self == .number || self == .decimal || self == .date }
}

/// An expression in SQL.
///
/// Text with what is known of its values: the kind decides which comparisons are allowed, and the flags decide how
/// constants are adapted. The flags describe columns; computed terms have none of `isReal`, `isSingle` and `isInteger`.
struct SQLTerm {
  /// The expression; a column, a parameter or a call.
  var fragment: SQLFragment
  /// The kind of the values.
  var kind: SQLKind
  /// Whether the term is never NULL: the key of an existing row, or a literal.
  var isPresent = false
  /// The literal, if the term is one.
  var constant: Value?
  /// The column's stored value, where the fragment is computed from it.
  var stored: SQLFragment?
  /// Whether the term is a column of floating-point numbers, whose affinity would round the other operand.
  var isReal = false
  /// Whether the term is a column of single-precision numbers, which may hold other numbers that are read as such.
  var isSingle = false
  /// Whether the term is a column of integers.
  var isInteger = false
  /// Whether the integers have at most 32 bits.
  var isNarrow = false
  /// Whether the term is an integer computed from integers: a count, a sum.
  var isWhole = false
  /// Whether the term is a floating-point number computed from such numbers.
  var isFloating = false

  /// A decimal attribute, compared by its key.
  static func decimal(_ stored: SQLFragment) -> SQLTerm {
    SQLTerm(fragment: PredicateFunctions.key(decimal: stored), kind: .decimal, stored: stored)
  }

  /// A number of any kind as a key for comparison with decimals.
  var asDecimal: SQLTerm {
    guard kind != .decimal, kind.isNumeric else { return self }
    var result = self
    result.kind = .decimal
    if let key = constant.flatMap({ DecimalKey($0) }) {
      result.fragment = SQLFragment("?", values: [.data(key.data)])
    } else {
      result.fragment = PredicateFunctions.key(number: fragment)
    }
    return result
  }
}
