package import MoonbaseGraph
package import MoonbaseModel
import MoonbaseModelFormats
package import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// The layout and the metadata of a store's file, checked against the model.
///
/// Read once when a store opens, and again when its schema changed (`SchemaCheck`). Reads only the schema, the metadata
/// and the entity numbers, so the time does not depend on the number of rows.
package struct StoreContents {
  /// The tables and columns of the held entities.
  package let layout: StoreLayout
  /// The UUID, the version hashes and further entries.
  package let metadata: StoreMetadata
  /// Whether CloudKit mirrors the store.
  package let isMirrored: Bool
  /// Whether the file has history tables.
  let tracksHistory: Bool
  /// Whether the file has virtual tables, of SQLite's modules or an app's.
  let hasVirtualTables: Bool
  /// The features of the model that the file lacks. The file is then only read.
  package let missingFeatures: [MissingFeature]

  /// Returns nil for a database without tables, which a process leaves that died while it made a store.
  ///
  /// Throws `.invalidStore` for databases that are no stores and for damaged ones, `.incompatibleVersionHash` for a
  /// store of another model. `entities` are those of the configuration; all of them must be in the file.
  package init?(_ connection: Connection, path: String, model: ResolvedModel, entities: [ResolvedEntity]) throws {
    guard try !Self.isBare(connection, path: path) else {
      if let encoding = try ColumnDeclarations(connection).otherEncoding { throw encoding.error(in: path) }
      return nil
    }
    metadata = try StoreMetadata(connection, path: path)
    let version = StoreMetadata.version(model, entities: entities)
    let schema = try FileSchema(connection, path: path)
    guard schema.has("Z_PRIMARYKEY") else {
      throw GraphError(
        .invalidStore, message: "\(path) is damaged: it has no table Z_PRIMARYKEY, which every store has")
    }
    try StoreCompatibility(path: path, stored: metadata.hashes, version: version, model: model.description) {
      // If the stored model cannot be read, only the details of the error message are missing.
      (try? Self.modelCache(connection, schema: schema)).flatMap { try? ManagedObjectModel(modelCache: $0) }
    }.check()
    (layout, missingFeatures) = try Self.layout(
      model, held: entities, in: schema, metadata: metadata, connection, path: path)
    for table in Set(layout.entities.compactMap { $0?.table }).sorted() {
      try schema.require(["Z_PK", "Z_ENT", "Z_OPT"], in: table)
    }
    tracksHistory = schema.has("ACHANGE") && schema.has("ATRANSACTION")
    hasVirtualTables =
      try connection.integer("SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage = 0 LIMIT 1") != nil
    isMirrored = schema.tables.keys.contains { $0.hasPrefix("ANSCK") }
  }

  /// The places of the model's entities in a file, and the features that the file lacks. Also drops R-trees from the
  /// layout that the file does not maintain.
  package static func layout(
    _ model: ResolvedModel, held entities: [ResolvedEntity], in schema: FileSchema, metadata: StoreMetadata,
    _ connection: Connection, path: String
  ) throws -> (layout: StoreLayout, missing: [MissingFeature]) {
    var builder = LayoutBuilder(
      model: model, entities: entities, file: schema, elementColumns: metadata.elementColumns, path: path,
      dialect: .sqlite)
    var layout = try builder.build()
    try layout.keepRTrees(of: connection)
    let declared = try ColumnDeclarations(connection).features(&layout, in: schema)
    let half = HistoryForm.half(hasChanges: schema.has("ACHANGE"), hasTransactions: schema.has("ATRANSACTION"))
    return (layout, layout.lacks.features + declared + [half].compactMap(\.self))
  }

  /// Throws `.readOnlyStore` where the file lacks features: it must not be written then. The message has the missing
  /// feature and the remedy.
  package func checkIsWhole(_ path: String) throws {
    if let advice = missingFeatures.writingAdvice {
      throw GraphError(.readOnlyStore, message: "\(path) is read-only: \(advice)")
    }
  }

  /// Whether a database is empty, so that a store may be made in it.
  ///
  /// Throws `.invalidStore` for an empty database in log mode: a store switches to log mode when its tables exist, so
  /// the log with the tables is missing. A process that dies while it makes a store leaves such a file.
  package static func isBare(_ connection: Connection, path: String) throws -> Bool {
    guard try connection.integer("SELECT 1 FROM sqlite_master LIMIT 1") == nil else { return false }
    guard connection.usesWriteAheadLog else { return true }
    throw GraphError(
      .invalidStore,
      message:
        "\(path) has no tables, and wants a write-ahead log: the log that held its tables (\(path)-wal) is missing, or is not "
        + "this file's; put it back, restore both from a backup, or delete the file to make a new store")
  }

  /// The archived model of a store. Nil for stores of old frameworks. A complete model among the metadata is preferred
  /// over the cache. Throws for a cache table without its column.
  package static func modelCache(_ connection: Connection, schema: FileSchema) throws -> Data? {
    guard schema.has("Z_MODELCACHE") else { return nil }
    try schema.require(["Z_CONTENT"], in: "Z_MODELCACHE")
    let statement = try connection.statement("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
    defer { statement.reset() }
    guard try statement.step() else { return nil }
    let cache = statement.data(0)
    return (try? StoreMetadata(connection, path: ""))?.model(besideCache: cache) ?? cache
  }
}

/// The limit for the size of metadata.
extension Connection {
  /// The greatest size of a metadata value in bytes; larger values are not read. 64 MiB.
  private static var greatestFact: Int { 64 << 20 }

  /// Reads metadata. Throws `.invalidStore` for a value that is far too large. SQLite's limit for values is lowered
  /// while `body` runs, so that a damaged file cannot exhaust memory.
  package func readingFacts<Result>(ofStoreAt path: String, _ body: () throws -> Result) throws -> Result {
    greatestValue = Self.greatestFact
    defer { greatestValue = Self.greatestValue }
    do {
      return try body()
    } catch let error as SQLiteError where error.code.primary == .tooBig && HostWork.greatestValue > Self.greatestFact {
      throw GraphError(
        .invalidStore,
        message: "\(path) is damaged: what it says of itself has more than \(Self.greatestFact >> 20) MiB",
        underlying: error)
    }
  }
}
