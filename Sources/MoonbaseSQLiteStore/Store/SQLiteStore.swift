public import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// A store in a SQLite file of Core Data's own format.
///
/// Contexts on several threads share a store. A single connection writes. Reading connections use the write-ahead log
/// and do not wait for saves.
///
/// ```swift
/// let store = try SQLiteStore(url: url, model: model.resolved())
/// try coordinator.add(store)
/// ```
///
/// The file has one row for each object, in a table for each root entity. It can be open at the same time in programs
/// that use Core Data. The store keeps its connections until `close` or until it is released. All methods are
/// thread-safe.
public final class SQLiteStore: PersistentStore {
  /// The store's UUID.
  public let identifier: String
  /// Whether the store cannot be written.
  public let isReadOnly: Bool
  /// The reason why a read-only store cannot be written, with advice.
  public let writingAdvice: String
  /// The features of the model that the file, or Moonbase, lacks. With missing features a store is read-only, whatever
  /// the options say. A request that needs a missing feature throws.
  public let missingFeatures: [MissingFeature]
  /// The entities that the store holds.
  public let entities: [ResolvedEntity]

  /// The file, with its path and its lock timeout.
  package let file: StoreFile
  /// The options of opening.
  package let options: SQLiteStoreOptions
  /// The tables and columns of the entities.
  package let layout: StoreLayout
  /// The store in object IDs.
  let number: StoreNumber
  /// The folder of large values.
  package let externalData: ExternalData
  /// The reading connections.
  let readers: SessionPool
  /// Nil for a read-only store. The session of a closed store is nil.
  let writer: Lock<Session?>?
  /// Set by `close`.
  let closing: ClosedFlag
  /// Checks the schema before statements.
  let schema: SchemaCheck
  /// The decoding of rows, by entity.
  let plans = RowPlanCache()
  /// Notes statements for tests.
  let observer = StatementObserver()
  /// The number of keys below which a second thread would not be faster. Tests lower it.
  package let fewRows = Lock(Int64(10_000))

  /// The type of the store, as in its description. Always `SQLite`.
  public var type: String { "SQLite" }
  /// The URL of the store's file. Never nil. Relative paths are relative to the working directory at opening.
  public var url: URL? { file.url }

  /// Opens a store, or makes one where there is no file (or an empty file).
  ///
  /// Throws `GraphError` with `.cannotOpenFile` for folders, missing folders and files that may not be read, and for a
  /// missing file with `readOnly`. Throws `.invalidStore` for files that are no Core Data stores,
  /// `.incompatibleVersionHash` where another version of the model wrote the store, and `.readOnlyStore` where the file
  /// may not be written. A refused file is left unchanged. A store that lacks a feature of its model opens read-only
  /// (`missingFeatures`). A container migrates a store of another version first, and so does `SQLiteStore.migrate`.
  public convenience init(
    url: URL, model: ResolvedModel, configuration: String? = nil, options: SQLiteStoreOptions = SQLiteStoreOptions()
  ) throws {
    try self.init(
      file: StoreFile(url: url, busyTimeout: options.busyTimeout), model: model,
      entities: model.entities(inConfiguration: configuration), options: options, original: nil)
  }

  /// Opens a store. A copy in progress reads external files from the store `original`. Otherwise as the public
  /// initializer. The writing connection is open when the call returns; readers are opened as they are needed.
  package init(
    file: StoreFile, model: ResolvedModel, entities: [ResolvedEntity], options: SQLiteStoreOptions,
    original: StoreFile?
  ) throws {
    self.options = options
    self.file = file
    self.entities = entities
    let opened = try StoreOpener(file: file, model: model, entities: entities, options: options).open()
    layout = opened.layout
    identifier = opened.metadata.identifier
    number = StoreNumber(identifier)
    externalData = ExternalData(store: original ?? file, observer: observer, sweepsOrphans: original == nil)
    isReadOnly = opened.writer == nil
    missingFeatures = opened.missingFeatures
    writingAdvice =
      opened.missingFeatures.writingAdvice
      ?? (opened.isMirrored && !options.readOnly
        ? "CloudKit mirrors it (it has tables ANSCK*) and would not hear of what is saved; the option allowsCloudKit of a "
          + "SQLiteStore (--allow-cloudkit of a command) has it written all the same"
        : original == nil
          ? "open it for writing to save" : "these are the objects of before the migration, change the new ones")
    writer = opened.writer.map { Lock($0) }
    let closing = ClosedFlag()
    self.closing = closing
    let observer = observer
    let isReadOnly = isReadOnly
    opened.writer?.observe(with: observer)
    let identity = file.identity
    let schema = SchemaCheck(
      file: file, layout: layout, entities: entities, identifier: identifier, missing: missingFeatures)
    if let writer = opened.writer {
      // The first read of the connection: SQLite opens log and index.
      do { schema.accept(try writer.connection.schemaVersion()) } catch {
        throw StoreFailure(path: file.path).translate(error)
      }
    }
    self.schema = schema
    let folder = layout.namesFiles ? externalData.folder : nil
    readers = SessionPool(file, naming: folder, isReadOnly: isReadOnly, limit: options.readerLimit, closing: closing) {
      let session = try StoreOpener.reader(file, isReadOnly: isReadOnly, options: options)
      // Otherwise another file at the store's place would be read as if it were the store.
      guard file.identity == identity else { throw file.movedError }
      try schema.check(session.connection)
      try session.noteSchema()
      session.observe(with: observer)
      session.connection.isCancelled = { closing.isClosed }
      return session
    }
    OpenStores.add(ObjectIdentifier(self), file: file, support: externalData.folder)
  }

