import MoonbaseGraph
package import MoonbaseModel
import MoonbasePlatform
package import MoonbaseSQL
package import MoonbaseSQLite
package import MoonbaseSQLiteStore

/// Converts a copy of an old store to the new model, in one transaction.
///
/// Made for one stage. `RowMigration`, `RelationshipMigration`, `DerivedMigration` and `HistoryMigration` are its
/// steps. A mapped migration uses the same type with `keepsTables` set to false.
package struct StoreRewriting {
  /// The path of the store, for messages.
  package let path: String
  /// The old and new entities, with the names of renamed tables.
  private(set) var map: MigrationMap
  /// The plan with the expected numbers of rows.
  private let plan: MigrationPlan
  /// The folder of external values.
  private let external: ExternalData
  /// Steps and units.
  package let progress: MigrationProgress
  /// The tables that stay and those that are made again.
  package let tables: TableChanges

  /// With `keepsTables`, unchanged tables stay. Otherwise all tables are made again.
  package init(
    path: String, map: MigrationMap, plan: MigrationPlan, external: ExternalData, progress: MigrationProgress,
    keepsTables: Bool = true
  ) {
    (self.path, self.map, self.plan, self.external, self.progress) = (path, map, plan, external, progress)
    tables = TableChanges(map, keepsTables: keepsTables)
    if keepsTables { self.map.setAside = tables.oldTables }
  }

  /// Converts the copy. Adds the names of created value files to `created`, also on failure. Throws `.storeFailure` if
  /// fewer rows were copied than planned, and `.constraintConflict` for duplicate values.
  func run(on connection: Connection, created: inout [String]) throws {
    // Durability is not needed before the copy is complete.
    try connection.executeScript(
      "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA legacy_alter_table = ON")
    try TriggerFunctions.register(on: connection, telling: DerivedRows())
    let conversions = ColumnConversions(external: external, path: path)
    defer { created += conversions.files.created }
    try connection.transaction { try rewrite(connection, conversions) }
    try connection.execute("PRAGMA incremental_vacuum")
    if !conversions.files.created.isEmpty { try external.folder.synchronize() }
  }

  /// Converts tables, rows, relationships, history and metadata. The order matters: old tables are renamed before new
  /// ones of the same name are made, rows are copied before links, and indexes are made last.
  private func rewrite(_ connection: Connection, _ conversions: ColumnConversions) throws {
    let writer = SchemaWriter(layout: map.new, metadata: try metadata(connection))
    let objects = SchemaObjects(old: SchemaWriter(layout: map.old, metadata: writer.metadata), new: writer)
    let trees = RTreeChanges(map, kept: tables.kept)
    try trees.remove(connection)
    let foreign = try objects.foreign(connection, on: tables.oldTables)
    try connection.boundTriggers(to: SQLiteStoreOptions().triggerStepLimit)
    connection.allowTriggers(forRows: plan.rowCount)
    try progress.step("tables")
    for table in tables.oldTables.sorted() {
      try connection.execute("ALTER TABLE \(identifier(table)) RENAME TO \(map.oldTable(table))")
    }
    for (table, sql) in writer.tableStatements where !tables.kept.contains(table) { try connection.execute(sql) }
    for migration in map.entities where !tables.kept.contains(migration.new.table) {
      try copyRows(migration, connection, conversions)
    }
    try progress.step("relationships")
    try RelationshipMigration(map: map, connection: connection, kept: tables.kept).run()
    let greatest = try greatestKeys(connection)
    for table in tables.oldTables.sorted() { try connection.execute("DROP TABLE \(map.oldTable(table))") }
    try progress.step("indexes")
    try trees.write(connection)
    do { try objects.write(connection, foreign: foreign) } catch let error as SQLiteError { throw unique(error) }
    try DerivedMigration(layout: map.new, connection: connection).run(onStoreAt: path)
    try progress.step("numbers")
    try writeNumbers(connection, greatest: greatest)
    try HistoryMigration(map: map, connection: connection, path: path).run()
    try writeModel(writer, connection)
  }

  /// Writes the model cache and the metadata. A reader of the new file finds its model in `Z_MODELCACHE`.
  package func writeModel(_ writer: SchemaWriter, _ connection: Connection) throws {
    if try FileSchema.columns(of: "Z_MODELCACHE", on: connection).isEmpty {
      try connection.execute(SchemaWriter.modelCacheTable)
    }
    try connection.execute("DELETE FROM Z_MODELCACHE")
    try writer.writeModel(connection)
  }

  /// The metadata of the new store. Keeps the store's identifier and the program's own entries; model hashes are
  /// replaced.
  package func metadata(_ connection: Connection) throws -> StoreMetadata {
    var metadata = try StoreMetadata(connection, path: path)
    metadata.adopt(map.new.model, entities: map.new.entities.compactMap { $0?.entity })
    return metadata
  }

  /// Copies the rows of an entity. `plan` has the expected number of rows. Throws `.storeFailure` for another number.
  private func copyRows(_ migration: EntityMigration, _ connection: Connection, _ conversions: ColumnConversions) throws
  {
    try progress.step("rows of \(migration.new.entity.name)")
    let count = try RowMigration(migration: migration, map: map, conversions: conversions, connection: connection).run()
    let planned = plan.steps.first { $0.sourceEntityName == migration.old.entity.name }?.rowCount ?? 0
    progress.finish(count)
    guard count == planned else {
      throw GraphError(
        .storeFailure,
        message:
          "\(path) was not migrated: \(count) of \(planned) rows of \(migration.old.entity.name) could be copied",
        entity: migration.old.entity.name)
    }
  }

  /// The error for duplicate values, with the properties of the columns that SQLite names. Errors of any other kind are
  /// returned unchanged.
  private func unique(_ error: SQLiteError) -> any Error {
    guard error.code == .uniqueConstraint else { return error }
    for entity in map.new.entities.compactMap({ $0 }) where error.message.contains(" \(entity.table).") {
      let names = entity.slots(named: error).map { entity.entity.properties[$0].name }
      guard let first = names.first else { continue }
      return GraphError(
        .constraintConflict,
        message:
          "\(path) was not migrated, because \(entity.entity.name).\(names.joined(separator: ", ")) must be unique in the newer model, "
          + "and there are rows that have the same: change them, or leave the uniqueness constraint out",
        entity: entity.entity.name, property: first, underlying: error)
    }
    return error
  }

  // MARK: Numbers

  /// The greatest key ever assigned in each new table, by the root entity's index. Deleted keys are included, because a
  /// key is never given twice.
  package func greatestKeys(_ connection: Connection) throws -> [EntityIndex: Int64] {
    var result: [EntityIndex: Int64] = [:]
    for migration in map.entities {
      let number = map.old.number(migration.old.entity.root)
      let greatest = try connection.integer("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = \(number)") ?? 0
      result[migration.new.entity.root] = max(result[migration.new.entity.root] ?? 0, greatest)
    }
    return result
  }

  /// Writes the numbers of the model's entities; the numbers of the history's tables stay. `Z_MAX` is written for root
  /// entities only; subentities share their root's counter.
  package func writeNumbers(_ connection: Connection, greatest: [EntityIndex: Int64]) throws {
    try connection.execute("DELETE FROM Z_PRIMARYKEY WHERE Z_ENT NOT BETWEEN 16001 AND 16999")
    let statement = try connection.statement(
      "INSERT INTO Z_PRIMARYKEY (Z_ENT, Z_NAME, Z_SUPER, Z_MAX) VALUES (?, ?, ?, ?)")
    for entity in map.new.entities.compactMap({ $0 }) {
      statement.bind(entity.number, at: 1)
      statement.bind(entity.entity.name, at: 2)
      statement.bind(entity.entity.parent.map { map.new.number($0) } ?? 0, at: 3)
      statement.bind(entity.entity.parent == nil ? greatest[entity.entity.index] ?? 0 : 0, at: 4)
      try statement.run()
    }
  }
}
