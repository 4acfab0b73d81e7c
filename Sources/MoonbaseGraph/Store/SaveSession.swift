public import MoonbaseModel

/// One save of one store on its way: it writes, gets ready, and is committed or aborted. Nobody else writes the store meanwhile.
///
/// A context writes and prepares all stores of a save before it commits the first. Only the thread that began a session uses it.
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
  /// Sets consecutive primary keys aside with the same commit, and returns the first (`PersistentStore.reserveKeys`): who aborts the session
  /// leaves them to the next one. Called before `write`, and only of a store that `reservesKeysInSaves`; a store that takes rows as they come is
  /// asked for no key before, which tells the next one, and for all of them after it.
  func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64
  /// Writes changes, once in a session; or returns what is in the way, after which the session can only be aborted.
  ///
  /// Throws `GraphError` with `.storeFailure`, `.storeBusy`, `.constraintConflict` and others for what is no conflict with another context.
  func write(_ changes: StoreChanges) throws -> [SaveConflict]
  /// The metadata that is not the store's own, as this save finds it.
  func metadata() throws -> [String: Value]
  /// Replaces the metadata that is not the store's own, with the same commit.
  func setMetadata(_ metadata: [String: Value]) throws
  /// Deletes a part of the history that the store keeps, with the same commit; returns how many transactions go.
  func deleteHistory(_ extent: HistoryRange) throws -> Int
  /// Does all that may fail: from here on a commit fails only for want of the store itself.
  func prepare() throws
  /// Makes what was written visible and lasting. Where it throws, the store is as it was before the session.
  func commit() throws
  /// The objects whose values the store derived anew with what was written, as `relationship.@count`: asked after the commit.
  var derivedObjectIDs: [ManagedObjectID] { get }
  /// Gives up what was not committed. It is called for every session whose commit did not succeed, whatever failed before.
  func abort()
}

extension SaveSession {
  /// None: the store derives nothing.
  public var derivedObjectIDs: [ManagedObjectID] { [] }

  /// Refuses it: the store sets keys aside by itself.
  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    throw GraphError(.invalidRequest, message: "the store sets no keys aside within a save", entity: entity.name)
  }

  /// Refuses it: a store that keeps a history deletes what is asked for.
  public func deleteHistory(_ extent: HistoryRange) throws -> Int {
    throw GraphError(.invalidRequest, message: "the store keeps no history of which a part could be deleted")
  }
}

extension PersistentStore {
  /// Writes all changes in one transaction, or none of them. Throws the conflicts as one error.
  public func save(_ changes: StoreChanges, author: String? = nil) throws {
    try inSession(author: author) { try GraphError.throwConflicts($0.writeAll(changes)) }
  }

  /// Replaces the metadata that is not the store's own.
  public func setMetadata(_ metadata: [String: Value]) throws {
    try inSession(author: nil) { try $0.setMetadata(metadata) }
  }

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
