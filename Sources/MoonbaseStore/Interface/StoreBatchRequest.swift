public import MoonbaseModel

/// A batch update or deletion that a store may execute itself.
///
/// Names and types are already checked. The graph passes a request only if the store executes the whole query
/// (`PersistentStore.plan`), no extension's derived attribute is stored, and updated attributes depend on nothing but
/// the row.
public struct StoreBatchRequest: Sendable {
  /// The change of the rows.
  public enum Kind: Sendable {
    /// Sets attributes; all expressions see the row as it was before.
    case update([Slot: NewValue])
    /// Deletes the rows, with the effects of their delete rules; rows that a rule denies stay.
    case delete
  }

  /// The new value of an attribute.
  public enum NewValue: Sendable {
    /// The value of an expression. Constants have the form of stored values.
    case expression(Expression)
    /// The result of a function for the values of these slots. The function is called on the requesting thread.
    case function(BatchUpdateFunction, of: [Slot])
  }

  /// The change to make.
  public let kind: Kind
  /// The query for the affected rows.
  public let query: StoreQuery
  /// The requested kind of result: without a request for IDs, no list of keys is needed.
  public let resultType: BatchResultType
  /// The author to record in a history.
  public let author: String?
  /// The name of the requesting context, to record in a history.
  public let contextName: String?

  /// Makes a request from all its parts.
  package init(kind: Kind, query: StoreQuery, resultType: BatchResultType, author: String?, contextName: String?) {
    (self.kind, self.query, self.resultType) = (kind, query, resultType)
    (self.author, self.contextName) = (author, contextName)
  }
}

/// The result of a batch request that a store executed in one transaction.
public struct StoreBatchResult: Sendable {
  /// The number of rows that matched, or of rows deleted, if the request asks for it.
  public var count: Int
  /// The number of rows whose values an update changed; nil from a store that does not count them.
  public var written: Int?
  /// The IDs of these rows, if the request asks for them.
  public var objectIDs: [ManagedObjectID]
  /// All changes; without a request for IDs it may name entities instead (`SavedObjectIDs.anything(of:)`).
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
  /// Returns nil: the graph reads the rows and saves the changes.
  public func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? { nil }
}
