public import MoonbaseModel

/// A fetch as a store sees it: the names are resolved, and what only a context can do is left out.
///
/// ```swift
/// var query = StoreQuery(entity: entity, in: model)
/// query.limit = 10
/// let rows = try store.snapshots(matching: query)
/// ```
public struct StoreQuery: Sendable {
  /// The entity.
  public var entity: ResolvedEntity
  /// The model, for the entities that key paths lead to.
  public var model: ResolvedModel
  /// Whether rows of subentities match.
  public var includesSubentities: Bool
  /// The condition; a store that is asked for rows can evaluate all of it (`PersistentStore.plan`).
  public var predicate: Predicate?
  /// The order; a store that is asked for rows can sort by every key.
  public var sortDescriptors: [SortDescriptor] = []
  /// The greatest number of rows; 0 means no limit.
  public var limit: Int = 0
  /// How many rows to skip.
  public var offset: Int = 0
  /// What the rows wanted are equal in, where the context looks at each row that it gets: a store may leave others out.
  var sought: IndexedCondition?
  /// The pure derived attributes that predicate and order may name.
  public var functions: (any PureFunctionProvider)?

  /// Makes a query for all rows of an entity.
  public init(entity: ResolvedEntity, in model: ResolvedModel, includesSubentities: Bool = true) {
    self.entity = entity
    self.model = model
    self.includesSubentities = includesSubentities
  }
}
