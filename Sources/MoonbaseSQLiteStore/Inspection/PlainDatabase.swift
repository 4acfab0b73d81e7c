import MoonbaseGraph
import MoonbaseModel
package import MoonbasePlatform
package import MoonbaseSQLite

/// A database of SQLite that is no store, opened so that no byte of it changes: all is read of one state.
package final class PlainDatabase {
  /// Its functions and views are not trusted, and no other file can be named.
  package let connection: Connection
  /// As it was given, made absolute.
  package let path: String
  private let file: StoreFile
  private let reading: ReadingConnection

  /// Throws as opening a store does.
  package init(_ url: URL, busyTimeout: Duration? = nil) throws {
    let file = StoreFile(url: url, busyTimeout: busyTimeout)
    self.file = file
    path = file.path
    reading = try StoreOpener.settled(file) {
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

  /// By what a later run recognises its contents.
  package var fingerprint: String {
    ["", "-wal"].flatMap { FileIdentity.footprint(file.truePath + $0) }.map(String.init).joined(separator: " ")
  }

  /// Throws where somebody wrote meanwhile whom no lock keeps away: what was read may be of two states.
  package func requireOneState() throws {
    guard !reading.isSound(file) else { return }
    throw GraphError(
      .storeFailure, message: "\(path) was written while it was read: what was read may be of two states, try again")
  }

  /// What SQLite refused, with the file's name.
  package func translated(_ error: any Error) -> any Error { StoreFailure(path: path).translate(error) }
}
