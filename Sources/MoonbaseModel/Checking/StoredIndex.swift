import MoonbasePlatform

/// An index in the form that a store's file can have: over columns and plain arithmetic of columns, for all rows or the
/// rows of a condition.
///
/// Any program that writes the file maintains its indexes. So an index may use only what plain SQLite provides, and
/// nothing that differs between builds of SQLite.
package struct StoredIndex: Sendable {
  /// A column or expression of the index.
  package struct Element: Sendable {
    /// The column or expression, in terms of the entity's attributes.
    package var term: Expression
    /// Whether the order is ascending.
    package var isAscending: Bool
  }

  /// The structure of an index: an order of values, or an R-tree of places.
  package enum Structure: Sendable {
    /// An index over columns and expressions.
    case ordered
    /// An R-tree: each element is a dimension, an attribute of numbers or dates.
    case places
  }

  /// The structure.
  package var structure: Structure = .ordered
  /// The elements, the most significant first.
  package var elements: [Element]
  /// The condition of a partial index, without parentheses. SQLite then uses the index for `BETWEEN` and for two
  /// comparisons alike.
  package var condition: Predicate?
}

/// The reason why a store's file cannot have an index.
package struct IndexObstacle: Error {
  /// The reason, as part of a sentence.
  package let reason: String
}

extension FetchIndexDescription {
  /// The index as a store keeps it. Throws if stores cannot keep it.
  ///
  /// The error has the reason in words, which `unstoredIndexes` reports.
  package func stored(in entity: ResolvedEntity) throws(IndexObstacle) -> StoredIndex {
    let terms = IndexTerms(entity: entity)
    if elements.contains(where: { $0.kind == .rTree }) { return try places(terms) }
    var result = StoredIndex(elements: [])
    for element in elements {
      result.elements.append(.init(term: try terms.term(of: element), isAscending: element.isAscending))
    }
    if let partialIndexPredicate { result.condition = try terms.condition(partialIndexPredicate) }
    return result
  }
}

extension FetchIndexDescription {
  /// SQLite's R-trees have at most five dimensions.
  private static let greatestDimension = 5

  /// An R-tree consists of dimensions only, and each row has a single place.
  ///
  /// Throws `IndexObstacle` for other elements, a condition, or too many dimensions.
  private func places(_ terms: IndexTerms) throws(IndexObstacle) -> StoredIndex {
    if let other = elements.first(where: { $0.kind != .rTree }) {
      throw IndexObstacle(
        reason: "its element \(other.property) is of another kind than the R-tree that others ask for: make two indexes"
      )
    }
    if let partialIndexPredicate {
      throw IndexObstacle(reason: "its condition \(partialIndexPredicate): an R-tree has all rows with a place")
    }
    guard elements.count <= Self.greatestDimension else {
      throw IndexObstacle(
        reason: "an R-tree has \(Self.greatestDimension) dimensions at most, and it asks for \(elements.count)")
    }
    var result = StoredIndex(structure: .places, elements: [])
    for element in elements { result.elements.append(.init(term: try terms.dimension(of: element), isAscending: true)) }
    return result
  }
}

extension ResolvedEntity {
  /// The entity's own indexes that stores do not keep, each with the reason.
  package var unstoredIndexes: [(index: FetchIndexDescription, reason: String)] {
    var result: [(FetchIndexDescription, String)] = []
    for index in description.indexes {
      do { _ = try index.stored(in: self) } catch { result.append((index, error.reason)) }
    }
    return result
  }
}

/// Translates the terms of an index into expressions that plain SQL can evaluate for a single row.
///
/// Each function throws `IndexObstacle` for a term that is not available in every program.
private struct IndexTerms {
  /// A kind of values with a single reading in every program, independent of notation.
  private enum Kind { case number, date, string }

  /// The entity of the index.
  let entity: ResolvedEntity

