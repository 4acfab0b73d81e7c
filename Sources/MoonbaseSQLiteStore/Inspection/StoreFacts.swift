package import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// What a store's file is, beside what is in it.
package struct StoreFacts: Sendable {
  /// What a history holds.
  package struct History: Sendable {
    package var transactions: Int
    package var first: Date?
    package var last: Date?
  }

  /// The bytes of the file.
  package var size: Int
  /// Whether the file says of itself that it has a write-ahead log.
  package var wantsLog: Bool
  /// The bytes of the log beside it; nil where there is none.
  package var logSize: Int?
  /// Whether a journal of a process that died, or that writes just now, lies beside it.
  package var hasJournal: Bool
  package var pageSize: Int
  package var pageCount: Int
  /// Pages that nothing is in.
  package var freePageCount: Int
  /// Whether CloudKit mirrors the store.
  package var isMirrored: Bool
  /// Nil where it keeps none.
  package var history: History?
  /// Tables that neither the model nor Core Data's format asks for; nil without a model.
  package var foreignTables: [String]?
  /// What the model asks for and the file lacks; nil without a model.
  package var missingFeatures: [MissingFeature]?
}

extension SQLiteStore {
  /// The indexes of an entity that no file has which is made here, and why.
  package static func unmadeIndexes(
    of entity: ResolvedEntity, keepsRTrees: Bool = Dialect.sqlite.keepsRTrees
  ) -> [(index: FetchIndexDescription, reason: String)] {
    if keepsRTrees { return entity.unstoredIndexes }
    let trees = entity.description.indexes.filter { (try? $0.stored(in: entity))?.structure == .places }
    return entity.unstoredIndexes + trees.map { ($0, "this build of SQLite has no R-trees (SQLITE_ENABLE_RTREE)") }
  }

  /// What can be told of a store's file. It is only read; `model` is the one whose tables are known.
  package static func facts(
    ofStoreAt url: URL, model: ResolvedModel?, busyTimeout: Duration? = nil
  ) throws -> StoreFacts {
    let file = StoreFile(url: url)
    return try withFile(url, busyTimeout: busyTimeout) { connection in
      let metadata = try StoreMetadata(connection, path: file.path)
      let schema = try FileSchema(connection, path: file.path)
      let tables = try tables(connection)
      let layout = try model.map {
        try StoreContents.layout(
          $0, held: metadata.held(of: $0), in: schema, metadata: metadata, connection, path: file.path)
      }
      return StoreFacts(
        size: file.size("") ?? 0, wantsLog: connection.usesWriteAheadLog, logSize: file.size("-wal"),
        hasJournal: file.hasJournal, pageSize: Int(try connection.integer("PRAGMA page_size") ?? 0),
        pageCount: Int(try connection.integer("PRAGMA page_count") ?? 0),
        freePageCount: Int(try connection.integer("PRAGMA freelist_count") ?? 0),
        isMirrored: tables.contains { $0.uppercased().hasPrefix("ANSCK") },
        history: try history(connection, schema: schema),
        foreignTables: layout.map { layout, _ in
          let trees = layout.rTrees.flatMap { tree in ["", "_node", "_rowid", "_parent"].map { tree.name + $0 } }
          let known = Set((layout.tables.map(\.name) + layout.joins.map(\.table) + trees).map { $0.uppercased() })
          return tables.filter { !known.contains($0.uppercased()) && !isOfTheFormat($0.uppercased()) }
        }, missingFeatures: layout?.missing)
    }
  }

  private static func tables(_ connection: Connection) throws -> [String] {
    let statement = try connection.statement(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.text(0)) }
    return names
  }

  /// Tables that stores have whatever their model is; those of CloudKit are told by themselves.
  private static func isOfTheFormat(_ table: String) -> Bool {
    ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(table)
      || table.hasPrefix("ANSCK")
  }

  private static func history(_ connection: Connection, schema: FileSchema) throws -> StoreFacts.History? {
    guard schema.has("ACHANGE"), schema.has("ATRANSACTION") else { return nil }
    let statement = try connection.statement("SELECT COUNT(*), MIN(ZTIMESTAMP), MAX(ZTIMESTAMP) FROM ATRANSACTION")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    func date(_ column: Int32) -> Date? {
      statement.storedDouble(column).map(Date.init(timeIntervalSinceReferenceDate:))
    }
    return .init(transactions: Int(statement.integer(0)), first: date(1), last: date(2))
  }
}
