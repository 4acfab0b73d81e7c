package import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// Facts about a store's file, other than its objects.
///
/// The facts that `moonbase info` shows, read in one go from the file's header, schema and history; no object is read.
package struct StoreFacts: Sendable {
  /// The extent of a history.
  package struct History: Sendable {
    /// The number of transactions.
    package var transactions: Int
    /// The time of the first transaction.
    package var first: Date?
    /// The time of the last transaction.
    package var last: Date?
  }

  /// The size of the file in bytes.
  package var size: Int
  /// Whether the file's header requires a write-ahead log.
  package var wantsLog: Bool
  /// The size of the log in bytes; nil if there is none.
  package var logSize: Int?
  /// Whether there is a journal of a process that is writing, or died while writing.
  package var hasJournal: Bool
  /// The size of a page in bytes.
  package var pageSize: Int
  /// The number of pages.
  package var pageCount: Int
  /// The number of unused pages.
  package var freePageCount: Int
  /// Whether CloudKit mirrors the store.
  package var isMirrored: Bool
  /// The history; nil if the store keeps none.
  package var history: History?
  /// Tables that neither the model nor Core Data's format requires; nil without a model.
  package var foreignTables: [String]?
  /// The features that the model requires and the file lacks; nil without a model.
  package var missingFeatures: [MissingFeature]?
}

/// The facts of a file, and what this build of SQLite cannot index.
extension SQLiteStore {
  /// The indexes of an entity that are not created in files, with the reason. For example R-trees in a build without
  /// them.
  package static func unmadeIndexes(
    of entity: ResolvedEntity, keepsRTrees: Bool = Dialect.sqlite.keepsRTrees
  ) -> [(index: FetchIndexDescription, reason: String)] {
    if keepsRTrees { return entity.unstoredIndexes }
    let trees = entity.description.indexes.filter { (try? $0.stored(in: entity))?.structure == .places }
    return entity.unstoredIndexes + trees.map { ($0, "this build of SQLite has no R-trees (SQLITE_ENABLE_RTREE)") }
  }

  /// Reads the facts of a store's file without changing it. `model` determines the known tables.
  ///
  /// Without a model, foreign tables and missing features are unknown. Throws as opening a store for reading does.
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

  /// The tables of the file without SQLite's own.
  private static func tables(_ connection: Connection) throws -> [String] {
    let statement = try connection.statement(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name")
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.text(0)) }
    return names
  }

  /// Whether a table belongs to the format, whatever the model is, or to CloudKit.
  private static func isOfTheFormat(_ table: String) -> Bool {
    ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(table)
      || table.hasPrefix("ANSCK")
  }

  /// Nil if a table of the history is missing.
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