  deinit { OpenStores.remove(ObjectIdentifier(self)) }

  // MARK: Sessions

  /// Reads with a session. `looksAtFile` checks first whether the file is still in its place, which is cheap beside a
  /// query. Reads of rows by key check only after a while. `body` may run several times (`SessionPool.withSession`).
  /// Errors are those of the graph.
  package func read<Result>(looksAtFile: Bool = false, _ body: (Session) throws -> Result) throws -> Result {
    do {
      return try readers.withSession { session in
        if session.hasMoved(looking: looksAtFile) { throw file.movedError }
        return try body(session)
      }
    } catch {
      throw explained(error)
    }
  }

  /// Lends a connection for longer reading (`SessionPool.lend`). Nil for a file that may not be read for long.
  func lend(isView: Bool, to reader: SQLiteReadSession) throws -> Session? {
    do {
      guard let session = try readers.lend(isView: isView, to: reader) else { return nil }
      guard session.connection.hasMoved else { return session }
      readers.giveBack(session, isView: isView)
      throw file.movedError
    } catch {
      throw explained(error)
    }
  }

  /// Runs `body` with the writing session, whose lock is held. It begins no transaction. Throws `.readOnlyStore`,
  /// `.storeBusy` and `.invalidRequest`.
  func write<Result: Sendable>(_ body: (Session) throws -> Result) throws -> Result {
    let writer = try writable()
    do {
      return try writer.withLockInTime { session in
        guard let session else { throw closedError }
        try ready(session)
        return try body(session)
      }
    } catch {
      throw explained(error)
    }
  }

  /// The writer's lock. Throws where the store is read-only, and where this thread would wait for itself. A thread
  /// waits for itself if a batch insertion's handler uses the store.
  func writable() throws -> Lock<Session?> {
    try BatchInsertHandler.refuse("\(file.path) was to be written")
    if closing.isClosed { throw closedError }
    if let writer { return writer }
    throw GraphError(.readOnlyStore, message: "\(file.path) is read-only: \(writingAdvice)")
  }

  /// Called before each write. Throws for a closed store and for a moved file. Sets up cache and journal before the
  /// first write.
  func ready(_ session: Session) throws {
    if closing.isClosed { throw closedError }
    if session.connection.hasMoved { throw file.movedError }
    try session.sizeCache()
    try session.enableLog()
  }

  /// Translates an error of SQLite to the graph's errors. An error of a closed store becomes `.invalidRequest`. A
  /// missing table or column is explained by `ChangedTables`.
  func explained(_ error: any Error) -> any Error {
    if closing.isClosed { return closedError }
    if ChangedTables.mayExplain(error),
      let changed = try? readers.withSession({ session in
        try ChangedTables(session.connection, layout: layout, path: file.path).error(causedBy: error)
      })
    {
      return changed
    }
    return StoreFailure(path: file.path).translate(error)
  }

  /// The plan for all rows of an entity's table. Contains the rows of all entities with the same root.
  func tablePlan(_ entity: ResolvedEntity) throws -> RowPlan {
    try rowPlan(layout.model.entities[entity.root], includesSubentities: true)
  }

  /// Cached for the life of the store.
  func rowPlan(_ entity: ResolvedEntity, includesSubentities: Bool) throws -> RowPlan {
    try plans.plan(entity, includesSubentities: includesSubentities) {
      try RowPlan(
        entity, includesSubentities: includesSubentities, layout: layout, store: number, externalData: externalData,
        path: file.path)
    }
  }
}

/// Memory of all stores.
extension SQLiteStore {
  /// Limits the memory of SQLite for all stores of this process together. Operations that need more fail.
  ///
  /// The SQL of a store (triggers, generated columns) runs within SQLite, outside of a script's memory limit. Set this
  /// limit before scripts open foreign stores. `bytes` counts for all connections of the process. 0 means no limit.
  public static func limitMemory(to bytes: Int) { Connection.limitMemory(to: bytes) }
}
