public import MoonbasePlatform
public import MoonbaseSQL

/// Where a container keeps objects: a file in Core Data's SQLite format, a schema in PostgreSQL, or memory.
///
/// ```swift
/// let stores: [PersistentStoreDescription] = [
///   .sqlite(peopleURL, configuration: "Local"), .sqlite(placesURL, readOnly: true, configuration: "Shared"),
/// ]
/// ```
///
/// What a kind of store does not know is an error when the store is opened: a store in memory has no file that could be read-only.
public struct PersistentStoreDescription: Sendable, Equatable {
  /// The file; nil for a store in memory or on a server.
  public package(set) var url: URL?
  /// The address of a schema in PostgreSQL, which may have a password; nil for a file and for memory.
  public package(set) var address: URL?
  /// The configuration of the model whose entities the store holds; nil for all.
  public var configuration: String?
  /// Whether the store is not to be written; nothing on the disk changes then.
  public var isReadOnly = false
  /// Whether the store keeps a history of what is saved in it. A file gets tables for it, unless it has them.
  public var tracksHistory = false
  /// How long a statement waits for other processes; nil for the five seconds that a file's store waits by itself.
  public var busyTimeout: Duration?
  /// Whether each save is on the disk for good before it is done; otherwise a loss of power may take the last ones from a file, as from Core
  /// Data's.
  public var synchronizesFully = false
  /// How many of SQLite's steps the triggers of a file may take in one save; nil for the bound that a file's store has by itself.
  public var triggerStepLimit: Int?
  /// The bytes of a file that the connection which writes keeps in memory at most; nil for 32 MiB. Connections that
  /// read keep less (`SQLiteStoreOptions.cacheSize`).
  public var cacheSize: Int?
  /// How many connections to a file read at the same time at most; nil for the eight that a file's store has by itself.
  public var readerLimit: Int?
  /// What is told each statement that a file's store runs.
  public var sqlLog: SQLLog?
  /// Whether a file that CloudKit mirrors may be written.
  public var allowsCloudKit = false
  /// The name that a file's history has for saves of contexts without a `transactionAuthor`.
  public var transactionAuthor: String?
  /// Whether a file of another version of the model is migrated when it is opened; otherwise it is refused, with what differs. A file that is only
  /// read is refused.
  public var shouldMigrateStoreAutomatically = true
  /// Whether the mapping of such a migration is inferred from the two models.
  public var shouldInferMappingModelAutomatically = true
  /// Whether such a migration may lose what rows have and the newer model has no place for; otherwise it is refused, with what would be lost.
  public var allowsMigrationLoss = false

  /// A store that lives as long as its container.
  public static let inMemory = PersistentStoreDescription(url: nil)

  /// A file in Core Data's SQLite format, made if it is not there.
  public static func sqlite(_ url: URL, readOnly: Bool = false, configuration: String? = nil) -> Self {
    PersistentStoreDescription(url: url, configuration: configuration, isReadOnly: readOnly)
  }

  /// A schema in PostgreSQL, made if it is not there: `postgresql://ann@db.example.org/shop?schema=people`. The package needs its trait
  /// `PostgreSQL` to open it.
  public static func postgreSQL(_ address: URL, readOnly: Bool = false, configuration: String? = nil) -> Self {
    var description = PersistentStoreDescription(configuration: configuration, isReadOnly: readOnly)
    description.address = address
    return description
  }

  /// Whether a text is the address of a server, and no path.
  package static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgresql:") || text.hasPrefix("postgres:")
  }

  /// Whether the store goes with its container.
  package var isInMemory: Bool { url == nil && address == nil }

  /// The path as it was given.
  package var path: String? { url?.relativePath }
}
