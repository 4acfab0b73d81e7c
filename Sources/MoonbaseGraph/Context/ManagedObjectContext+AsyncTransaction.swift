import MoonbaseModel

extension ManagedObjectContext {
  /// Runs `body` with a child of this context, and saves the changes of `body` into the stores: all of them, or none.
  /// `body` may be suspended, and other tasks cannot tear it. Such tasks do not see the changes of `body` before the
  /// save. Their saves and rollbacks concern their own changes alone.
  ///
  /// ```swift
  /// try await container.viewContext.transaction { context in
  ///   let person = try context.object(with: personID)
  ///   try person.setValue(await nameService.name(of: personID), forKey: "name")     // the view goes on meanwhile
  /// }
  /// ```
  ///
  /// The objects of `body` are those of its context: hand over IDs, of new objects after `obtainPermanentIDs(for:)`.
  /// The objects are gone when `body` ends. `body` must not save. A value that `body` and others changed is a conflict,
  /// as between any two contexts, which the merge policy of this context settles. Earlier unsaved changes of this
  /// context are saved with it, and stay unsaved where it fails, as in the transaction that cannot be suspended.
  ///
  /// Throws what `body` and the save throw; then nothing of `body` is left.
  @discardableResult
  public nonisolated(nonsending) func transaction<Result>(
    _ body: nonisolated(nonsending) (ManagedObjectContext) async throws -> Result
  ) async throws -> Result {
    try checkOpen()
    let child = ManagedObjectContext(parent: self)
    (child.name, child.mergePolicy) = (name, mergePolicy)
    child.transactionAuthor = transactionAuthor
    child.isInTransaction = true
    do {
      let result = try await body(child)
      child.isInTransaction = false
      try checkOpen()
      try transaction { try child.save() }
      try child.close()
      return result
    } catch {
      child.isInTransaction = false
      // The changes of `body` are given up with the child.
      try? child.close()
      throw error
    }
  }
}
