import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// Removes files of values that no row names: a process left them that died between making a file and committing its row, or
/// whose old snapshots still named them when it ended.
///
/// It runs within a transaction, so that no other process is just saving. Other frameworks may make files before they
/// lock the store: what is younger than an hour stays. Where another store may have the same folder, all stay.
struct OrphanSweep {
  static let leastAge: TimeInterval = 3600

  let folder: SupportFolder
  let connection: Connection

  /// `spared` are names that the transaction took out of rows, which stand there again if it fails.
  func run(sparing spared: Set<String>) throws {
    let candidates = folder.names(olderThan: Self.leastAge).filter { UUID(uuidString: $0) != nil }
    guard !candidates.isEmpty, !folder.isShared else { return }
    let named = try Self.namedFiles(connection).union(ExternalReaders.waiting(in: folder))
    for name in candidates where !named.contains(name) && !spared.contains(name) {
      if !ExternalFile.isUsed(name, in: folder) { folder.remove(name) }
    }
  }

  /// What the rows of all tables name, those included that no entity of the model has.
  static func namedFiles(_ connection: Connection) throws -> Set<String> {
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
