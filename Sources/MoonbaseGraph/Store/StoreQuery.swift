public import MoonbaseModel

/// What a store makes of a query to plan it, and needs again to run it: a statement in its own words. Nobody but the store looks into it.
///
/// ```swift
/// // in `plan`:
/// return QueryPlan(query, how: statement.sql, prepared: statement)
/// // in a session, which was asked with the plan's query:
/// let statement = try query.prepared as? MyStatement ?? MyStatement(query)
/// ```
public protocol PreparedQuery: AnyObject, Sendable {}

/// A fetch as a store sees it: the names are resolved, and what only a context can do is left out.
///
/// ```swift
/// var query = StoreQuery(entity: entity, in: model)
/// query.limit = 10
/// let rows = try store.snapshots(matching: query)
/// ```
public struct StoreQuery: Sendable {
  /// The entity.
  public var entity: ResolvedEntity { didSet { prepared = nil } }
  /// The model, for the entities that key paths lead to.
  public var model: ResolvedModel
  /// Whether rows of subentities match.
  public var includesSubentities: Bool { didSet { prepared = nil } }
  /// The condition; a store that is asked for rows can evaluate all of it (`PersistentStore.plan`).
  public var predicate: Predicate? { didSet { prepared = nil } }
  /// The order; a store that is asked for rows can sort by every key.
  public var sortDescriptors: [SortDescriptor] = [] { didSet { if !sortDescriptors.isEmpty { prepared = nil } } }
  /// What is wanted in the place of rows; nil for the rows themselves.
  public var columns: QueryColumns? { didSet { prepared = nil } }
  /// The greatest number of rows; 0 means no limit.
  public var limit: Int = 0
  /// How many rows to skip.
  public var offset: Int = 0
  /// What the rows wanted are equal in, where the context looks at each row that it gets: a store may leave others out.
  var sought: IndexedCondition?
  /// The pure derived attributes that predicate and order may name.
  public var functions: (any PureFunctionProvider)? { didSet { prepared = nil } }
  /// What the store made of the query when it planned it; nil once something else is asked. Another limit or offset leaves it, and so
  /// does an order that is not wanted any more.
  public internal(set) var prepared: (any PreparedQuery)?

  /// Makes a query for all rows of an entity.
  public init(entity: ResolvedEntity, in model: ResolvedModel, includesSubentities: Bool = true) {
    self.entity = entity
    self.model = model
    self.includesSubentities = includesSubentities
  }
}
