import MoonbaseGraph
public import MoonbaseModel
import MoonbaseModelFormats
public import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Metadata and stored models, of open and of closed stores.
extension SQLiteStore {
  /// The store's metadata, with its identifier as `NSStoreUUID`. Read from the file at each call. The version hashes
  /// are in `NSStoreModelVersionHashes`.
  public func metadata() throws -> [String: Value] {
    try read { try StoreMetadata($0.connection, path: file.path).values }
  }

  /// The metadata of a store that is not open. The file is only read. If another process keeps it locked, the call
  /// waits for `busyTimeout` (5 seconds by default).
  ///
  /// Throws `GraphError` as opening does.
  public static func metadata(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> [String: Value] {
    try withFile(url, busyTimeout: busyTimeout) { try StoreMetadata($0, path: url.relativePath).values }
  }

  /// The stored model of a store, in the form that `ManagedObjectModel(modelCache:)` reads. Nil in stores of old
  /// frameworks. The file is only read.
  public static func modelCache(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> Data? {
    try withFile(url, busyTimeout: busyTimeout) { connection in
      _ = try StoreMetadata(connection, path: url.relativePath)
      return try StoreContents.modelCache(connection, schema: FileSchema(connection, path: url.relativePath))
    }
  }

  /// The error message for a store without a stored model, where a call needs the model.
  package static func withoutModel(_ path: String) -> String { StoreFile.withoutModel(path) }

  /// The stored model of a store.
  ///
  /// Throws `GraphError` as opening does, and with `.invalidStore` for a store of an old framework, which has no model.
  public static func cachedModel(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws -> ManagedObjectModel {
    guard let cache = try modelCache(ofStoreAt: url, busyTimeout: busyTimeout) else {
      throw GraphError(.invalidStore, message: StoreFile.withoutModel(url.relativePath))
    }
    var model: ManagedObjectModel
    do {
      model = try ManagedObjectModel(modelCache: cache)
    } catch {
      throw GraphError(
        .invalidStore,
        message:
          "\(url.relativePath): the model that it carries (Z_MODELCACHE) cannot be read: \(error); name the model that it was "
          + "made with", underlying: error)
    }
    model.locations[.file] = SourceLocation(file: url.relativePath)
    return model
  }

  /// The tables of a store's rows, by name, with their numbers of rows. Needs no model. Ordered by name; tables of the
  /// format are left out.
  package static func rowCounts(
    ofStoreAt url: URL, busyTimeout: Duration? = nil
  ) throws -> [(table: String, rows: Int)] {
    try withFile(url, busyTimeout: busyTimeout) { connection in
      let schema = try FileSchema(connection, path: url.relativePath)
      let names = schema.tables.keys.filter { schema.tables[$0]?.has("Z_PK") == true || $0.hasPrefix("Z_") }
      let ours = ["Z_METADATA", "Z_PRIMARYKEY", "Z_MODELCACHE"]
      return try names.filter { !ours.contains($0) }.sorted().map { name in
        let quoted = name.replacing("\"", with: "\"\"")
        return (name, Int(try connection.integer("SELECT COUNT(*) FROM \"\(quoted)\"") ?? 0))
      }
    }
  }

  /// Whether a file is a SQLite database, of any program. Only SQLite opens the file. False for an encrypted file, and
  /// for one that cannot be read.
  package static func isDatabase(at url: URL) -> Bool {
    let file = StoreFile(url: url)
    // SQLite considers a file of one byte a database without tables. The header alone has a hundred bytes.
    guard case .present? = try? file.state(), file.size("") ?? 0 >= 100 else { return false }
    return
      (try? FileOpeningLock.withLock(file.truePath) {
        try file.openForReading().connection.integer("PRAGMA schema_version")
      })
      != nil
  }

  /// Whether there is no store at a place yet: no file, an empty file, or a database without tables, which a process
  /// leaves that is killed while it makes a store. Throws `.storeBusy` and errors of files that cannot be read.
  package static func isBare(at url: URL, busyTimeout: Duration? = nil) throws -> Bool {
    try rollBackJournal(ofStoreAt: url, busyTimeout: busyTimeout)
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    return try file.settled {
      guard try file.state() == .present else { return true }
      return try file.reading { try StoreContents.isBare($0, path: file.path) }
    }
  }

  /// Lets SQLite roll back a transaction of a process that died, so that the file can be read. Files without a journal,
  /// and files that may not be written, are not touched. Throws `.storeBusy` if a process still writes.
  package static func rollBackJournal(ofStoreAt url: URL, busyTimeout: Duration? = nil) throws {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    try file.settled {
      guard try file.state() == .present, file.hasJournal, file.isWritable else { return }
      SessionPool.closeReadOnlySessions(of: file)
      let connection = try Connection(file.truePath, mode: file.mode(.readWrite))
      connection.setBusyTimeout(milliseconds: file.busyTimeout.milliseconds)
      connection.setLeavesLog(true)
      _ = try connection.integer("SELECT COUNT(*) FROM sqlite_master")
    }
  }

  /// Runs `body` with a reading connection, and again if the file changed meanwhile. Throws for an empty file.
  package static func withFile<Result>(
    _ url: URL, busyTimeout: Duration?, _ body: (Connection) throws -> Result
  ) throws -> Result {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    return try file.settled {
      try file.requirePresent()
      return try file.reading { connection in
        if try StoreContents.isBare(connection, path: file.path) { throw file.bareError }
        return try connection.readingFacts(ofStoreAt: file.path) { try body(connection) }
      }
    }
  }
}
