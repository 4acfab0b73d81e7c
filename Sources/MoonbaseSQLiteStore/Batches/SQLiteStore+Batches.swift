public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Batch requests, which change rows without loading objects.
extension SQLiteStore {
  /// Executes a batch request in SQL, without loading a row: updates with constants and expressions over columns, and
  /// deletions with their delete rules.
  ///
  /// Returns nil for all other requests, which the graph then executes: values from transformers, new bytes for
  /// external files, unique values, rows that a deny rule keeps, and tables with unknown triggers. For changes that the
  /// file refuses the graph reports the reason.
  ///
  /// The transaction is rolled back before nil is returned, so that the graph finds the file unchanged. Throws the
  /// errors of opening a write transaction, of the limits of a script's run and of functions.
  public func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? {
    guard let rows = try BatchRows(request, in: self), let batch = try rows.statement() else { return nil }
    var isRefused = false
    var files = ExternalFiles()
    do {
      let result = try writeTransaction { session in
        do {
          try rows.refuseTriggers(of: rows.table, on: session.connection)
          let result = try batch.run(in: session, files: &files).telling(of: try derive(in: session), in: layout.model)
          try externalData.finish(files, on: session.connection)
          return result
        } catch let refusal as BatchRefusal {
          isRefused = true
          throw refusal
        } catch let error as SQLiteError where error.code.primary == .constraint || error.isLimit {
          isRefused = true
          throw error
        }
      }
      externalData.removeUnused(files, committed: true)
      return result
    } catch {
      if isRefused { return nil }
      throw error
    }
  }
}

/// A batch request as SQL statements. Made for one request; `run` is called once, within the transaction.
protocol BatchStatement {
  /// Runs the batch request, and notes files of values that are no longer used. Throws `BatchRefusal` if the graph has
  /// to execute the request.
  func run(in session: Session, files: inout ExternalFiles) throws -> StoreBatchResult
}

extension BatchRows {
  /// Returns nil for requests that SQL does not do exactly as the graph would.
  fileprivate func statement() throws -> (any BatchStatement)? {
    switch request.kind {
    case .update(let values): try BatchUpdateStatement(self, setting: values)
    case .delete: BatchDeletionStatement(self) ?? BatchCascade(self)
    }
  }
}

/// Thrown when a batch request cannot be done by statements. The graph then executes it, or reports the reason. An
/// internal signal that never leaves the store.
struct BatchRefusal: Error {}

extension StoreBatchResult {
  /// The result, with objects added whose derived values changed. `derived` are objects whose derived attributes follow
  /// the changed rows.
  fileprivate func telling(of derived: [ManagedObjectID], in model: ResolvedModel) -> StoreBatchResult {
    if derived.isEmpty { return self }
    var result = self
    if changes.entityNames.isEmpty {
      let gone = Set(changes.deleted)
      let updated = Set(changes.updated).union(derived).subtracting(gone)
      result.changes = SavedObjectIDs(updated: updated.sorted { $0.key < $1.key }, deleted: changes.deleted)
    } else {
      result.changes = .anything(of: changes.entityNames + Set(derived.map(\.entityName)).sorted())
    }
    return result
  }
}
