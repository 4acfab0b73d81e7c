public import MoonbaseModel

/// A store's compiled form of a query, such as a statement, made when planning and used when running it. Opaque to
/// other code.
///
/// ```swift
/// // in `plan`:
/// return QueryPlan(query, accessPath: statement.sql, prepared: statement)
/// // in a session, which was asked with the plan's query:
/// let statement = try query.prepared as? MyStatement ?? MyStatement(query)
/// ```
public protocol PreparedQuery: AnyObject, Sendable {}

/// A fetch in the form for stores: names are resolved, and parts that only a context can evaluate are removed.
///
/// ```swift
/// var query = StoreQuery(entity: entity, in: model)
/// query.limit = 10
/// let rows = try store.snapshots(matching: query)
/// ```
public struct StoreQuery: Sendable {
  /// The entity.
  public var entity: ResolvedEntity { didSet { prepared = nil } }
  /// The model, to resolve entities along key paths.
  public var model: ResolvedModel
  /// Whether rows of subentities match.
  public var includesSubentities: Bool { didSet { prepared = nil } }
  /// The predicate; in a query for rows the store can evaluate all of it (`PersistentStore.plan`).
  public var predicate: Predicate? { didSet { prepared = nil } }
  /// The order; in a query for rows the store can sort by every key.
  public var sortDescriptors: [SortDescriptor] = [] { didSet { if !sortDescriptors.isEmpty { prepared = nil } } }
  /// The values to return in place of rows; nil for rows.
  public var columns: QueryColumns? { didSet { prepared = nil } }
  /// The greatest number of rows; 0 means no limit.
  public var limit: Int = 0
  /// The number of rows to skip.
  public var offset: Int = 0
  /// A condition that all wanted rows satisfy. The context evaluates each row it receives, so a store may omit rows
  /// that do not.
  package var narrowingCondition: IndexedCondition?
  /// The pure derived attributes that predicate and order may use.
  public var functions: (any PureFunctionProvider)? { didSet { prepared = nil } }
  /// The store's compiled form of the query, made when planning. Changing the query resets it, except for limit, offset
  /// and the removal of the order.
  public internal(set) var prepared: (any PreparedQuery)?

  /// Whether rows are left out whose entity number is no entity's. Other queries read such a row as a damaged row.
  package var leavesOutStrayRows = false { didSet { prepared = nil } }

  /// Makes a query for all rows of an entity.
  public init(entity: ResolvedEntity, in model: ResolvedModel, includesSubentities: Bool = true) {
    self.entity = entity
    self.model = model
    self.includesSubentities = includesSubentities
  }
}
