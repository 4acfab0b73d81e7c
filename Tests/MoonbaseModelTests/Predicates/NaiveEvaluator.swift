import MoonbaseModel
import MoonbasePlatform

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// Evaluates a predicate directly from its tree, simple and slow, with the rules of a fetch: nil is "unknown".
struct NaiveEvaluator {
  enum Result {
    case none
    case number(Double)
    case text(String)
    case row(Row)
    case list([Result])
  }

  var variables: [String: Row] = [:]

  func truth(_ predicate: Predicate, _ row: Row) -> Bool? {
    switch predicate {
    case .constant(let value): return value
    case .not(let inner): return truth(inner, row).map { !$0 }
    case .and(let parts):
      let truths = parts.map { truth($0, row) }
      return truths.contains(false) ? false : truths.contains(nil) ? nil : true
    case .or(let parts):
      let truths = parts.map { truth($0, row) }
      return truths.contains(true) ? true : truths.contains(nil) ? nil : false
    case .comparison(let comparison): return truth(comparison, row)
    }
  }

  private func truth(_ comparison: Predicate.Comparison, _ row: Row) -> Bool? {
    let left = value(comparison.left, row)
    guard comparison.modifier != .direct, case .list(let elements) = left else {
      return compare(left, comparison, row)
    }
    let truths = elements.map { compare($0, comparison, row) == true }
    return comparison.modifier == .any ? truths.contains(true) : !truths.contains(false)
  }

  private func compare(_ left: Result, _ comparison: Predicate.Comparison, _ row: Row) -> Bool? {
    if case .aggregate(let elements) = comparison.right {
      let values = elements.map { value($0, row) }
      if comparison.operator == .in {
        let truths = values.map { test(left, .equal, $0) }
        return truths.contains(true) ? true : truths.contains(nil) ? nil : false
      }
      let bounds = [test(left, .greaterThanOrEqual, values[0]), test(left, .lessThanOrEqual, values[1])]
      return bounds.contains(false) ? false : bounds.contains(nil) ? nil : true
    }
    let right = value(comparison.right, row)
    if comparison.right == .constant(.null) || isBoss(comparison.left) {
      let isSame = same(left, right)
      return comparison.operator == .equal ? isSame : !isSame
    }
    guard case .text(let text) = left, case .text(let pattern) = right else {
      return test(left, comparison.operator, right)
    }
    return test(text, comparison.operator, pattern, comparison.options)
  }

  private func isBoss(_ expression: Expression) -> Bool {
    if case .keyPath(_, ["boss"]) = expression { true } else { false }
  }

  private func same(_ left: Result, _ right: Result) -> Bool {
    switch (left, right) {
    case (.none, .none): true
    case (.row(let left), .row(let right)): left === right
    default: false
    }
  }

  private func test(_ left: Result, _ operator: Predicate.Comparison.Operator, _ right: Result) -> Bool? {
    switch (left, right) {
    case (.none, _), (_, .none): return nil
    case (.number(let left), .number(let right)):
      switch `operator` {
      case .equal: return left == right
      case .notEqual: return left != right
      case .lessThan: return left < right
      case .lessThanOrEqual: return left <= right
      case .greaterThan: return left > right
      default: return left >= right
      }
    default: return `operator` == .notEqual
    }
  }

  private func test(
    _ text: String, _ operator: Predicate.Comparison.Operator, _ pattern: String,
    _ options: Predicate.Comparison.Options
  ) -> Bool {
    var compare: String.CompareOptions = options.isEmpty ? .literal : []
    if options.contains(.caseInsensitive) { compare.insert(.caseInsensitive) }
    if options.contains(.diacriticInsensitive) { compare.insert(.diacriticInsensitive) }
    switch `operator` {
    case .equal: return text.compare(pattern, options: compare) == .orderedSame
    case .notEqual: return text.compare(pattern, options: compare) != .orderedSame
    case .contains: return pattern.isEmpty || text.range(of: pattern, options: compare) != nil
    case .beginsWith: return pattern.isEmpty || text.range(of: pattern, options: compare.union(.anchored)) != nil
    default: return pattern.isEmpty || text.range(of: pattern, options: compare.union([.anchored, .backwards])) != nil
    }
  }

