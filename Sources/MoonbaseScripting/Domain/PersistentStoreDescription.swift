public import MoonbasePlatform
public import MoonbaseSQL

/// The storage of objects: a file in Core Data's SQLite format, a schema in PostgreSQL, or memory.
///
/// ```swift
/// let stores: [PersistentStoreDescription] = [
///   .sqlite(peopleURL, configuration: "Local"), .sqlite(placesURL, readOnly: true, configuration: "Shared"),
/// ]
/// ```
///
/// Options that a kind of store does not support are errors when the store is opened: a store in memory has no file
/// that could be read-only.
public struct PersistentStoreDescription: Sendable, Equatable {
  /// The file; nil for a store in memory or on a server.
  public package(set) var url: URL?
  /// The address of a schema in PostgreSQL, which may contain a password; nil for a file and for memory.
  public package(set) var address: URL?
  /// The configuration of the model whose entities the store holds; nil for all entities.
  public var configuration: String?
  /// Whether the store is opened read-only; nothing on disk changes then.
  public var isReadOnly = false
  /// Whether the store records a history of saves. A file without tables for the history gets them.
  public var tracksHistory = false
  /// The time that a statement waits for other processes; nil for the default of five seconds.
  public var busyTimeout: Duration?
  /// Whether each save is flushed to disk before it completes. Otherwise a loss of power may lose the last saves, as
  /// with Core Data.
  public var synchronizesFully = false
  /// The number of SQLite steps that the triggers of a file may take in a save; nil for the default.
  public var triggerStepLimit: Int?
  /// The most bytes of a file that the writing connection caches; nil for 32 MiB. Reading connections cache less
  /// (`SQLiteStoreOptions.cacheSize`).
  public var cacheSize: Int?
  /// The most connections that read a file at the same time; nil for the default of eight.
  public var readerLimit: Int?
  /// Receives each statement that a file's store runs.
  public var sqlLog: SQLLog?
  /// Whether a file that CloudKit mirrors may be written.
  public var allowsCloudKit = false
  /// The author recorded in the history for saves of contexts without a `transactionAuthor`.
  public var transactionAuthor: String?
  /// Whether a file of another model version is migrated on opening; otherwise it is refused, with the differences. A
  /// read-only file is always refused.
  public var shouldMigrateStoreAutomatically = true
  /// Whether the mapping of such a migration is inferred from the two models.
  public var shouldInferMappingModelAutomatically = true
  /// Whether the migration may lose data that the newer model has no place for; otherwise it is refused, with the
  /// losses.
  public var allowsMigrationLoss = false

  /// A store in memory, with the lifetime of its container.
  public static let inMemory = PersistentStoreDescription(url: nil)

  /// A file in Core Data's SQLite format, created if missing.
  public static func sqlite(_ url: URL, readOnly: Bool = false, configuration: String? = nil) -> Self {
    PersistentStoreDescription(url: url, configuration: configuration, isReadOnly: readOnly)
  }

  /// A schema in PostgreSQL, created if missing: `postgresql://ann@db.example.org/shop?schema=people`.
  ///
  /// Opening it needs the trait `PostgreSQL` of the package.
  public static func postgreSQL(_ address: URL, readOnly: Bool = false, configuration: String? = nil) -> Self {
    var description = PersistentStoreDescription(configuration: configuration, isReadOnly: readOnly)
    description.address = address
    return description
  }

  /// Whether a text is the address of a server, and not a path.
  package static func isAddress(_ text: String) -> Bool {
    text.hasPrefix("postgresql:") || text.hasPrefix("postgres:")
  }

  /// The address in a text; nil for a path, and for a text that is no URL.
  ///
  /// libpq accepts several hosts with their ports (`postgresql://one:5432,two:5433/shop`), which no URL can have. They
  /// become parameters with the same meaning.
  package static func address(_ text: String) -> URL? {
    guard isAddress(text) else { return nil }
    if let url = URL(string: text) { return url }
    let form = #/([a-z]+://(?:[^/?@]*@)?)([^/?@]+)(/[^?@]*)?(?:\?(.*))?/#
    guard let match = text.wholeMatch(of: form), match.2.contains(",") else { return nil }
    var hosts: [String] = [], ports: [String] = []
    for place in match.2.split(separator: ",", omittingEmptySubsequences: false) {
      let colon = place.lastIndex(of: ":").flatMap { place[$0...].contains("]") ? nil : $0 } ?? place.endIndex
      hosts.append(place[..<colon].filter { $0 != "[" && $0 != "]" })
      ports.append(String(place[colon...].dropFirst()))
    }
    guard ports.allSatisfy({ $0.allSatisfy(\.isNumber) }) else { return nil }
    let places = ["host=\(hosts.joined(separator: ","))", "port=\(ports.joined(separator: ","))"]
    let query = places + [match.4].compactMap { $0.map(String.init) }
    return URL(string: "\(match.1)\(match.3 ?? "/")?\(query.joined(separator: "&"))")
  }

  /// Whether the store ends with its container.
  package var isInMemory: Bool { url == nil && address == nil }

  /// The path as given by the caller.
  package var path: String? { url?.relativePath }
}
