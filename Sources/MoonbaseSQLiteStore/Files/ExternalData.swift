import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQLite

/// Large binary values in files beside the store: `.<base>_SUPPORT/_EXTERNAL_DATA/<UUID>`.
///
/// The column holds `01` and the bytes, or `02`, the file's name and `00`. A file is read when its value is asked for: one that is
/// missing concerns no other value.
struct ExternalData: Sendable {
  /// Values of more bytes go to a file. Core Data's own bound is not documented; it lies near this.
  private static let threshold = 100_000
  private static let inline: UInt8 = 1
  private static let file: UInt8 = 2

  let folder: SupportFolder
  /// The store's log: the commit must have reached the disk before a file goes that older rows name.
  private let log: String
  /// Whether this store has looked for orphans.
  private let hasSwept: Lock<Bool>
  /// The files that were made for a store that is being made; nil for others.
  private let made: Lock<[String]>?

  /// Values beside a store. Those of a store that is being made beside another one look for no orphans: the other's values are none of theirs.
  init(store file: StoreFile, observer: StatementObserver, sweepsOrphans: Bool = true) {
    folder = SupportFolder(store: file.truePath, observer: observer)
    log = file.truePath + "-wal"
    hasSwept = Lock(!sweepsOrphans)
    made = sweepsOrphans ? nil : Lock([])
  }

  /// The value that a column's bytes stand for; for one in a file a token that reads it.
  func value(_ column: Data) -> Value {
    guard let name = Self.fileName(column) else {
      return .data(column.first == Self.inline ? Data(column.dropFirst()) : column)
    }
    let file = ExternalFile(name: name, folder: folder)
    return .object(OpaqueObject(load: { try file.bytes() }, release: { file.leave() }))
  }

  /// The column's bytes for a value; a new file is noted in `files`.
  func write(_ value: Data, files: inout ExternalFiles) throws -> Data {
    guard value.count > Self.threshold else { return Data([Self.inline]) + value }
    let name = UUID.random().uuidString
    files.created.append(name)
    made?.withLock { $0.append(name) }
    try folder.write(value, to: name)
    return Data([Self.file]) + Data(name.utf8) + Data([0])
  }

  /// A store that is not made after all leaves none of its files.
  func removeMade() {
    for name in made?.withLock(\.self) ?? [] { folder.remove(name) }
    folder.removeIfEmpty()
  }

  /// Notes the file that a column's bytes name, so that it goes when the transaction has succeeded.
  func forget(_ column: Data, files: inout ExternalFiles) {
    if let name = Self.fileName(column) { files.abandoned.append(name) }
  }

  /// A name is 36 characters of a UUID; anything else is no name, so that no file can lead out of the folder.
  static func fileName(_ column: Data) -> String? {
    guard column.count == 38, column.first == file, column.last == 0 else { return nil }
    let name = String(decoding: column.dropFirst().dropLast(), as: UTF8.self)
    return UUID(uuidString: name) == nil ? nil : name
  }

  /// Whether a column's bytes begin as those that name a file do, and name none.
  static func namesNoFile(_ column: UnsafeRawBufferPointer) -> Bool {
    column.first == file && fileName(Data(column)) == nil
  }

  // MARK: Around a commit

  /// At the end of a transaction: new files are on the disk for good, and once for each store that is open, files that no row
  /// names any more go. To fail at that is no reason to fail the save.
  func finish(_ files: ExternalFiles, on connection: Connection) throws {
    if !files.created.isEmpty { try folder.synchronize() }
    guard !files.isEmpty else { return }
    let isFirst = hasSwept.withLock { swept in
      defer { swept = true }
      return !swept
    }
    if isFirst { try? OrphanSweep(folder: folder, connection: connection).run(sparing: Set(files.abandoned)) }
  }

  /// After the transaction: new files go, or those that the rows do not name any more. A file that cannot be removed is an
  /// orphan, not an error; so is one that an older row names which a loss of power could bring back.
  func settle(_ files: ExternalFiles, committed: Bool) {
    guard committed else {
      for name in files.created { folder.remove(name) }
      return
    }
    guard !files.abandoned.isEmpty, folder.synchronizeCommit(log: log) else { return }
    ExternalReaders.abandon(files.abandoned, in: folder)
  }
}

/// The files that a transaction made and those it no longer needs, by name.
struct ExternalFiles {
  var created: [String] = []
  var abandoned: [String] = []

  var isEmpty: Bool { created.isEmpty && abandoned.isEmpty }
}
