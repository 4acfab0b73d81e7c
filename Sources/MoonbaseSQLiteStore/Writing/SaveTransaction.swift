import MoonbaseGraph
import MoonbaseModel
import MoonbasePlatform
import MoonbaseSQL
import MoonbaseSQLite

/// The transaction of a save: deletions first, then updates, insertions and links, so that a unique value can pass from
/// one row to another.
///
/// Made by `SQLiteSaveSession` within its transaction, and run once. Unique values that two rows swap are cleared first
/// and written in a second round (`postponed`). Conflicts are collected so that a merge policy sees all of them at
/// once.
struct SaveTransaction {
  /// The changes of the save.
  let changes: StoreChanges
  /// The tables and columns.
  let layout: StoreLayout
  /// The connection in its transaction.
  let connection: Connection
  /// The folder of large values.
  let externalData: ExternalData
  /// The known last positions of lists.
  private let orderEnds: OrderEnds
  /// The files that the save made or gives up.
  var files = ExternalFiles()

  /// By entity index.
  private var writers: [Int: RowWriter] = [:]
  /// By table, the pairs of other entities' relationships that are deleted with its rows.
  private var loosePairs: [EntityIndex: [JoinLayout]] = [:]
  /// The conflicts found so far.
  private var conflicts: [SaveConflict] = []
  /// Updates whose unique value is taken, but may be freed by another update of this save.
  private var postponed: [StoreChanges.Update] = []
  /// The statement of the last update: the next update often has the same shape.
  private var lastUpdate: UpdateShape?

  /// Entity, slots and the version check decide about the text of the statement.
  private struct UpdateShape {
    /// The entity of the object.
    var entity: Symbol
    /// The changed slots in order.
    var slots: [Slot]
    /// Whether the version must be the expected one.
    var checksVersion: Bool
    /// Binds the values.
    var writer: RowWriter
    /// The prepared statement.
    var statement: Statement

    /// Whether the update can use this statement.
    func fits(_ change: StoreChanges.Update) -> Bool {
      entity == change.snapshot.id.entitySymbol && checksVersion == (change.expectedVersion != nil)
        && slots == change.changedSlots
    }
  }

  /// Nothing is written yet.
  init(
    _ changes: StoreChanges, layout: StoreLayout, connection: Connection, externalData: ExternalData,
    orderEnds: OrderEnds
  ) {
    self.changes = changes
    self.layout = layout
    self.connection = connection
    self.externalData = externalData
    self.orderEnds = orderEnds
  }

  /// Writes all changes, or returns the conflicts that prevent the save. The caller rolls back if conflicts are
  /// returned. Throws `GraphError`, `EndlessChange` and `SQLiteError`.
  mutating func run() throws -> [SaveConflict] {
    do {
      return try write()
    } catch let taken as TakenValues {
      return conflicts + [taken.conflict]
    }
  }

  /// Handles a row that violates a constraint: a taken unique value is a conflict, and the save goes on to find others.
  /// Throws any other reason.
  private mutating func note(_ error: SQLiteError, saving row: Snapshot) throws {
    let reason = describe(error, saving: row)
    guard let taken = reason as? TakenValues, connection.isInTransaction else { throw reason }
    conflicts.append(taken.conflict)
  }

  /// Runs the steps that may still fail after the rows are written. Synchronizes the external files.
  func prepare() throws { try externalData.finish(files, on: connection) }

  /// Deletions come first, then updates, insertions, links and orders.
  private mutating func write() throws -> [SaveConflict] {
    try orderEnds.begin(on: connection)
    let references = ReferenceCheck(changes, layout: layout, dialect: .sqlite) { [connection] in
      try connection.integers($0, of: $1)
    }
    conflicts = try references.unreachedPairs()
    try delete()
    try update()
    // Rows that others saved keep unique values which they were to hand on. Insertions would report conflicts only for
    // that reason.
    if conflicts.contains(where: { if case .sameValues = $0.kind { false } else { true } }) { return conflicts }
    try insert()
    if !conflicts.isEmpty { return conflicts }
    var links = LinkWriter(layout: layout, connection: connection, orderEnds: orderEnds)
    // Removals come first, so that a destination can pass from one object to another where the file allows only one.
    try forEachLink { try links.removePairs(of: $0) }
    try forEachLink { try links.addPairs(of: $0) }
    try links.finishPairs()
    // A pair may be written by the inverse side. Places need existing pairs.
    try forEachLink { try links.writeOrder(of: $0) }
    orderEnds.finish()
    return try references.conflicts()
  }

  /// A trigger without an end is reported with the owner of the link.
  private func forEachLink(_ body: (StoreChanges.Links) throws -> Void) throws {
    for change in changes.links {
      do {
        try body(change)
      } catch let overrun as TriggerOverrun {
        throw EndlessChange(overrun, of: change.owner)
      }
    }
  }

