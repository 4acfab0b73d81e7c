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

  /// Returns nil where other rows change.
  init?(_ rows: BatchRows) {
    self.rows = rows
    guard areLeaves else { return nil }
  }

  /// Whether all references are columns of the rows themselves, and no other relationship refers to the rows.
  private var areLeaves: Bool {
    let model = rows.store.layout.model
    for kind in rows.kinds {
      for (slot, place) in kind.slots.enumerated() {
        let property = kind.entity.properties[slot]
        switch place {
        case .composite, .none, .attribute: break
        case .toOne:
          guard let relationship = property.relationship, isSilent(relationship.description.deleteRule) else {
            return false
          }
          // In a one-to-one relationship the destination has a key column too.
          if let inverse = relationship.inverseSlot {
            guard model.destination(of: relationship).properties[inverse].relationship?.isToMany == true else {
              return false
            }
          }
        case .foreignKey, .join, .lost: return false
        }
        if case .attribute(_, .externalData) = place { return false }
      }
    }
    let root = rows.query.entity.root
    return model.entities.allSatisfy { entity in
      entity.properties.allSatisfy { property in
        guard let relationship = property.relationship, relationship.inverseSlot == nil, !property.isTransient else {
          return true
        }
        return model.destination(of: relationship).root != root
      }
    }
  }

  /// Whether the rule changes nothing in other tables.
  private func isSilent(_ rule: DeleteRule) -> Bool { rule == .nullify || rule == .noAction }

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
    let model = rows.store.layout.model
    let owners = rows.kinds.flatMap { kind in
      kind.entity.properties.compactMap { $0.relationship.map { model.destination(of: $0).name } }
    }
    return [rows.query.entity.name] + owners
  }
}
