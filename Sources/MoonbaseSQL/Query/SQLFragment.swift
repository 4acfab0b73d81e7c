package import MoonbaseModel

/// A piece of SQL with the values of its parameters, in the order of their question marks.
package struct SQLFragment: Equatable {
  package var text: String
  package var values: [Value] = []

  package init(_ text: String, values: [Value] = []) {
    self.text = text
    self.values = values
  }

  package static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
    SQLFragment(left.text + right.text, values: left.values + right.values)
  }

  package var parenthesized: SQLFragment { SQLFragment("(\(text))", values: values) }

  package static func + (left: SQLFragment, right: String) -> SQLFragment {
    SQLFragment(left.text + right, values: left.values)
  }
  package static func + (left: String, right: SQLFragment) -> SQLFragment {
    SQLFragment(left + right.text, values: right.values)
  }
}

extension [SQLFragment] {
  package func joined(_ separator: String) -> SQLFragment {
    SQLFragment(map(\.text).joined(separator: separator), values: flatMap(\.values))
  }

  /// Conditions joined by AND or OR, as a tree: SQLite counts the levels of what stands in a row.
  package func combined(_ word: String) -> SQLFragment {
    let row = 64
    guard count > row else { return map(\.parenthesized).joined(" \(word) ") }
    let size = (count + row - 1) / row
    return stride(from: 0, to: count, by: size).map { [SQLFragment](self[$0..<Swift.min($0 + size, count)]) }
      .map { $0.combined(word) }.combined(word)
  }
}

/// What an expression yields, as far as comparisons care.
enum SQLKind: Equatable {
  /// Integers, floating-point numbers, truth values.
  case number
  /// Decimals, in SQL their keys: they compare, but SQL's arithmetic is not theirs.
  case decimal
  case string
  case date
  case uuid
  case uri
  case data
  /// An object of an entity, given by its index: SQL holds its key.
  case object(Int)
  /// Bytes that only a transformer or a file can make sense of: SQL can tell whether they are there.
  case opaque
  /// A literal NULL.
  case null

  init(_ attribute: AttributeDescription) {
    self =
      attribute.type == .transformable || attribute.allowsExternalBinaryDataStorage
      ? .opaque : Self(attribute.type)
  }

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
  /// Whether values of two kinds have an order: numbers and dates (as seconds) compare with one another, the rest with
  /// their like.
  func compares(with other: SQLKind) -> Bool {
    if self == .opaque { return false }
    return self == other || isNumeric && other.isNumeric
  }

  var isNumeric: Bool { self == .number || self == .decimal || self == .date }
}

/// An expression in SQL.
struct SQLTerm {
  var fragment: SQLFragment
  var kind: SQLKind
  /// Whether it is the key of a row that is there, or a literal: never NULL.
  var isPresent = false
  /// The literal that it is.
  var constant: Value?
  /// What lies in the column, where the fragment is made of it.
  var stored: SQLFragment?
  /// Whether it is a column of floating-point numbers, whose affinity would round what it is compared with.
  var isReal = false
  /// Whether it is a column of numbers of single precision, which may hold others that are read as such.
  var isSingle = false
  /// Whether it is a column of integers.
  var isInteger = false
  /// Whether these are of 32 bits at most.
  var isNarrow = false
  /// Whether it is made of integers, and one itself: a count, a sum.
  var isWhole = false
  /// Whether it is made of floating-point numbers, and one itself.
  var isFloating = false

  /// A decimal attribute, compared by its key.
  static func decimal(_ stored: SQLFragment) -> SQLTerm {
    SQLTerm(fragment: PredicateFunctions.key(decimal: stored), kind: .decimal, stored: stored)
  }

  /// A number of any kind, as the key by which decimals compare.
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
