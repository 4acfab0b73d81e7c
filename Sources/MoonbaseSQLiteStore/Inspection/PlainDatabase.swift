import MoonbaseGraph
import MoonbaseModel
package import MoonbasePlatform
package import MoonbaseSQLite

/// An SQLite database that is no store, opened read-only: all reads see one state.
package final class PlainDatabase {
  /// The connection. Functions and views of the database are not trusted, and other files cannot be attached.
  package let connection: Connection
  /// The given path made absolute.
  package let path: String
  private let file: StoreFile
  private let reading: ReadingConnection

  /// Opens the database. Throws as opening a store does.
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

  /// A text by which a later run recognizes unchanged contents.
  package var fingerprint: String {
    ["", "-wal"].flatMap { FileIdentity.footprint(file.truePath + $0) }.map(String.init).joined(separator: " ")
  }

  /// Throws if the file was written meanwhile without a lock: the rows read may be of two states.
  package func requireOneState() throws {
    guard !reading.isSound(file) else { return }
    throw GraphError(
      .storeFailure, message: "\(path) was written while it was read: what was read may be of two states, try again")
  }

  /// The error with the file's name.
  package func translated(_ error: any Error) -> any Error { StoreFailure(path: path).translate(error) }
}
