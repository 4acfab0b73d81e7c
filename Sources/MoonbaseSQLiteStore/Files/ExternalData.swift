import MoonbaseGraph
package import MoonbaseModel
package import MoonbasePlatform
import MoonbaseSQLite

/// Large binary values in files beside the store: `.<base>_SUPPORT/_EXTERNAL_DATA/<UUID>`.
///
/// The column holds `01` and the bytes, or `02`, the file's name and `00`. A file is read when its value is accessed,
/// so a missing file affects only its own value.
///
/// The format is Core Data's for attributes with `allowsExternalBinaryDataStorage`. A file is written before its row is
/// committed and removed after the row's change is durable; a crash in between leaves an orphan (`OrphanSweep`), never
/// a row without its file.
package struct ExternalData: Sendable {
  /// The size in bytes above which values go to a file. Core Data's own limit is not documented; it is close to this.
  private static let threshold = 100_000
  /// The prefix of bytes in the column.
  private static let inline: UInt8 = 1
  /// The prefix of a file name in the column.
  private static let file: UInt8 = 2

  /// The folder of the files.
  package let folder: SupportFolder
  /// The path of the store's write-ahead log. A commit must be on disk before a file that older rows name is removed.
  private let log: String
  /// Whether this store has already removed orphans.
  private let hasSwept: Lock<Bool>
  /// The files created for a store that is being made; nil for other stores.
  private let made: Lock<[String]>?

  /// Makes the access to a store's values. With `sweepsOrphans` false, for a store that is made beside another store,
  /// orphans are not removed, because the folder has the other store's values. Shared by all sessions of a store.
  package init(store file: StoreFile, observer: StatementObserver, sweepsOrphans: Bool = true) {
    folder = SupportFolder(store: file.truePath, observer: observer)
    log = file.truePath + "-wal"
    hasSwept = Lock(!sweepsOrphans)
    made = sweepsOrphans ? nil : Lock([])
  }

  /// The value for a column's bytes. For a value in a file, a token that reads the file. The token ends its use of the
  /// file when it is released.
  package func value(_ column: Data) -> Value {
    guard let name = Self.fileName(column) else {
      return .data(column.first == Self.inline ? Data(column.dropFirst()) : column)
    }
    let file = ExternalFile(name: name, folder: folder)
    return .object(OpaqueObject(load: { try file.bytes() }, release: { file.leave() }))
  }

  /// The column's bytes for a value; the name of a new file is added to `files`. Throws `.storeFailure` if the file
  /// cannot be written. A rollback removes the file (`removeUnused(_:committed:)`).
  package func write(_ value: Data, files: inout ExternalFiles) throws -> Data {
    guard value.count > Self.threshold else { return Data([Self.inline]) + value }
    let name = UUID.random().uuidString
    files.created.append(name)
    made?.withLock { $0.append(name) }
    try folder.write(value, to: name)
    return Data([Self.file]) + Data(name.utf8) + Data([0])
  }

  /// Removes the created files of a store that was not completed. Called when the store is discarded.
  package func removeMade() {
    for name in made?.withLock(\.self) ?? [] { folder.remove(name) }
    folder.removeIfEmpty()
  }

  /// Adds the file that a column's bytes name to those to remove after the commit. Does nothing for bytes in the column
  /// itself.
  func forget(_ column: Data, files: inout ExternalFiles) {
    if let name = Self.fileName(column) { files.abandoned.append(name) }
  }

  /// The file name in a column's bytes: the 36 characters of a UUID. Nil for other bytes, so that no path can leave the
  /// folder.
  package static func fileName(_ column: Data) -> String? {
    guard column.count == 38, column.first == file, column.last == 0 else { return nil }
    let name = String(decoding: column.dropFirst().dropLast(), as: UTF8.self)
    return UUID(uuidString: name) == nil ? nil : name
  }

  /// Whether a column's bytes have the prefix for files but no valid name. Used by the check of a file.
  static func namesNoFile(_ column: UnsafeRawBufferPointer) -> Bool {
    column.first == file && fileName(Data(column)) == nil
  }

  // MARK: Around a commit

  /// Writes new files durably at the end of a transaction, and once for each open store removes orphans. A failure to
  /// remove orphans does not fail the save. Call this before the commit: a row must not name a file whose name is not
  /// durable.
  func finish(_ files: ExternalFiles, on connection: Connection) throws {
    if !files.created.isEmpty { try folder.synchronize() }
    guard !files.isEmpty else { return }
    let isFirst = hasSwept.withLock { swept in
      defer { swept = true }
      return !swept
    }
    if isFirst { try? OrphanSweep(folder: folder, connection: connection).run(sparing: Set(files.abandoned)) }
  }

  /// Removes files after the transaction: new ones after a rollback, otherwise those that rows no longer name. A file
  /// that cannot be removed becomes an orphan, which is not an error. Files also stay if the commit is not known to be
  /// durable, because a loss of power could restore older rows. Call this once after the end of every transaction with
  /// files.
  func removeUnused(_ files: ExternalFiles, committed: Bool) {
    guard committed else {
      for name in files.created { folder.remove(name) }
      return
    }
    guard !files.abandoned.isEmpty, folder.synchronizeCommit(log: log) else { return }
    ExternalReaders.abandon(files.abandoned, in: folder)
  }
}

/// The names of files that a transaction created and of files that it no longer needs. Collected during a transaction;
/// committing makes the first final and the second superfluous.
package struct ExternalFiles {
  /// The files to remove after a rollback.
  package var created: [String] = []
  /// The files to remove after a commit.
  var abandoned: [String] = []

  /// No files yet.
  package init() {}

  /// Whether the transaction concerns no files.
  var isEmpty: Bool { created.isEmpty && abandoned.isEmpty }
}
