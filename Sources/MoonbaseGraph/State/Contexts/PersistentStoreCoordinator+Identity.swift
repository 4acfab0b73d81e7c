package import MoonbaseModel

/// An object is identified by store, table and key. A hierarchy of entities has one table, whose rows name the entity
/// of each object.
extension PersistentStoreCoordinator {
  /// The IDs with the entities that their rows name: an ID may name another entity of the same table. IDs without a row
  /// are returned unchanged.
  package func known(_ ids: [ManagedObjectID]) throws -> [ManagedObjectID] {
    let unsure = Set(ids.filter { !$0.isTemporaryID && hierarchy(of: $0).count > 1 && rows[$0] == nil })
    guard !unsure.isEmpty else { return ids }
    // A store looks for rows of exactly the requested entity.
    let candidates = unsure.flatMap { id in
      hierarchy(of: id).map {
        ManagedObjectID(store: StoreNumber(rawValue: id.storeNumber), entity: $0.symbol, key: id.key)
      }
    }
    var found: [Place: ManagedObjectID] = [:]
    for row in try snapshots(of: candidates) { found[place(of: row.id)] = row.id }
    return ids.map { unsure.contains($0) ? found[place(of: $0)] ?? $0 : $0 }
  }

  /// The entities that have rows in the table of an ID's entity.
  private func hierarchy(of id: ManagedObjectID) -> [ResolvedEntity] {
    guard let entity = model.entity(of: id) else { return [] }
    let all = model.entities[model.entities[entity.root].subtree]
    return all.count == 1 ? [entity] : all.filter { !$0.isAbstract || $0 === entity }
  }

  /// Store, table and key.
  private struct Place: Hashable {
    var store: UInt32
    var root: EntityIndex?
    var key: Int64
  }

  private func place(of id: ManagedObjectID) -> Place {
    Place(store: id.storeNumber, root: model.entity(of: id)?.root, key: id.key)
  }
}
