import MoonbaseGraph
import MoonbaseModel
package import MoonbasePlatform
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// An SQLite database that is no store, opened read-only: all reads see one state.
///
/// Used by imports from databases of other programs. Owns a reading connection for its life; the read transaction
/// begins in `init` and ends in `deinit`. Confined to one thread.
package final class PlainDatabase {
  /// The connection. Functions and views of the database are not trusted, and other files cannot be attached.
  package let connection: Connection
  /// The given path made absolute.
  package let path: String
  /// The file, for checks and messages.
  private let file: StoreFile
  /// The connection with the way in which it reads.
  private let reading: ReadingConnection

  /// Opens the database. Throws as opening a store does. Throws `.cannotOpenFile`, `.storeBusy` or `.invalidStore`.
  package init(_ url: URL, busyTimeout: Duration? = nil) throws {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    self.file = file
    path = file.path
    reading = try file.settled {
      try file.requirePresent()
      let reading = try file.openForReading()
      try file.requireWhole(reading.connection)
      return reading
    }
    connection = reading.connection
    do {
      connection.refuseOtherFiles()
      try connection.beginReading()
    } catch {
      throw translated(error)
    }
  }

  deinit { connection.endReading() }

  /// A text by which a later run recognizes unchanged contents. Sizes, times and inodes of the file and its log.
  package var fingerprint: String {
    ["", "-wal"].flatMap { FileIdentity.footprint(file.truePath + $0) }.map(String.init).joined(separator: " ")
  }

  /// Throws if the file was written meanwhile without a lock: the rows read may be of two states. Call this after the
  /// last read.
  package func requireOneState() throws {
    guard !reading.isSound(file) else { return }
    throw GraphError(
      .storeFailure, message: "\(path) was written while it was read: what was read may be of two states, try again")
  }

  /// The error with the file's name. Errors of SQLite get a code of the graph.
  package func translated(_ error: any Error) -> any Error { StoreFailure(path: path).translate(error) }
}