  /// The term of an element: a column, or an expression of columns.
  func term(of element: FetchIndexDescription.Element) throws(IndexObstacle) -> Expression {
    let name = element.property
    guard element.isExpression else {
      let keys = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
      if isComposite(keys) {
        throw IndexObstacle(
          reason: "its element \(name) is a composite, which has several columns: name one of its elements")
      }
      guard hasColumn(keys) else { throw IndexObstacle(reason: "its element \(name) has no column") }
      return .keyPath(.evaluatedObject, keys)
    }
    do {
      let expression = try Expression(format: name)
      if case .keyPath(.evaluatedObject, let keys) = expression, hasColumn(keys) { return expression }
      return try checked(number: expression)
    } catch let error as IndexObstacle {
      throw IndexObstacle(reason: "its expression \(name): \(error.reason)")
    } catch {
      throw IndexObstacle(reason: "its expression \(name) cannot be read (\(error))")
    }
  }

  /// A dimension of an R-tree, which must be a column of numbers that SQLite compares directly.
  func dimension(of element: FetchIndexDescription.Element) throws(IndexObstacle) -> Expression {
    let term = try term(of: element)
    guard case .keyPath(.evaluatedObject, let keys) = term, let attribute = attribute(at: keys) else {
      throw IndexObstacle(reason: "its element \(element.property) is no attribute, of which alone an R-tree is made")
    }
    switch attribute.type {
    case .integer16, .integer32, .integer64, .double, .float, .date: return term
    case let type:
      throw IndexObstacle(
        reason: "its element \(element.property) is \(type.phrase): an R-tree is of numbers (no decimals) and dates")
    }
  }

  /// The condition of a partial index.
  func condition(_ text: String) throws(IndexObstacle) -> Predicate {
    do { return try checked(Predicate(format: text)) } catch let error as IndexObstacle {
      throw IndexObstacle(reason: "its condition \(text): \(error.reason)")
    } catch {
      throw IndexObstacle(reason: "its condition \(text) cannot be read (\(error))")
    }
  }

  /// Whether a property, or an element of a composite, is stored in a single column.
  private func hasColumn(_ keys: [String]) -> Bool {
    guard let property = keys.first.flatMap({ entity.property($0) }), !property.isTransient else { return false }
    switch property.kind {
    case .toMany: return false
    case .toOne: return keys.count == 1
    case .attribute: return attribute(at: keys).map { $0.type != .composite } ?? false
    }
  }

  /// Whether a path ends at a composite.
  private func isComposite(_ keys: [String]) -> Bool { attribute(at: keys)?.type == .composite }

  /// The attribute at the end of a path through composites.
  private func attribute(at keys: [String]) -> AttributeDescription? {
    keys.first.flatMap { entity.property($0) }?.attribute?.element(at: keys.dropFirst())
  }

  // MARK: Conditions

  /// Checks a condition, part by part. Only plain comparisons are allowed.
  private func checked(_ predicate: Predicate) throws -> Predicate {
    switch predicate {
    case .constant: throw IndexObstacle(reason: "it says nothing of the row")
    case .and(let parts): return .and(try parts.map(checked))
    case .or(let parts): return .or(try parts.map(checked))
    case .not(let inner): return .not(try checked(inner))
    case .comparison(let comparison): return try checked(comparison)
    }
  }

  /// Checks a comparison of terms of the same kind.
  private func checked(_ comparison: Predicate.Comparison) throws -> Predicate {
    guard comparison.modifier == .direct, comparison.options.isEmpty else { throw foreign("\(comparison)") }
    switch comparison.operator {
    case .equal, .notEqual:
      if try isPresence(comparison) { return .comparison(comparison) }
    case .lessThan, .lessThanOrEqual, .greaterThan, .greaterThanOrEqual: break
    case .between:
      guard let bounds = comparison.right.elements, bounds.count == 2 else { throw foreign("\(comparison)") }
      return .and(
        try zip([.greaterThanOrEqual, .lessThanOrEqual], bounds).map {
          try checked(Predicate.Comparison(comparison.left, $0, $1))
        })
    case .in, .contains, .beginsWith, .endsWith, .like, .matches: throw foreign(comparison.operator.rawValue)
    }
    let sides = [comparison.left, comparison.right]
    guard !sides.allSatisfy(\.isConstant) else { throw IndexObstacle(reason: "it says nothing of the row") }
    guard Set(try sides.map(kind)).count == 1 else {
      throw IndexObstacle(reason: "it compares values of different kinds")
    }
    // SQLite matches a condition of a partial index only if the column is on the left, as in queries.
    guard comparison.right.isColumn, !comparison.left.isColumn else { return .comparison(comparison) }
    return .comparison(Predicate.Comparison(comparison.right, comparison.operator.mirrored, comparison.left))
  }

