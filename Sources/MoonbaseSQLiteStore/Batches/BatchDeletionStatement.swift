import MoonbaseGraph
import MoonbaseModel
import MoonbaseSQL
import MoonbaseSQLite

/// A batch deletion in one statement, for rows whose deletion changes no other row.
///
/// The cheapest form: the condition of the request becomes that of a `DELETE` statement. Used if all references are
/// columns of the rows themselves and no delete rule reaches further.
struct BatchDeletionStatement: BatchStatement {
  /// The rows that the request names.
  private let rows: BatchRows

  /// Returns nil where other rows change, and for values in external files.
  init?(_ rows: BatchRows) {
    self.rows = rows
    guard rows.kinds.areLeaves(ofTable: rows.query.entity.root, in: rows.store.layout.model), !holdsFiles else {
      return nil
    }
  }

  /// Whether the rows may have values in external files.
  private var holdsFiles: Bool {
    rows.kinds.contains { kind in
      kind.slots.contains { if case .attribute(_, .externalData) = $0 { true } else { false } }
    }
  }

  /// Throws `BatchRefusal` if a trigger kept a row.
  func run(in session: Session, files: inout ExternalFiles) throws -> StoreBatchResult {
    let ids = rows.givesIDs ? try rows.ids(rows.select.keys(rows.query), in: session) : []
    if rows.givesIDs, ids.isEmpty { return StoreBatchResult(objectIDs: [], changes: SavedObjectIDs()) }
    let noted = try note(in: session)
    let count = try rows.run("DELETE FROM \(rows.target)" + rows.condition(), in: session)
    // A trigger of the file ignored a row.
    guard noted == nil || noted == count, !rows.givesIDs || count == ids.count else { throw BatchRefusal() }
    if rows.givesIDs { return StoreBatchResult(objectIDs: ids, changes: SavedObjectIDs(deleted: ids)) }
    return StoreBatchResult(
      count: count, objectIDs: [], changes: count == 0 ? SavedObjectIDs() : .anything(of: touchedEntities))
  }

  /// Writes the history of the rows to delete. Returns their number, or nil where the file keeps no history. Called
  /// before the deletion, since the tombstones need the values.
  private func note(in session: Session) throws -> Int? {
    guard let writer = try rows.history(in: session) else { return nil }
    var history = try BatchHistory(writer, contextName: rows.request.contextName)
    let changed = ChangedRows(
      source: rows.target + rows.condition(), entity: rows.entityNumber,
      tombstone: rows.kinds.tombstone(entity: rows.entityNumber))
    let count = try history.note(.deletion, of: changed) { try rows.run($0, in: session) }
    try history.finish()
    return count
  }

  /// The names of the entities of the rows and of their relationships' destinations. Lists of destinations lose
  /// members.
  private var touchedEntities: [String] {
    [rows.query.entity.name] + rows.kinds.namesOfDestinations(in: rows.store.layout.model)
  }
}
