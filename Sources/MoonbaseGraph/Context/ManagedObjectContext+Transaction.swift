import MoonbaseModel

extension ManagedObjectContext {
  /// Runs `body` and saves: what it changed is saved as a whole or not at all.
  ///
  /// The body must not save. On an error, its own or the save's, every change is rolled back. Throws `.invalidRequest` where
  /// there are unsaved changes at the beginning, or a transaction runs.
  @discardableResult
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try transaction(with: nil, body)
  }

  /// Runs a part of what its caller saves: `body` must not save itself, nor give up what was done before it.
  package func refusingSaves<Result>(_ body: () throws -> Result) rethrows -> Result {
    let former = (isInTransaction, refusesGivingUp)
    (isInTransaction, refusesGivingUp) = (true, true)
    defer { (isInTransaction, refusesGivingUp) = former }
    return try body()
  }

  /// Throws where what others did would be given up with what is meant to be.
  func refuseGivingUp(_ operation: String) throws {
    guard refusesGivingUp else { return }
    throw GraphError(
      .invalidRequest,
      message:
        "\(operation) among objects that are saved together: raise an error, which gives up what was done with this one"
    )
  }

  /// The same as a transaction, together with a change of a store's metadata.
  @discardableResult
  package func transaction<Result>(with metadataChange: MetadataChange?, _ body: () throws -> Result) throws -> Result {
    try refuseWithinHooks("a transaction was begun")
    guard !isInTransaction else {
      throw GraphError(.invalidRequest, message: "a transaction was begun within another one of the same context")
    }
    guard !hasChanges else {
      throw GraphError(
        .invalidRequest, message: "a transaction begins without unsaved changes: save or roll back first")
    }
    // What was done before, be it that nothing of it waits to be saved, stays to be undone where the transaction fails.
    undoManager?.prepareForTransaction()
    do {
      // Transient values are nowhere but in the objects, so they come back by way of the journal.
      return try undoingOnFailure {
        isInTransaction = true
        defer { isInTransaction = false }
        let result = try body()
        isInTransaction = false
        try save(with: metadataChange)
        return result
      }
    } catch {
      // What was given up or saved on the way cannot be undone. The rollback is whole, whatever hooks say to it; the error that
      // made it necessary is the one to tell.
      try? giveUpChanges()
      tellObservers()
      throw error
    }
  }
}