  /// Made once per entity.
  private mutating func writer(_ id: ManagedObjectID) throws -> RowWriter {
    let entity = try layout.layout(of: id)
    if let known = writers[entity.entity.index] { return known }
    let new = try RowWriter(entity, store: layout, externalData: externalData)
    writers[entity.entity.index] = new
    return new
  }

  // MARK: Insertions

  /// Streamed rows follow those of the save.
  private mutating func insert() throws {
    try insert(changes.inserted)
    while let rows = try changes.following?.next() {
      try insert(rows)
      if !conflicts.isEmpty { return }
    }
  }

  /// Rows of one entity are adjacent and use the same statement. Constraint errors become conflicts, if possible.
  private mutating func insert(_ rows: RowBatch) throws {
    var current: (symbol: Symbol, writer: RowWriter, statement: Statement)?
    for row in rows {
      try HostWork.charge()
      if current?.symbol != row.id.entitySymbol {
        let writer = try writer(row.id)
        current = (row.id.entitySymbol, writer, try connection.statement(writer.statements.insertion))
      }
      guard let current else { continue }
      do {
        let isThere = try current.writer.insert(row, with: current.statement, on: connection, files: &files)
        guard isThere else { throw GraphError.ignored("its insertion", of: row.id) }
        if !orderEnds.isEmpty { current.writer.noteOwners(of: row, in: orderEnds) }
      } catch let error as SQLiteError where error.code.primary == .constraint {
        try note(error, saving: row)
      } catch let overrun as TriggerOverrun {
        throw EndlessChange(overrun, of: row.id)
      } catch let error as SQLiteError {
        throw LargeValue.explain(error, row: row, of: current.writer.layout.entity)
      }
    }
    current?.statement.reset()
  }

  // MARK: Updates

  /// An update whose unique value is taken is repeated after all others.
  private mutating func update() throws {
    try HostWork.charge(changes.updated.count)
    for change in changes.updated {
      let made = files.created.count
      do {
        try apply(change)
      } catch let error as SQLiteError where error.code == .uniqueConstraint && connection.isInTransaction {
        do {
          try clearUniqueValues(of: change, after: error)
        } catch let other as SQLiteError where other.code.primary == .constraint {
          throw describe(error, saving: change.snapshot)
        }
        // The repeated update writes its values again.
        files.abandoned += files.created[made...]
        postponed.append(change)
      } catch let error as SQLiteError where error.code.primary == .constraint {
        throw describe(error, saving: change.snapshot)
      }
    }
    let rest = postponed
    for change in rest {
      do {
        try apply(change)
      } catch let error as SQLiteError where error.code.primary == .constraint {
        try note(error, saving: change.snapshot)
      }
    }
  }

  /// Appends a conflict if no row was changed.
  private mutating func apply(_ change: StoreChanges.Update) throws {
    let id = change.snapshot.id
    let shape = try shape(of: change)
    if !orderEnds.isEmpty { shape.writer.noteOwners(of: change.snapshot, slots: change.changedSlots, in: orderEnds) }
    if shape.writer.hasExternalData {
      try shape.writer.forgetFiles(of: id.key, slots: change.changedSlots, on: connection, files: &files)
    }
    do {
      if try !shape.writer.update(change, with: shape.statement, on: connection, files: &files) {
        conflicts.append(
          try conflict(id, expected: change.expectedVersion, "its update") ?? SaveConflict(id, .deleted))
      }
    } catch let overrun as TriggerOverrun {
      throw EndlessChange(overrun, of: id)
    } catch let error as SQLiteError {
      throw LargeValue.explain(error, row: change.snapshot, of: shape.writer.layout.entity)
    }
  }

  /// Prepared anew only if the shape differs from the last one.
  private mutating func shape(of change: StoreChanges.Update) throws -> UpdateShape {
    if let lastUpdate, lastUpdate.fits(change) { return lastUpdate }
    let writer = try writer(change.snapshot.id)
    let checksVersion = change.expectedVersion != nil
    let sql = writer.statements.update(change.changedSlots, checksVersion: checksVersion)
    let shape = UpdateShape(
      entity: change.snapshot.id.entitySymbol, slots: change.changedSlots, checksVersion: checksVersion, writer: writer,
      statement: try connection.statement(sql))
    lastUpdate = shape
    return shape
  }

  /// Clears unique values for other rows of the save. A file may have unique indexes that its model does not declare.
  /// The values are written again by the postponed update.
  private mutating func clearUniqueValues(of change: StoreChanges.Update, after error: SQLiteError) throws {
    let writer = try writer(change.snapshot.id)
    let unique = Set(writer.layout.entity.uniquenessConstraints.joined()).union(writer.layout.slots(named: error))
      .intersection(change.changedSlots)
    guard let sql = writer.statements.clearing(unique) else { throw describe(error, saving: change.snapshot) }
    let statement = try connection.statement(sql)
    statement.bind(change.snapshot.id.key, at: 1)
    try statement.run()
  }

