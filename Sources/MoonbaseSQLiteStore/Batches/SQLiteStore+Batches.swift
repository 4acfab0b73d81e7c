public import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

extension SQLiteStore {
  /// Sets constants, and what expressions make of columns of the row; deletes rows to which nothing leads and which leave nothing behind: by
  /// one statement each, without a row here.
  ///
  /// Everything else is left to the graph: values that transformers make, bytes in files of their own, unique values, delete rules that
  /// reach other rows, tables with triggers of others, and what the file refuses, which is told then.
  public func execute(_ request: StoreBatchRequest) throws -> StoreBatchResult? {
    guard let rows = try BatchRows(request, in: self), let batch = try rows.statement() else { return nil }
    var isRefused = false
    do {
      return try writeTransaction { session in
        do {
          try rows.refuseTriggers(on: session.connection)
          return try batch.run(in: session).telling(of: try derive(in: session), in: layout.model)
        } catch let refusal as BatchRefusal {
          isRefused = true
          throw refusal
        } catch let error as SQLiteError where error.code.primary == .constraint || error.isLimit {
          isRefused = true
          throw error
        }
      }
    } catch {
      if isRefused { return nil }
      throw error
    }
  }
}

/// What does a batch request in SQL.
protocol BatchStatement {
  func run(in session: Session) throws -> StoreBatchResult
}

extension BatchRows {
  /// Nil for what SQL does not do exactly as the graph would.
  fileprivate func statement() throws -> (any BatchStatement)? {
    switch request.kind {
    case .update(let expressions): try BatchUpdateStatement(self, setting: expressions)
    case .delete: BatchDeletionStatement(self)
    }
  }
}

/// A batch request does what no statement here speaks of, or cannot be done: the graph is to do it, or to say why not.
struct BatchRefusal: Error {
  /// What a statement calls where it comes to something that is the graph's.
  static let call = "MOONBASE_BATCH_REFUSAL()"

  static func register(on connection: Connection) throws {
    try connection.register(function: "MOONBASE_BATCH_REFUSAL", arguments: 0, traits: [.directOnly]) { _ in
      throw BatchRefusal()
    }
  }
}

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
