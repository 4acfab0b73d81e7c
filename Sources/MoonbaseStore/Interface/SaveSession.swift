public import MoonbaseModel

/// A save of one store in progress: it writes, prepares, and is committed or aborted. No other session writes the store
/// meanwhile.
///
/// A context writes and prepares all stores of a save before it commits the first. Only the thread that began a session
/// uses it.
///
/// ```swift
/// let session = try store.beginSave(author: "import")
/// do {
///   let conflicts = try session.write(changes)
///   guard conflicts.isEmpty else { throw Refused(conflicts) }
///   try session.prepare()
///   try session.commit()
/// } catch {
///   session.abort()
///   throw error
/// }
/// ```
public protocol SaveSession: AnyObject {
  /// Reserves consecutive primary keys as part of the commit and returns the first (`PersistentStore.reserveKeys`). If
  /// the session is aborted, the keys stay available.
  ///
  /// Called before `write`, only for stores with `reservesKeysInSaves`. For a store that takes rows as they come, a
  /// call with count 0 before `write` returns the next key, and a call after `write` reserves all keys.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64
  /// Writes changes, once in a session. Returns conflicts with other contexts, after which the session can only be
  /// aborted.
  ///
  /// Throws `GraphError` with `.storeFailure`, `.storeBusy`, `.constraintConflict` and others for all other failures.
  func write(_ changes: StoreChanges) throws -> [SaveConflict]
  /// The program's metadata (all except the store's own), as this save finds it.
  func metadata() throws -> [String: Value]
  /// Replaces the program's metadata as part of the commit.
  func setMetadata(_ metadata: [String: Value]) throws
  /// Deletes a part of the store's history as part of the commit; returns the number of deleted transactions.
  func deleteHistory(_ extent: HistoryRange) throws -> Int
  /// Completes everything that may fail: afterwards a commit fails only if the store itself does.
  func prepare() throws
  /// Makes the changes visible and durable. If it throws, the store is unchanged.
  func commit() throws
  /// The objects whose derived values (such as `relationship.@count`) changed with the save. Read after the commit.
  var derivedObjectIDs: [ManagedObjectID] { get }
  /// Discards uncommitted changes. Called for every session whose commit did not succeed, whatever failed before.
  func abort()
}

extension SaveSession {
  /// None: the store derives no values.
  public var derivedObjectIDs: [ManagedObjectID] { [] }

  /// Throws `.invalidRequest`: the store reserves keys outside saves.
  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    throw GraphError(.invalidRequest, message: "the store sets no keys aside within a save", entity: entity.name)
  }

  /// Throws `.invalidRequest`: only a store with a history can delete from it.
  public func deleteHistory(_ extent: HistoryRange) throws -> Int {
    throw GraphError(.invalidRequest, message: "the store keeps no history of which a part could be deleted")
  }
}

extension PersistentStore {
  /// Writes all changes in one transaction, or none. Throws the conflicts as one error.
  public func save(_ changes: StoreChanges, author: String? = nil) throws {
    try inSession(author: author) { try GraphError.throwConflicts($0.writeAll(changes)) }
  }

  /// Replaces the program's metadata.
  public func setMetadata(_ metadata: [String: Value]) throws {
    try inSession(author: nil) { try $0.setMetadata(metadata) }
  }

  /// Runs `body` in a session, prepares and commits it, or aborts it on an error.
  private func inSession(author: String?, _ body: (any SaveSession) throws -> Void) throws {
    let session = try beginSave(author: author)
    do {
      try body(session)
      try session.prepare()
      try session.commit()
    } catch {
      session.abort()
      throw error
    }
  }
}
