import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

/// A compiled `havingPredicate`: a condition on the columns of a group and on further values that it needs.
///
/// For example, `count(*) > 2` needs a hidden column for the count, if the request does not show it.
struct GroupCondition {
  /// Over rows with hidden columns.
  private let condition: CompiledPredicate
  /// The condition, with columns referred to by name.
  private let ofRows: Predicate
  /// The further values that the condition needs: functions over the objects of a group, and group keys.
  let hiddenColumns: [FetchColumn]

  /// Throws errors of the predicate.
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
    self.ofRows = ofRows
    condition = try CompiledPredicate(ofRows, nulls: .fetch)
  }

  /// Adds a hidden column and returns its key path. Names of ordinary columns never begin with a null character. Each
  /// occurrence gets a column of its own.
  private static func hide(_ expression: Expression, in hidden: inout [FetchColumn]) -> Expression {
    let name = "\u{0}\(hidden.count)"
    hidden.append(FetchColumn(name, expression: expression))
    return .keyPath(.evaluatedObject, [name])
  }

  /// The condition for stores, with columns referred to by place, or the reason why the context evaluates it, as a
  /// clause. For example "0 > 2" for a condition on the first column.
  func placed(_ columns: [GroupColumn]) -> (condition: Predicate?, reason: String?) {
    var places: [String: Int] = [:]
    var place = 0
    for column in columns {
      // If two columns share a name, the last non-null value counts, so neither has a fixed place.
      if column.isPlain { places[column.name] = places[column.name] == nil ? place : -1 }
      place += column.partCount
    }
    var reason: String?
    let placed = ofRows.replacing { part in
      switch part {
      case .keyPath(.evaluatedObject, let path):
        if path.count == 1, let place = places[path[0]], place >= 0 { return .keyPath(.evaluatedObject, ["\(place)"]) }
        reason = "\(path.joined(separator: ".")) is computed by the context"
        return part
      case .evaluatedObject:
        reason = "only it has the rows as they are shown"
        return part
      default: return nil
      }
    }
    return reason == nil ? (placed, nil) : (nil, reason)
  }

  /// Whether a row, including hidden columns, satisfies the condition. A later value that is not null replaces an
  /// earlier one of the same name.
  func holds(_ names: [String], values: [Value]) throws -> Bool {
    try condition.matches(KeyedRow(row: Dictionary(zip(names, values)) { first, last in last.isNull ? first : last }))
  }
}
