import MoonbaseGraph
import MoonbasePlatform
import MoonbaseSQLite
import MoonbaseSQLiteStore
import MoonbaseSQLiteTools

/// A database to import, opened for reading, which is not a store.
///
/// The fingerprint is taken before and compared after the import, so that all tables are read in
/// one state. Errors of SQLite are translated to errors that name the file.
package final class OpenDatabase {
  /// The connection with its fingerprint of the file's state.
  private let database: PlainDatabase
  /// The path, as given by the caller.
  package let name: String
  /// The tables of the database.
  let schema: DatabaseSchema

  /// The connection, for queries.
  var connection: Connection { database.connection }
  /// The identity by which a later run recognises the database.
  package let fingerprint: InputFingerprint

  /// Whether a file is a database, judged by its contents.
  package static func isOne(_ path: String) -> Bool {
    var status = stat()
    // Reading from a pipe would consume its data.
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return false }
    return SQLiteStore.isDatabase(at: URL(literalPath: path))
  }

  /// Throws for a store, and for a file that cannot be read.
  ///
  /// Throws `ImportError` for a store, which has its own import, and for a database without tables.
  package init(_ path: String) throws {
    name = path
    // Read before SQLite opens the file, because closing our descriptor would release SQLite's locks.
    let content = Self.content(of: path)
    let database = try PlainDatabase(URL(literalPath: path))
    self.database = database
    fingerprint = InputFingerprint(content: content, former: database.fingerprint)
    do { schema = try DatabaseSchema(database.connection) } catch { throw database.translated(error) }
    if schema.tables.contains(where: { $0.name == "Z_METADATA" }) {
      // An incomplete store has no model to print.
      _ = try SQLiteStore.metadata(ofStoreAt: URL(literalPath: path))
      throw ImportError(
        message:
          "\(path) is a store, which has a model: moonbase model show \(path) prints it, and moonbase export --all FOLDER "
          + "--store \(path) writes what import --all takes")
    }
    guard !schema.tables.isEmpty else { throw ImportError(message: "\(path) has no table") }
  }

  /// A digest of the file and its log. Each change of a database changes its first page or the log.
  private static func content(of path: String) -> String {
    let path = FileIdentity.truePath(path) ?? path
    let parts = [path, path + "-wal"].map { path in
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      defer { if descriptor >= 0 { close(descriptor) } }
      var status = stat()
      guard descriptor >= 0, fstat(descriptor, &status) == 0 else { return "content 0" }
      return InputFingerprint.content(of: descriptor, size: Int64(status.st_size))
    }
    return parts.joined(separator: " ")
  }

  /// Runs a query. Its errors name the file.
  func understanding<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    do { return try body(database.connection) } catch { throw database.translated(error) }
  }

  /// Throws if the file was written to since it was opened.
  package func requireOneState() throws { try database.requireOneState() }
}
