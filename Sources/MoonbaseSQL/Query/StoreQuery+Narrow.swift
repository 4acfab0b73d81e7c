import MoonbaseGraph
import MoonbaseModel

import enum MoonbaseModel.Expression
import enum MoonbaseModel.Predicate

extension StoreQuery {
  /// The greatest number of objects that counts as few.
  private static let few = 16

  /// Whether the predicate names a few objects, by themselves or by the values of a uniqueness constraint. Then
  /// conditions on destinations are evaluated for each row; a list of all matching owners would cost more.
  var isNarrow: Bool {
    var sought: Set<Int> = []
    for condition in conditions(of: predicate) {
      guard case .comparison(let comparison) = condition, comparison.modifier == .direct else { continue }
      switch (comparison.left, comparison.operator, comparison.right) {
      case (.evaluatedObject, .equal, .constant), (.constant, .equal, .evaluatedObject): return true
      case (.evaluatedObject, .in, .constant(.list(let objects))) where objects.count <= Self.few: return true
      case (.evaluatedObject, .in, .aggregate(let objects)) where objects.count <= Self.few: return true
      case (.keyPath(.evaluatedObject, let keys), .equal, .constant(let value)),
        (.constant(let value), .equal, .keyPath(.evaluatedObject, let keys)):
        guard keys.count == 1, comparison.options.isEmpty, !value.isNull else { continue }
        if let slot = entity.slot(keys[0]) { sought.insert(slot) }
      default: continue
      }
    }
    return entity.uniquenessConstraints.contains { !$0.isEmpty && sought.isSuperset(of: $0) }
  }

  /// The conditions that a predicate joins by AND.
  private func conditions(of predicate: Predicate?) -> [Predicate] {
    switch predicate {
    case .and(let parts): parts.flatMap { conditions(of: $0) }
    case let condition?: [condition]
    case nil: []
    }
  }
}
