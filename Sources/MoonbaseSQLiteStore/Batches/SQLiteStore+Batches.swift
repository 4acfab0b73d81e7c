public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

extension SQLiteStore {
  /// Sets constants, and what expressions make of columns of the row; deletes rows with what their delete rules reach: by sets, without a row here.
  ///
  /// Everything else is left to the graph: values that transformers make, new bytes in files of their own, unique values, rows that a rule
  /// keeps, tables with triggers of others, and what the file refuses, which is told then.
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
      externalData.settle(files, committed: true)
      return result
    } catch {
      if isRefused { return nil }
      throw error
    }
  }
}

/// What does a batch request in SQL.
protocol BatchStatement {
  /// Notes files of values that nobody needs any more.
  func run(in session: Session, files: inout ExternalFiles) throws -> StoreBatchResult
}

extension BatchRows {
  /// Nil for what SQL does not do exactly as the graph would.
  fileprivate func statement() throws -> (any BatchStatement)? {
    switch request.kind {
    case .update(let values): try BatchUpdateStatement(self, setting: values)
    case .delete: BatchDeletionStatement(self) ?? BatchCascade(self)
    }
  }
}

/// A batch request does what no statement here speaks of, or cannot be done: the graph is to do it, or to say why not.
struct BatchRefusal: Error {}

extension StoreBatchResult {
  /// The same, with objects whose values followed.
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
