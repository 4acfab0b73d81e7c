import MoonbaseModel

/// The asynchronous form of `transaction`.
extension ManagedObjectContext {
  /// Runs `body` with a child of this context and saves its changes into the stores: all of them, or none.
  ///
  /// `body` may be suspended. Its changes are visible to other tasks only after the save. Saves and rollbacks of other
  /// tasks affect only their own changes.
  ///
  /// ```swift
  /// try await container.viewContext.transaction { context in
  ///   let person = try context.object(with: personID)
  ///   try person.setValue(await nameService.name(of: personID), forKey: "name")     // the view goes on meanwhile
  /// }
  /// ```
  ///
  /// The objects of `body` belong to the child context and are gone when `body` ends: pass IDs, for new objects after
  /// `obtainPermanentIDs(for:)`. `body` must not save. A value that `body` and other code changed is a conflict, as
  /// between any two contexts, which the merge policy of this context resolves. Earlier unsaved changes of this context
  /// are saved as well, and stay unsaved if the save fails, as in the synchronous transaction.
  ///
  /// Throws the errors of `body` and of the save. After an error no change of `body` remains.
  @discardableResult
  public nonisolated(nonsending) func transaction<Result>(
    _ body: nonisolated(nonsending) (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try checkOpen()
    let child = ManagedObjectContext(parent: self)
    child.name = name
    child.mergePolicy = mergePolicy.isError ? .errorAtCollisions : mergePolicy
    child.transactionAuthor = transactionAuthor
    child.isInTransaction = true
    do {
      let result = try await body(child)
      child.isInTransaction = false
      try checkOpen()
      // The child reads new objects of this context by permanent IDs, which a savepoint refuses to give.
      try obtainPermanentIDs(for: insertedObjects)
      try transaction { try child.save() }
      try child.close()
      return result
    } catch {
      child.isInTransaction = false
      // The changes of `body` are discarded with the child.
      try? child.close()
      throw error
    }
  }
}
