import MoonbaseModel

extension ManagedObjectContext {
  /// Runs `body` and saves. All changes of the body are saved, together with earlier unsaved changes, or none.
  ///
  /// The body must not save. On an error of the body or of the save, the changes of the body are taken back. Earlier
  /// changes stay unsaved. A transaction within another one saves nothing. On an error it takes back the changes of its
  /// own body, and the outer one may go on.
  ///
  /// Where there are earlier changes, a rollback, a reset and a refresh without merging would give up these too. In the
  /// body they throw `.invalidRequest` then.
  @discardableResult
  public func transaction<Result>(_ body: () throws -> Result) throws -> Result {
    try transaction(with: nil, body)
  }

  /// Runs a part of what its caller saves: `body` must not save itself, nor give up what was done before it.
  package func refusingSaves<Result>(_ body: () throws -> Result) rethrows -> Result {
    try withoutSaves(givingUp: false, body)
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
    if isInTransaction { return try undoingOnFailure { try refusingSaves(body) } }
    let hadChanges = hasChanges
    // What was done before, be it that nothing of it waits to be saved, stays to be undone where the transaction fails.
    undoManager?.prepareForTransaction()
    do {
      // Transient values are nowhere but in the objects, so they come back by way of the journal.
      return try undoingOnFailure {
        let result = try withoutSaves(givingUp: !hadChanges, body)
        try save(with: metadataChange)
        return result
      }
    } catch {
      // What was given up or saved on the way cannot be undone. The rollback is whole, whatever hooks say to it; the error that
      // made it necessary is the one to tell.
      if !hadChanges { try? giveUpChanges() }
      tellObservers()
      throw error
    }
  }

  /// Runs a body that must not save, nor, unless said otherwise, give up what was changed before.
  private func withoutSaves<Result>(givingUp mayGiveUp: Bool, _ body: () throws -> Result) rethrows -> Result {
    let former = (isInTransaction, refusesGivingUp)
    (isInTransaction, refusesGivingUp) = (true, refusesGivingUp || !mayGiveUp)
    defer { (isInTransaction, refusesGivingUp) = former }
    return try body()
  }
}