  /// Whether a comparison tests if a column has a value.
  private func isPresence(_ comparison: Predicate.Comparison) throws -> Bool {
    let others = [comparison.left, comparison.right].filter { $0 != .constant(.null) }
    guard others.count == 1 else { return false }
    guard case .keyPath(.evaluatedObject, let keys) = others[0], hasColumn(keys) else {
      throw foreign("\(others[0])")
    }
    return true
  }

  /// The kind of a term.
  private func kind(_ expression: Expression) throws -> Kind {
    switch expression {
    case .constant(.string(let text)) where !text.utf8.contains(0): return .string
    case .constant(.date(let date)) where date.timeIntervalSinceReferenceDate.isPlain: return .date
    case .keyPath(.evaluatedObject, let keys) where keys.count == 1 || attribute(at: keys) != nil:
      switch try attribute(keys).type {
      case .string: return .string
      case .date: return .date
      // Values of a float column are compared with a range around the nearest float, which no index condition can
      // express.
      case .float:
        throw IndexObstacle(
          reason: "\(keys.joined(separator: ".")) is of single precision, which SQL compares as a range")
      default: break
      }
    default: break
    }
    _ = try checked(number: expression)
    return .number
  }

  // MARK: Numbers

  /// Checks an arithmetic expression.
  private func checked(number expression: Expression) throws(IndexObstacle) -> Expression {
    switch expression {
    case .constant(.bool), .constant(.int): return expression
    case .constant(.double(let number)):
      guard number.isPlain else {
        throw IndexObstacle(reason: "\(number) has digits that programs may round otherwise: use numbers of halves")
      }
      return expression
    case .keyPath(.evaluatedObject, let keys) where keys.count == 1 || attribute(at: keys) != nil:
      switch try attribute(keys).type {
      case .integer16, .integer32, .integer64, .double, .float, .boolean: return expression
      case let type:
        throw IndexObstacle(
          reason: "\(keys.joined(separator: ".")) is \(type.phrase), with which SQL does not compute")
      }
    case .function(let name, let arguments):
      guard [PredicateFunction.add, .subtract, .multiply, .divide].contains(PredicateFunction(rawValue: name)) else {
        throw foreign(name)
      }
      guard !arguments.allSatisfy(\.isConstant) else {
        throw IndexObstacle(reason: "\(expression) is the same for every row: write what it gives")
      }
      for argument in arguments { _ = try checked(number: argument) }
      return expression
    default: throw foreign("\(expression)")
    }
  }

  /// The attribute of a path. Throws if it has no column.
  private func attribute(_ keys: [String]) throws(IndexObstacle) -> AttributeDescription {
    guard hasColumn(keys), let attribute = attribute(at: keys) else {
      throw IndexObstacle(reason: "\(keys.joined(separator: ".")) is no attribute with a column")
    }
    return attribute
  }

  /// The obstacle that SQLite does not know a term.
  private func foreign(_ what: String) -> IndexObstacle {
    IndexObstacle(reason: "\(what) is nothing that SQLite knows by itself")
  }
}

extension Expression {
  /// Whether it is a constant.
  fileprivate var isConstant: Bool { if case .constant = self { true } else { false } }
  /// Whether it is a key path.
  fileprivate var isColumn: Bool { if case .keyPath = self { true } else { false } }
}

extension Double {
  /// Whether the number's decimal digits read back as the same number in every program: a short number that is a
  /// multiple of 1/16.
  package var isPlain: Bool {
    abs(self) < 0x1p31 && (self * 16).rounded() == self * 16 && !(self == 0 && sign == .minus)
  }
}
