import MoonbaseSQL
package import MoonbaseSQLite
import MoonbaseSQLiteStore

/// The parts that are restored at the end of a migration by a mapping model.
///
/// Made by `empty` and used up by `finish`.
package struct EmptiedStore {
  /// Indexes and triggers that others added to tables of the model.
  let foreign: [SchemaObjects.Item]
  /// Indexes and triggers of the model.
  let objects: SchemaObjects
  /// Whether the file keeps a history.
  let tracksHistory: Bool
}

/// The emptying and the completion of the copy that receives new objects.
extension StoreRewriting {
  /// Converts the copy to the new model without any objects: UUID, the program's metadata, foreign tables and the
  /// greatest keys stay. History tracking resumes when all objects exist, so that their creation is not recorded.
  ///
  /// Returns what `finish` restores. Runs in one transaction without durability, since the copy is synchronized as a
  /// whole.
  package func empty(_ connection: Connection) throws -> EmptiedStore {
    // Durability is not needed before the copy is complete.
    try connection.executeScript("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
    try TriggerFunctions.register(on: connection, telling: DerivedRows())
    return try connection.transaction { try emptied(connection) }
  }

  /// Drops the old tables and makes the new ones, with the greatest keys of the old tables.
  private func emptied(_ connection: Connection) throws -> EmptiedStore {
    let writer = SchemaWriter(layout: map.new, metadata: try metadata(connection))
    let objects = SchemaObjects(old: SchemaWriter(layout: map.old, metadata: writer.metadata), new: writer)
    let trees = RTreeChanges(map, kept: [])
    try trees.remove(connection)
    let foreign = try objects.foreign(connection, on: tables.oldTables)
    let greatest = try greatestKeys(connection)
    try progress.step("tables")
    for table in tables.oldTables.sorted() { try connection.execute("DROP TABLE IF EXISTS \(identifier(table))") }
    for (_, sql) in writer.tableStatements { try connection.execute(sql) }
    try objects.write(connection, foreign: [])
    try trees.write(connection)
    try writeNumbers(connection, greatest: greatest)
    let tracksHistory = try HistoryForm(connection, path: path) != nil
    if tracksHistory {
      for table in HistorySchema.countedTables { try connection.execute("DROP TABLE \(table.table)") }
    }
    try writeModel(writer, connection)
    return EmptiedStore(foreign: foreign, objects: objects, tracksHistory: tracksHistory)
  }

  /// Restores the removed parts when all objects exist. Also gives freed pages back to the file system.
  package func finish(_ emptied: EmptiedStore, on connection: Connection) throws {
    try TriggerFunctions.register(on: connection, telling: DerivedRows())
    try connection.transaction {
      try emptied.objects.write(connection, foreign: emptied.foreign)
      if emptied.tracksHistory { try HistorySchema(layout: map.new, path: path).write(connection) }
    }
    try connection.execute("PRAGMA incremental_vacuum")
  }
}
