package import MoonbasePlatform
import MoonbaseSQL
package import MoonbaseSQLite

/// Removes value files that no row names. A process leaves them if it dies between creating a file and committing its
/// row, or while old snapshots still use the file.
///
/// Runs within a transaction, so that no other process is saving. Files younger than an hour stay, because other
/// frameworks may create files before they lock the store. If another store may use the same folder, all files stay.
///
/// Made and run once per opened store, at the first save with external values. Linear in the files of the folder and in
/// the rows with such values.
package struct OrphanSweep {
  /// In seconds: an hour.
  package static let leastAge: TimeInterval = 3600

  /// The folder of the values.
  let folder: SupportFolder
  /// The connection of the transaction.
  let connection: Connection

  /// Sweeps the folder of the store that a connection reads.
  package init(folder: SupportFolder, connection: Connection) { (self.folder, self.connection) = (folder, connection) }

  /// Removes orphans. `spared` are names that the transaction removed from rows, and that rows have again if it fails.
  /// Failures to remove a file are ignored.
  package func run(sparing spared: Set<String>) throws {
    let candidates = folder.names(olderThan: Self.leastAge).filter { UUID(uuidString: $0) != nil }
    guard !candidates.isEmpty, !folder.isShared else { return }
    let named = try Self.namedFiles(connection).union(ExternalReaders.waiting(in: folder))
    for name in candidates where !named.contains(name) && !spared.contains(name) {
      if !ExternalFile.isUsed(name, in: folder) { folder.remove(name) }
    }
  }

  /// The files that rows of any table name, including rows of no entity in the model. Reads all columns that may hold
  /// blobs.
  package static func namedFiles(_ connection: Connection) throws -> Set<String> {
    var result: Set<String> = []
    for (table, column) in try blobColumns(connection) {
      let name = identifier(column)
      let statement = try connection.statement(
        "SELECT CAST(SUBSTR(\(name), 2, 36) AS TEXT) FROM \(identifier(table)) "
          + "WHERE TYPEOF(\(name)) = 'blob' AND LENGTH(\(name)) = 38")
      defer { statement.reset() }
      while try statement.step() { result.insert(statement.text(0)) }
    }
    return result
  }

  /// The tables and columns that may name files. Columns without a declared type may hold anything.
  private static func blobColumns(_ connection: Connection) throws -> [(String, String)] {
    let statement = try connection.statement(
      "SELECT m.name, c.name FROM (SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 LIMIT -1) m "
        + "JOIN pragma_table_info(m.name) c WHERE c.type LIKE '%BLOB%' OR c.type = ''")
    defer { statement.reset() }
    var result: [(String, String)] = []
    while try statement.step() { result.append((statement.text(0), statement.text(1))) }
    return result
  }
}
