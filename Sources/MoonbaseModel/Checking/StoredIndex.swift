import MoonbasePlatform

/// An index as the file of a store can have it: of columns and of what plain arithmetic makes of them, over all rows or those of a
/// condition.
///
/// Any program that writes the file keeps its indexes, so nothing may be in them that SQLite does not know by itself, or that two
/// builds of it could find otherwise.
package struct StoredIndex: Sendable {
  package struct Element: Sendable {
    package var term: Expression
    package var isAscending: Bool
  }

  /// What is kept: an order of values, or places.
  package enum Structure: Sendable {
    case ordered
    /// An R-tree: each element is a dimension, an attribute of numbers or dates.
    case places
  }

  package var structure: Structure = .ordered
  package var elements: [Element]
  /// The rows that it has, without brackets: an index is found for `BETWEEN` and for two comparisons alike.
  package var condition: Predicate?
}

/// Why files have no such index.
package struct IndexObstacle: Error {
  /// The reason, as part of a sentence.
  package let reason: String
}

extension FetchIndexDescription {
  /// What the file of a store has for an index of an entity. Throws for one that is left out.
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
  /// More dimensions SQLite's R-trees do not have.
  private static let greatestDimension = 5

  /// An R-tree has dimensions alone, and each row one place.
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
  /// The indexes of its own that files do not have, and why.
  package var unstoredIndexes: [(index: FetchIndexDescription, reason: String)] {
    var result: [(FetchIndexDescription, String)] = []
    for index in description.indexes {
      do { _ = try index.stored(in: self) } catch { result.append((index, error.reason)) }
    }
    return result
  }
}

/// What plain SQL can say of one row of an entity.
private struct IndexTerms {
  /// Values of which all say the same, however they are written.
  private enum Kind { case number, date, string }

  let entity: ResolvedEntity

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

  /// What an R-tree keeps: numbers that SQLite compares as such.
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

  func condition(_ text: String) throws(IndexObstacle) -> Predicate {
    do { return try checked(Predicate(format: text)) } catch let error as IndexObstacle {
      throw IndexObstacle(reason: "its condition \(text): \(error.reason)")
    } catch {
      throw IndexObstacle(reason: "its condition \(text) cannot be read (\(error))")
    }
  }

  /// Whether a property, or an element of a composite, lies in one column.
  private func hasColumn(_ keys: [String]) -> Bool {
    guard let property = keys.first.flatMap({ entity.property($0) }), !property.isTransient else { return false }
    switch property.kind {
    case .toMany: return false
    case .toOne: return keys.count == 1
    case .attribute: return attribute(at: keys).map { $0.type != .composite } ?? false
    }
  }

  private func isComposite(_ keys: [String]) -> Bool { attribute(at: keys)?.type == .composite }

  private func attribute(at keys: [String]) -> AttributeDescription? {
    keys.first.flatMap { entity.property($0) }?.attribute?.element(at: keys.dropFirst())
  }

  // MARK: Conditions

  private func checked(_ predicate: Predicate) throws -> Predicate {
    switch predicate {
    case .constant: throw IndexObstacle(reason: "it says nothing of the row")
    case .and(let parts): return .and(try parts.map(checked))
    case .or(let parts): return .or(try parts.map(checked))
    case .not(let inner): return .not(try checked(inner))
    case .comparison(let comparison): return try checked(comparison)
    }
  }

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
    // SQLite has a column that is alone on the left in the conditions of a query.
    guard comparison.right.isColumn, !comparison.left.isColumn else { return .comparison(comparison) }
    return .comparison(Predicate.Comparison(comparison.right, comparison.operator.mirrored, comparison.left))
  }

  /// Whether it asks if a column has a value.
  private func isPresence(_ comparison: Predicate.Comparison) throws -> Bool {
    let others = [comparison.left, comparison.right].filter { $0 != .constant(.null) }
    guard others.count == 1 else { return false }
    guard case .keyPath(.evaluatedObject, let keys) = others[0], hasColumn(keys) else {
      throw foreign("\(others[0])")
    }
    return true
  }

  private func kind(_ expression: Expression) throws -> Kind {
    switch expression {
    case .constant(.string(let text)) where !text.utf8.contains(0): return .string
    case .constant(.date(let date)) where date.timeIntervalSinceReferenceDate.isPlain: return .date
    case .keyPath(.evaluatedObject, let keys) where keys.count == 1 || attribute(at: keys) != nil:
      switch try attribute(keys).type {
      case .string: return .string
      case .date: return .date
      // What is read of it is the float next to it: a condition is a range then.
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

  private func attribute(_ keys: [String]) throws(IndexObstacle) -> AttributeDescription {
    guard hasColumn(keys), let attribute = attribute(at: keys) else {
      throw IndexObstacle(reason: "\(keys.joined(separator: ".")) is no attribute with a column")
    }
    return attribute
  }

  private func foreign(_ what: String) -> IndexObstacle {
    IndexObstacle(reason: "\(what) is nothing that SQLite knows by itself")
  }
}

extension Expression {
  fileprivate var isConstant: Bool { if case .constant = self { true } else { false } }
  fileprivate var isColumn: Bool { if case .keyPath = self { true } else { false } }
}

extension Double {
  /// Whether every program that reads its decimal digits has this number: it is short, and a sum of halves.
  package var isPlain: Bool {
    abs(self) < 0x1p31 && (self * 16).rounded() == self * 16 && !(self == 0 && sign == .minus)
  }
}
