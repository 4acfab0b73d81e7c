/// A fetch as a value: the entity and condition, the order, and the form of the results.
///
/// ```swift
/// var request = FetchRequest("Person", where: try Predicate(format: "age > 30"))
/// request.sortDescriptors = [SortDescriptor("lastName")]
/// request.fetchLimit = 20
/// ```
public struct FetchRequest: Sendable, Hashable {
  /// The form of a fetch's results. The raw values are Core Data's.
  public enum ResultType: Int, Sendable, Hashable, CaseIterable {
    /// Managed objects.
    case objects = 0
    /// Object IDs.
    case objectIDs = 1
    /// Maps of values, which do not reflect unsaved changes.
    case dictionaries = 2
    /// The number of matches.
    case count = 4
  }

  /// The name of the entity.
  public var entityName: String
  /// The condition; nil matches every object.
  public var predicate: Predicate?
  /// The order of the results; unspecified if empty.
  public var sortDescriptors: [SortDescriptor] = []
  /// The greatest number of results; 0 means no limit.
  public var fetchLimit: Int = 0
  /// The number of results to skip.
  public var fetchOffset: Int = 0
  /// The number of objects read from the store at a time; 0 reads all at once.
  public var fetchBatchSize: Int = 0
  /// Whether objects of subentities are included.
  public var includesSubentities: Bool = true
  /// Whether the results reflect unsaved changes of the context.
  public var includesPendingChanges: Bool = true
  /// Whether the values of results are read together with their IDs.
  public var includesPropertyValues: Bool = true
  /// Whether objects are returned as faults.
  public var returnsObjectsAsFaults: Bool = true
  /// Whether objects already in the context are read again.
  public var shouldRefreshRefetchedObjects: Bool = false
  /// Key paths of relationships whose destinations are fetched in advance.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// The form of the results.
  public var resultType: ResultType = .objects
  /// The columns of dictionary results; if empty, all attributes.
  public var propertiesToFetch: [FetchColumn] = []
  /// The grouping keys of dictionary results: rows with equal values form a group.
  public var propertiesToGroupBy: [String] = []
  /// The condition on groups. It may refer to columns, to grouping keys and to functions over the rows of a group,
  /// which need not be columns: `total > 26 AND max:(age) < 60`.
  public var havingPredicate: Predicate?
  /// Whether duplicate dictionaries are removed.
  public var returnsDistinctResults: Bool = false

  /// A request for all objects of an entity and its subentities.
  public init(_ entityName: String, where predicate: Predicate? = nil) {
    self.entityName = entityName
    self.predicate = predicate
  }
}

extension FetchRequest.ResultType {
  /// The name in a Lua model and in messages.
  public var modelName: String {
    switch self {
    case .objects: "objects"
    case .objectIDs: "ids"
    case .dictionaries: "dictionaries"
    case .count: "count"
    }
  }

  /// The type of a name in a Lua model.
  public init?(modelName: String) {
    guard let type = Self.allCases.first(where: { $0.modelName == modelName }) else { return nil }
    self = type
  }
}
