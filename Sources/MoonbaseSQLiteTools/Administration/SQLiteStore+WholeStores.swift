import MoonbaseGraph
public import MoonbaseModel
public import MoonbasePlatform
import MoonbaseSQLite
public import MoonbaseSQLiteStore

/// Operations on whole stores that are not open.
extension SQLiteStore {
  /// Removes a store with its log, journal and folder of external values.
  ///
  /// A missing store is no error; remains of an earlier removal are deleted. The removal is atomic. If a process dies
  /// in between, unused files may be left, which another call removes.
  ///
  /// Throws `.invalidRequest` for a store that this process has open, `.storeBusy` where another process reads or
  /// writes it, and `.invalidStore` for a database that is no store. Otherwise throws `GraphError` as opening does.
  public static func destroy(storeAt url: URL) throws {
    let file = StoreFile(url: url)
    try file.requireClosed(participle: "destroyed")
    try file.settled { try StoreRemoval(file: file).run() }
  }

  /// Replaces a store by a copy of another store, with its external files. Where there is no store, the copy is made.
  ///
  /// The copy has the UUID of the original: a coordinator accepts only one of them. The original is only read, and may
  /// be open. The replacement is atomic. If a process dies in between, unused files may be left.
  ///
  /// Throws as `destroy(storeAt:)` does.
  public static func replace(storeAt url: URL, withStoreFrom original: URL) throws {
    let source = StoreFile(url: original)
    try StoreReplacement(source: source, destination: closedDestination(url, for: source)).run()
  }

  /// The file of a copy. Throws where it is the original, or open. Links are resolved before the comparison. Throws
  /// `.invalidRequest`.
  static func closedDestination(_ url: URL, for source: StoreFile) throws -> StoreFile {
    let file = StoreFile(url: url, busyTimeout: source.busyTimeout)
    guard file.truePath != source.truePath, file.identity == nil || file.identity != source.identity else {
      throw GraphError(.invalidRequest, message: "\(file.path) and \(source.path) are one store: name another one")
    }
    guard !source.meets(file) else {
      throw GraphError(
        .invalidRequest,
        message: "\(file.path) is a place of the store \(source.path), which keeps files there: name another one")
    }
    try file.requireClosed(participle: "replaced")
    return file
  }

  /// Replaces the metadata of a store that is not open, except for the store's own entries.
  ///
  /// Throws `GraphError` as opening does, and `.invalidValue` for a value that no property list can hold. The store's
  /// own entries are the UUID, the version hashes and the names of its features. Throws `.storeBusy` and
  /// `.readOnlyStore` too.
  public static func setMetadata(_ metadata: [String: Value], ofStoreAt url: URL) throws {
    try changeMetadata(ofStoreAt: url) { try $0.replaceForeignEntries(with: metadata) }
  }

  /// Gives a store that is not open another UUID, so that it is the same store as that of the UUID.
  package static func setIdentifier(_ identifier: String, ofStoreAt url: URL) throws {
    try changeMetadata(ofStoreAt: url) { $0 = StoreMetadata(identifier: identifier, entries: $0.entries) }
  }

  /// Changes the metadata of a store that is not open, in a transaction.
  private static func changeMetadata(ofStoreAt url: URL, _ change: (inout StoreMetadata) throws -> Void) throws {
    let file = StoreFile(url: url)
    try file.settled {
      let connection = try file.connectionToChange()
      try file.requireWhole(connection)
      try connection.transaction {
        if connection.hasMoved { throw file.movedError }
        try connection.boundTriggers(to: SQLiteStoreOptions().triggerStepLimit)
        var stored = try StoreMetadata(connection, path: file.path)
        try change(&stored)
        try stored.write(connection)
      }
    }
  }
}
