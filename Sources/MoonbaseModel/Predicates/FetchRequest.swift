/// A fetch as a value: what to look for, in which order, and what to return.
///
/// ```swift
/// var request = FetchRequest("Person", where: try Predicate(format: "age > 30"))
/// request.sortDescriptors = [SortDescriptor("lastName")]
/// request.fetchLimit = 20
/// ```
public struct FetchRequest: Sendable, Hashable {
  /// What a fetch returns. Raw values are Core Data's.
  public enum ResultType: Int, Sendable, Hashable, CaseIterable {
    /// Managed objects.
    case objects = 0
    /// Object IDs.
    case objectIDs = 1
    /// Maps of values, which never reflect unsaved changes.
    case dictionaries = 2
    /// The number of matches.
    case count = 4
  }

  /// The name of the entity.
  public var entityName: String
  /// The condition; nil matches every object.
  public var predicate: Predicate?
  /// The order; without one there is none.
  public var sortDescriptors: [SortDescriptor] = []
  /// The greatest number of results; 0 means no limit.
  public var fetchLimit: Int = 0
  /// How many results to skip.
  public var fetchOffset: Int = 0
  /// How many objects to read from the store at a time; 0 reads all at once.
  public var fetchBatchSize: Int = 0
  /// Whether objects of subentities are wanted too.
  public var includesSubentities: Bool = true
  /// Whether unsaved changes of the context count.
  public var includesPendingChanges: Bool = true
  /// Whether the values of results are read with their IDs.
  public var includesPropertyValues: Bool = true
  /// Whether results are returned as faults.
  public var returnsObjectsAsFaults: Bool = true
  /// Whether objects that are in the context already are read anew.
  public var shouldRefreshRefetchedObjects: Bool = false
  /// Key paths of relationships whose destinations are read along.
  public var relationshipKeyPathsForPrefetching: [String] = []
  /// What is returned.
  public var resultType: ResultType = .objects
  /// The columns of dictionary results; empty stands for all attributes.
  public var propertiesToFetch: [FetchColumn] = []
  /// Key paths whose equal values put rows into one group of dictionary results.
  public var propertiesToGroupBy: [String] = []
  /// The condition on groups. It may name columns, the keys of the groups, and functions over the rows of a group, which need
  /// not be columns: `total > 26 AND max:(age) < 60`.
  public var havingPredicate: Predicate?
  /// Whether equal dictionaries are returned once.
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
