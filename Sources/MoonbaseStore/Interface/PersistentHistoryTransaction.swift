public import MoonbaseModel
public import MoonbasePlatform

/// A save of a store, as recorded in the store's history.
public struct PersistentHistoryTransaction: Sendable, Hashable {
  /// The number of the transaction in the store's history; numbers grow.
  public let transactionNumber: Int64
  /// The identifier of the store.
  public let storeID: String
  /// The time of the save.
  public let timestamp: Date
  /// The author that the save had set (`transactionAuthor` of the context).
  public let author: String?
  /// The `name` of the context that saved.
  public let contextName: String?
  /// The identifier of the application.
  public let bundleID: String?
  /// The identifier of the process.
  public let processID: String?
  /// The changes of objects, in the order of their numbers; nil if the request was for transactions only.
  public let changes: [PersistentHistoryChange]?

  /// Makes a transaction, for a store that keeps a history.
  public init(
    transactionNumber: Int64, storeID: String, timestamp: Date, author: String? = nil, contextName: String? = nil,
    bundleID: String? = nil, processID: String? = nil, changes: [PersistentHistoryChange]? = nil
  ) {
    self.transactionNumber = transactionNumber
    self.storeID = storeID
    self.timestamp = timestamp
    self.author = author
    self.contextName = contextName
    self.bundleID = bundleID
    self.processID = processID
    self.changes = changes
  }

  /// A copy with other changes.
  package func with(_ changes: [PersistentHistoryChange]?) -> Self {
    Self(
      transactionNumber: transactionNumber, storeID: storeID, timestamp: timestamp, author: author,
      contextName: contextName, bundleID: bundleID, processID: processID, changes: changes)
  }

  /// The token that stands directly behind this transaction. It has no position in other stores; to read several, use
  /// `PersistentHistoryToken.advance(past:)`.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

  /// The IDs of the changed objects, for `mergeChanges(from:)`.
  public var objectIDs: SavedObjectIDs {
    func ids(_ type: PersistentHistoryChange.ChangeType) -> [ManagedObjectID] {
      (changes ?? []).lazy.filter { $0.changeType == type }.map(\.changedObjectID)
    }
    return SavedObjectIDs(inserted: ids(.insert), updated: ids(.update), deleted: ids(.delete))
  }
}

/// The change of one object by a save.
public struct PersistentHistoryChange: Sendable, Hashable {
  /// The kind of a change.
  public enum ChangeType: Int64, Sendable, Hashable {
    /// The object was inserted.
    case insert = 0
    /// Values or destinations of the object changed.
    case update = 1
    /// The object was deleted.
    case delete = 2

    /// The name of the kind, as scripts and commands show it.
    package var name: String {
      switch self {
      case .insert: "insert"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  /// The number of the change in the store's history.
  public let changeID: Int64
  /// The ID of the object.
  public let changedObjectID: ManagedObjectID
  /// The kind of the change.
  public let changeType: ChangeType
  /// The names of the properties that an update changed, in alphabetical order.
  public let updatedProperties: [String]
  /// The stored values of a deleted object's attributes that are preserved after deletion.
  public let tombstone: [String: Value]

  /// Makes a change, for a store that keeps a history.
  public init(
    changeID: Int64, changedObjectID: ManagedObjectID, changeType: ChangeType, updatedProperties: [String] = [],
    tombstone: [String: Value] = [:]
  ) {
    self.changeID = changeID
    self.changedObjectID = changedObjectID
    self.changeType = changeType
    self.updatedProperties = updatedProperties
    self.tombstone = tombstone
  }
}
