package import MoonbaseGraph
package import MoonbaseModel

/// The rows of an entity's table as an engine reads them: the selection, and what decodes the result.
package protocol SelectedRows {
  var select: RowSelect { get }
}

extension StoreLayout {
  /// The rows of objects, by their keys, in no order. IDs of other stores and unknown entities have no rows.
  ///
  /// `rows` gives the selection for an entity, `read` reads the rows with the keys of some IDs of the entity's table.
  package func snapshots<Rows: SelectedRows>(
    of ids: [ManagedObjectID], in store: StoreNumber,
    rows: (_ entity: ResolvedEntity, _ includesSubentities: Bool) throws -> Rows,
    read: (Rows, [ManagedObjectID]) throws -> [Snapshot]
  ) throws -> [Snapshot] {
    var result: [Snapshot] = []
    let known = ids.lazy.filter { $0.storeNumber == store.rawValue }
    for (root, group) in Dictionary(grouping: known, by: { self.model.entity(of: $0)?.root ?? -1 }) where root >= 0 {
      let isOfOneEntity = group.allSatisfy { $0.entitySymbol == group[0].entitySymbol }
      let single = isOfOneEntity ? model.entity(of: group[0]) : nil
      let selection = try rows(single ?? model.entities[root], single == nil)
      let found = try read(selection, group)
      result += found
      // Rows of an unknown entity belong to no requested entity.
      guard found.count < group.count, selection.select.entityCondition != nil else { continue }
      let missing = Set(group).subtracting(found.lazy.map(\.id))
      guard !missing.isEmpty else { continue }
      let others = try read(rows(model.entities[root], true), group.filter(missing.contains))
      result += others.filter { missing.contains($0.id) }
    }
    return result
  }
}
