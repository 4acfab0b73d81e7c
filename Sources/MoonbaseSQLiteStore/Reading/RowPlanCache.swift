import MoonbaseModel
import MoonbasePlatform

/// The row plans of a store, by entity.
///
/// Owned by the store. A lock protects the plans; two threads may make the same plan at once, and the last one is kept.
final class RowPlanCache: Sendable {
  /// Only plans for all slots are kept.
  private struct Key: Hashable {
    /// The entity of the plan.
    var entity: EntityIndex
    /// Whether rows of subentities are included.
    var includesSubentities: Bool
  }

  /// Grows to two plans per entity at most.
  private let plans = Lock<[Key: RowPlan]>([:])

  /// Calls `make` without the lock.
  func plan(_ entity: ResolvedEntity, includesSubentities: Bool, _ make: () throws -> RowPlan) throws -> RowPlan {
    let key = Key(entity: entity.index, includesSubentities: includesSubentities)
    if let known = plans.withLock({ $0[key] }) { return known }
    let new = try make()
    plans.withLock { $0[key] = new }
    return new
  }
}
