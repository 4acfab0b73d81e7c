public import MoonbaseModel

/// A batch update or deletion that a store may do by itself, in its own words.
///
/// Names, types and the rows that are meant are checked. It is asked for only where the store takes the whole query over
/// (`PersistentStore.plan`), no derived attribute of an extension is stored, and nothing but the row says what an updated attribute is.
public struct StoreBatchRequest: Sendable {
  /// What is to be done with the rows.
  public enum Kind: Sendable {
    /// Each of these attributes is to be another one, all from the row as it was.
    case update([Slot: NewValue])
    /// They are to go, with what their delete rules take along, but for those that a rule denies.
    case delete
  }

  /// What an attribute is to be.
  public enum NewValue: Sendable {
    /// What an expression gives. Constants are values as rows hold them.
    case expression(Expression)
    /// What a function gives of values in these slots. It is called on the thread that asks.
    case function(BatchUpdateFunction, of: [Slot])
  }

  /// What is to be done.
  public let kind: Kind
  /// Which rows are meant.
  public let query: StoreQuery
  /// What is to be told of it: no list of keys need be made where none is asked for.
  public let resultType: BatchResultType
  /// The name that the change bears in a history.
  public let author: String?
  /// The name of the context that asks, for a history.
  public let contextName: String?
}

/// What a store did for a batch request, in one transaction.
public struct StoreBatchResult: Sendable {
  /// How many rows matched, and for a deletion went, where that was asked for.
  public var count: Int
  /// How many rows have another value since an update; nil from a store that does not say.
  public var written: Int?
  /// These rows, where they were asked for.
  public var objectIDs: [ManagedObjectID]
  /// All that was written; where no rows were asked for, it may name entities (`SavedObjectIDs.anything(of:)`).
  public var changes: SavedObjectIDs

  /// Makes a result.
  public init(count: Int? = nil, written: Int? = nil, objectIDs: [ManagedObjectID], changes: SavedObjectIDs) {
    self.count = count ?? objectIDs.count
    self.written = written
    self.objectIDs = objectIDs
    self.changes = changes
  }
}

extension PersistentStore {
  /// Leaves it to the graph, which reads the rows and saves them.
  public func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? { nil }
}
