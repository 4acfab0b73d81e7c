import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// A `havingPredicate` made ready: a condition on rows that hold the columns of a group, and whatever else it asks of one.
struct GroupCondition {
  private let condition: CompiledPredicate
  /// What the condition asks that no column gives: functions over the objects of a group, and keys of the groups.
  let hiddenColumns: [FetchColumn]

  init(_ predicate: Predicate, columns: [FetchColumn]) throws {
    let names = Set(columns.map(\.name))
    var hidden: [FetchColumn] = []
    let ofRows = predicate.replacing { part in
      guard case .keyPath(.evaluatedObject, let path) = part, part.groupFunction == nil else {
        return part.groupFunction.map { _ in Self.hide(part, in: &hidden) }
      }
      let name = path.joined(separator: ".")
      if names.contains(name) { return .keyPath(.evaluatedObject, [name]) }
      return names.contains(path[0]) ? part : Self.hide(part, in: &hidden)
    }
    hiddenColumns = hidden
    condition = try CompiledPredicate(ofRows, nulls: .fetch)
  }

  /// The key under which a hidden column stands. No column that a person named begins so.
  private static func hide(_ expression: Expression, in hidden: inout [FetchColumn]) -> Expression {
    let name = "\u{0}\(hidden.count)"
    hidden.append(FetchColumn(name, expression: expression))
    return .keyPath(.evaluatedObject, [name])
  }

  /// Whether a row satisfies the condition, the hidden columns among its values.
  func holds(_ names: [String], values: [Value]) throws -> Bool {
    try condition.matches(KeyedRow(row: Dictionary(zip(names, values)) { first, last in last.isNull ? first : last }))
  }
}
