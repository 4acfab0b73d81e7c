public import MoonbaseGraph
public import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

extension SQLiteStore {
  public func reserveKeys(for entity: ResolvedEntity, count: Int) throws -> Int64 {
    let root = try layout.layout(layout.model.entities[entity.root])
    return try write { session in
      try session.connection.transaction {
        let statement = try session.connection.statement(
          "UPDATE Z_PRIMARYKEY SET Z_MAX = IFNULL(Z_MAX, 0) + ? WHERE Z_ENT = ? RETURNING Z_MAX")
        statement.bind(Int64(count), 1)
        statement.bind(root.number, 2)
        defer { statement.reset() }
        guard try statement.step() else {
          throw GraphError(
            .storeFailure, "\(file.path) is damaged: Z_PRIMARYKEY has no row for \(root.entity.name)",
            entity: root.entity.name)
        }
        let last = statement.integer(0)
        while try statement.step() {}
        return last - Int64(count) + 1
      }
    }
  }

  public func save(_ changes: StoreChanges) throws {
    try write { session in
      var transaction = SaveTransaction(
        changes, layout: layout, connection: session.connection, externalData: externalData)
      var isCommitted = false
      defer { transaction.files.settle(committed: isCommitted) }
      try session.connection.transaction {
        if hasHistory {
          try HistoryWriter(layout: layout, connection: session.connection, author: options.transactionAuthor)
            .write(changes)
        }
        try transaction.run()
      }
      isCommitted = true
    }
  }

  /// Hears of the statements that the store runs.
  package var statements: StatementObserver { observer }
}