  // MARK: Deletions

  /// A row that is already gone is a conflict only if a version was expected.
  private mutating func delete() throws {
    for deletion in changes.deleted {
      try HostWork.charge()
      let writer = try writer(deletion.id)
      if writer.hasExternalData {
        try writer.forgetFiles(of: deletion.id.key, slots: nil, on: connection, files: &files)
      }
      let statement = try connection.statement(
        writer.statements.deletion(checksVersion: deletion.expectedVersion != nil))
      statement.bind(deletion.id.key, at: 1)
      if let expected = deletion.expectedVersion { statement.bind(expected, at: 2) }
      do {
        try statement.run()
        if connection.changes == 0 {
          let conflict = try conflict(deletion.id, expected: deletion.expectedVersion, "its deletion")
          if let conflict { conflicts.append(conflict) }
        }
        try unlink(deletion.id, of: writer.layout)
      } catch let overrun as TriggerOverrun {
        throw EndlessChange(overrun, of: deletion.id)
      } catch let error as SQLiteError where error.code.primary == .constraint {
        throw GraphError.refused("its deletion", of: deletion.id, by: error)
      }
    }
  }

  /// Deletes the pairs of a deleted object in all pair tables.
  private mutating func unlink(_ id: ManagedObjectID, of entity: EntityLayout) throws {
    for case .join(let join) in entity.slots {
      let pairs = PairStatements(join, dialect: .sqlite)
      try unlink(id, .owner, in: join, by: pairs)
      if join.isReflexive { try unlink(id, .destination, in: join, by: pairs) }
    }
    for join in loosePairs(ofTable: entity.entity.root) {
      try unlink(id, .destination, in: join, by: PairStatements(join, dialect: .sqlite))
    }
  }

  /// Cached by table.
  private mutating func loosePairs(ofTable root: EntityIndex) -> [JoinLayout] {
    if let known = loosePairs[root] { return known }
    let joins = layout.loosePairs(ofTable: root)
    loosePairs[root] = joins
    return joins
  }

  /// Throws `.constraintConflict` if a trigger keeps a pair.
  private func unlink(
    _ id: ManagedObjectID, _ side: PairStatements.Side, in join: JoinLayout, by pairs: PairStatements
  ) throws {
    let deletion = try connection.statement(pairs.deletion(ofAllOf: side))
    deletion.bind(id.key, at: 1)
    try deletion.run()
    let presence = try connection.statement(pairs.presence(ofAnyOf: side))
    presence.bind(id.key, at: 1)
    defer { presence.reset() }
    if try presence.step() { throw GraphError.ignored("that its pairs in \(join.table) go with it", of: id) }
  }

  // MARK: Conflicts

  /// The reason why a change found no row: a save of another context, or a trigger that ignored the change. Nil for a
  /// row that was to be deleted and is gone. Throws `.constraintConflict` for an ignored change.
  private mutating func conflict(_ id: ManagedObjectID, expected: Int64?, _ change: String) throws -> SaveConflict? {
    let statements = try writer(id).statements
    let table = statements.layout.table
    let statement = try connection.statement(statements.version)
    statement.bind(id.key, at: 1)
    defer { statement.reset() }
    guard try statement.step() else { return expected.map { _ in SaveConflict(id, .deleted) } }
    let storage = statement.storage(0)
    guard storage == .integer else {
      let mismatch = ColumnMismatch(statement, column: 0, storage: storage, wanted: "version number")
      throw GraphError(
        .invalidStore,
        message: "the store is damaged: table \(table), row \(id.key): Z_OPT \(mismatch.description); set it to 1",
        entity: id.entityName, objectID: id)
    }
    let found = statement.integer(0)
    guard let expected, expected != found else { throw GraphError.ignored(change, of: id) }
    return SaveConflict(id, .changed(expected: expected, found: found))
  }
}

/// Queries of `ReferenceCheck`.
extension Connection {
  /// The integers that a statement returns, row by row. The keys are bound as one parameter.
  fileprivate func integers(_ sql: String, of keys: ReferenceCheck.Keys) throws -> [[Int64]] {
    let statement = try statement(sql)
    defer { statement.reset() }
    switch keys {
    case .one(let key): statement.bind(key, at: 1)
    case .list(let keys): SQLValue.bind(.list(keys.map(Value.int)), at: 1, to: statement)
    }
    var result: [[Int64]] = []
    while try statement.step() { result.append((0..<statement.columnCount).map { statement.integer($0) }) }
    return result
  }
}
