import Moonbase
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLiteTools

#if PostgreSQL
  import MoonbasePostgreSQLStore
#endif

/// The rows that a statement in SQL finds in a store, which is a file or on a server. The store is only read.
struct StoredRows {
  /// The names of the columns.
  let columns: [String]
  /// Why the statement has the names of tables alone; nil where it has the names of the model.
  let lackOfViews: String?
  /// The next row; nil at the end.
  let next: () throws -> [Value]?

  /// Runs a statement.
  ///
  /// - Parameters:
  ///   - sql: A single statement that reads.
  ///   - store: The store.
  ///   - model: The model whose names the statement uses, or nil.
  /// - Throws: `.invalidRequest` for an invalid statement, and the errors of opening a store.
  init(_ sql: String, of store: PersistentStoreDescription, model: ResolvedModel?) throws {
    if let url = store.url {
      let query = try NamedQuery(sql, ofStoreAt: url, model: model, busyTimeout: store.busyTimeout)
      (columns, lackOfViews, next) = (query.columns, nil, query.next)
      return
    }
    #if PostgreSQL
      if let address = store.address {
        let query = try ServerQuery(sql, ofStoreAt: address, model: model, busyTimeout: store.busyTimeout)
        (columns, lackOfViews, next) = (query.columns, query.lackOfViews, query.next)
        return
      }
    #endif
    // Throws for an address in a build that opens none.
    _ = try store.keptMetadata()
    throw UsageError("SQL asks a store in a file or on a server, and the store is in memory")
  }
}