  // MARK: Expressions

  private func value(_ expression: Expression, _ row: Row) -> Result {
    switch expression {
    case .constant(let constant): return result(constant)
    case .evaluatedObject: return .row(row)
    case .variable(let name): return variables[name].map(Result.row) ?? .none
    case .keyPath(let base, let path): return follow(path[...], value(base, row))
    case .conditional(let condition, let then, let otherwise):
      return value(truth(condition, row) == true ? then : otherwise, row)
    case .subquery(let collection, let name, let condition):
      guard case .list(let elements) = value(collection, row) else { return .none }
      return .list(
        elements.filter { element in
          guard case .row(let member) = element else { return false }
          var inner = self
          inner.variables[name] = member
          return inner.truth(condition, row) == true
        })
    case .function(let name, let arguments):
      return arithmetic(name, arguments, row)
    default: return .none
    }
  }

  private func result(_ value: Value) -> Result {
    switch value {
    case .int(let number): .number(Double(number))
    case .double(let number): .number(number)
    case .string(let text): .text(text)
    default: .none
    }
  }

  private func follow(_ path: ArraySlice<String>, _ start: Result) -> Result {
    guard let key = path.first else { return start }
    let rest = path.dropFirst()
    if key.hasPrefix("@") {
      guard case .list(let elements) = follow(rest, start) else { return .none }
      return aggregate(key, elements)
    }
    switch start {
    case .row(let row):
      switch try! row.predicateAnswer(forKey: key) {
      case .value(let value): return follow(rest, result(value))
      case .object(let object): return follow(rest, object.map(Result.row) ?? .none)
      case .objects(let objects): return follow(rest, .list(objects.map(Result.row)))
      }
    case .list(let elements): return follow(rest, .list(elements.map { follow([key], $0) }))
    default: return .none
    }
  }

  private func aggregate(_ name: String, _ elements: [Result]) -> Result {
    let numbers = elements.compactMap { if case .number(let number) = $0 { number } else { nil } }
    switch name {
    case "@count": return .number(Double(elements.count))
    case "@sum": return .number(numbers.reduce(0, +))
    case "@min": return numbers.min().map(Result.number) ?? .none
    default: return numbers.max().map(Result.number) ?? .none
    }
  }

  /// Integer division drops the remainder, so the types of the operands matter here.
  private func arithmetic(_ name: String, _ arguments: [Expression], _ row: Row) -> Result {
    guard case .number(let left) = value(arguments[0], row), case .number(let right) = value(arguments[1], row) else {
      return .none
    }
    switch name {
    case "add:to:": return .number(left + right)
    case "from:subtract:": return .number(left - right)
    case "multiply:by:": return .number(left * right)
    case "bitwiseAnd:with:": return .number(Double(Int64(left) & Int64(right)))
    case "bitwiseOr:with:": return .number(Double(Int64(left) | Int64(right)))
    case "bitwiseXor:with:": return .number(Double(Int64(left) ^ Int64(right)))
    default:
      if right == 0 { return .none }
      let isWhole = isInteger(arguments[0], row) && isInteger(arguments[1], row)
      return .number(isWhole ? (left / right).rounded(.towardZero) : left / right)
    }
  }

  private func isInteger(_ expression: Expression, _ row: Row) -> Bool {
    switch expression {
    case .constant(.int): true
    case .constant: false
    case .keyPath(_, let path): path.last != "height"
    case .conditional(let condition, let then, let otherwise):
      isInteger(truth(condition, row) == true ? then : otherwise, row)
    case .function(let name, _) where name.hasPrefix("bitwise"): true
    case .function(_, let arguments): arguments.allSatisfy { isInteger($0, row) }
    default: true
    }
  }
}
