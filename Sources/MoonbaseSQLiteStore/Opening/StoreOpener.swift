import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Opens or makes a store's file, and says what it found.
struct StoreOpener {
  struct Result {
    var layout: StoreLayout
    var metadata: StoreMetadata
    var hasHistory: Bool
    /// Nil where the store is only read.
    var writer: Session?
  }

  let file: StoreFile
  let model: ResolvedModel
  let entities: [ResolvedEntity]
  let options: SQLiteStoreOptions

  func open() throws -> Result {
    do {
      switch try file.state() {
      case .database: return try openExisting()
      case .absent where options.readOnly: throw Self.missing(file)
      case .absent: return try create()
      }
    } catch {
      throw StoreFailure(url: file.url).translate(error)
    }
  }

  static func missing(_ file: StoreFile) -> GraphError {
    GraphError(.cannotOpenFile, "\(file.path): there is no such store; open it for writing to make one")
  }

  // MARK: An existing file

  /// Looks first without changing a byte; a connection that writes is opened only when all is well.
  private func openExisting() throws -> Result {
    let probe = try file.openForReading()
    let metadata = try StoreMetadata(probe, path: file.path)
    let version = StoreMetadata.version(model, entities)
    let schema = try FileSchema(probe)
    try StoreCompatibility(path: file.path, stored: metadata.hashes, version: version, model: model.description) {
      // A model that cannot be read costs the message its details, nothing else.
      (try? SQLiteStore.modelCache(probe, schema)).flatMap { try? ManagedObjectModel(modelCache: $0) }
    }.check()
    var builder = LayoutBuilder(model: model, entities: entities, file: schema)
    let layout = try builder.build()
    if let table = Set(layout.entities.compactMap { $0?.table }).sorted().first(where: { !schema.has($0) }) {
      throw GraphError(.invalidStore, "\(file.path) is damaged: it has no table \(table), which its model asks for")
    }
    let isMirrored = schema.columns.keys.contains { $0.hasPrefix("ANSCK") } && !options.allowsCloudKit
    let writes = !options.readOnly && !isMirrored
    if writes && !file.isWritable {
      throw GraphError(
        .readOnlyStore, "\(file.path) may not be written: open it read-only, or change its permissions")
    }
    return Result(
      layout: layout, metadata: metadata, hasHistory: schema.has("ACHANGE") && schema.has("ATRANSACTION"),
      writer: writes ? try writer() : nil)
  }

  // MARK: A new file

  private func create() throws -> Result {
    try file.checkFolder()
    var builder = LayoutBuilder(model: model, entities: entities, file: nil)
    let layout = try builder.build()
    let metadata = StoreMetadata(model: model, entities: entities)
    let wasThere = FileManager.default.fileExists(atPath: file.path)
    do {
      let connection = try Connection(file.path, mode: .create)
      try connection.executeScript("PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL")
      try connection.execute("PRAGMA journal_mode = WAL")
      try connection.transaction { try SchemaWriter(layout: layout, metadata: metadata).write(connection) }
      return Result(layout: layout, metadata: metadata, hasHistory: false, writer: try prepared(connection))
    } catch {
      if !wasThere {
        for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file.path + suffix) }
      }
      throw error
    }
  }

  // MARK: Connections

  private func writer() throws -> Session {
    let connection = try Connection(file.path, mode: .readWrite)
    connection.setBusyTimeout(milliseconds: options.busyTimeout)
    try connection.execute("PRAGMA journal_mode = WAL")
    return try prepared(connection)
  }

  private func prepared(_ connection: Connection) throws -> Session {
    try connection.execute("PRAGMA synchronous = NORMAL")
    // SQLite's 2 MiB are too few for the pages that one save of many objects touches: indexes are written all over.
    try connection.execute("PRAGMA cache_size = -32768")
    return try Session(connection, busyTimeout: options.busyTimeout)
  }

  /// A connection for a reader. On a store that is written it is an ordinary one, which takes part in the write-ahead log.
  static func reader(_ file: StoreFile, isReadOnly: Bool, _ options: SQLiteStoreOptions) throws -> Session {
    let connection = isReadOnly ? try file.openForReading() : try Connection(file.path, mode: .readWrite)
    if !isReadOnly { try connection.execute("PRAGMA query_only = 1") }
    return try Session(connection, busyTimeout: options.busyTimeout)
  }
}
