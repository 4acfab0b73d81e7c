import MoonbaseModel
import MoonbasePlatform

/// The row plans of a store, by entity.
final class RowPlanCache: Sendable {
  private struct Key: Hashable {
    var entity: EntityIndex
    var includesSubentities: Bool
  }

  private let plans = Lock<[Key: RowPlan]>([:])

  func plan(_ entity: ResolvedEntity, includesSubentities: Bool, _ make: () throws -> RowPlan) throws -> RowPlan {
    let key = Key(entity: entity.index, includesSubentities: includesSubentities)
    if let known = plans.withLock({ $0[key] }) { return known }
    let new = try make()
    plans.withLock { $0[key] = new }
    return new
  }
}
