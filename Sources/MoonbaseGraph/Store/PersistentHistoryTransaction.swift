public import MoonbaseModel
public import MoonbasePlatform

/// One save of one store, as its history tells it.
public struct PersistentHistoryTransaction: Sendable, Hashable {
  /// Its number in the history of the store, which grows.
  public let transactionNumber: Int64
  /// The identifier of the store.
  public let storeID: String
  /// When it was saved.
  public let timestamp: Date
  /// What saves were told to bear as their author (`transactionAuthor` of a context).
  public let author: String?
  /// The `name` of the context that saved.
  public let contextName: String?
  /// The application.
  public let bundleID: String?
  /// The process.
  public let processID: String?
  /// What was done to which objects, in the order of their numbers; nil where only transactions were asked for.
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

  /// The same with its changes.
  package func with(_ changes: [PersistentHistoryChange]?) -> Self {
    Self(
      transactionNumber: transactionNumber, storeID: storeID, timestamp: timestamp, author: author,
      contextName: contextName, bundleID: bundleID, processID: processID, changes: changes)
  }

  /// The place behind it in the history of its store, and of no other one: of several stores `PersistentHistoryToken.advance(past:)` keeps
  /// the places.
  public var token: PersistentHistoryToken { PersistentHistoryToken([storeID: transactionNumber]) }

  /// The objects that it is about, for `mergeChanges(from:)`.
  public var objectIDs: SavedObjectIDs {
    func ids(_ type: PersistentHistoryChange.ChangeType) -> [ManagedObjectID] {
      (changes ?? []).lazy.filter { $0.changeType == type }.map(\.changedObjectID)
    }
    return SavedObjectIDs(inserted: ids(.insert), updated: ids(.update), deleted: ids(.delete))
  }
}

/// What a save did to one object.
public struct PersistentHistoryChange: Sendable, Hashable {
  /// What was done.
  public enum ChangeType: Int64, Sendable, Hashable {
    /// The object was new.
    case insert = 0
    /// It had other values or other destinations than before.
    case update = 1
    /// It went.
    case delete = 2

    /// The kind in a word, as scripts and commands show it.
    package var name: String {
      switch self {
      case .insert: "insert"
      case .update: "update"
      case .delete: "delete"
      }
    }
  }

  /// Its number in the history of the store.
  public let changeID: Int64
  /// The object.
  public let changedObjectID: ManagedObjectID
  /// What was done to it.
  public let changeType: ChangeType
  /// The names of the properties that an update changed, in alphabetical order.
  public let updatedProperties: [String]
  /// What is left of a deleted object: the values, as they were stored, of attributes that are preserved after deletion.
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
