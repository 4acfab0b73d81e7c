import MoonbaseModel

/// Checks, before rows are written, that no relationship will point at a missing row.
extension InMemoryContents {
  /// The conflicts for relationships that would have a missing row at one end.
  func looseReferences(of changes: StoreChanges) -> [SaveConflict] {
    let deleted = Set(changes.deleted.lazy.map(\.id))
    let new = NewDestinations(changes, in: model).ids
    let missing = new.filter { row(of: $0) == nil || deleted.contains($0) }
    let ends = OneToOneEnds(changes, in: model)
    guard !deleted.isEmpty || !ends.ids.isEmpty else {
      return changes.conflicts(missing: missing, in: model)
    }
    let updated = Dictionary(changes.updated.map { ($0.snapshot.id, $0.snapshot) }) { $1 }
    func later(_ id: ManagedObjectID) -> Snapshot? { deleted.contains(id) ? nil : updated[id] ?? self.row(of: id) }
    return changes.conflicts(missing: missing, in: model) + unreached(by: changes, row: later)
      + unpaired(ends, row: later) + unreachedPairs(by: changes)
  }

  /// Conflicts for links to deleted objects that another context saved, which the delete rule (cascade or deny) did not
  /// see.
  private func unreachedPairs(by changes: StoreChanges) -> [SaveConflict] {
    let deleted = Set(changes.deleted.lazy.map(\.id))
    return changes.deleted.flatMap { deletion in
      (model.entity(of: deletion.id)?.ruledPairSlots ?? []).flatMap { slot in
        destinations(of: deletion.id, slot: slot)
          .filter { !deleted.contains($0) && deletion.released[slot]?.contains($0) != true }
          .map { .destinationWasAdded($0, to: deletion.id, slot: slot, in: model) }
      }
    }
  }

  /// Conflicts for rows that would still point at deleted rows after the save.
  private func unreached(by changes: StoreChanges, row: (ManagedObjectID) -> Snapshot?) -> [SaveConflict] {
    changes.deleted.flatMap { deletion in
      pointers(at: deletion.id).compactMap { pointer in
        guard row(pointer.id)?.values[pointer.slot] == .objectID(deletion.id) else { return nil }
        return .destinationWasAdded(pointer.id, to: deletion.id, slot: pointer.listSlot, in: model)
      }
    }
  }

  /// Conflicts for rows that would point, by a one-to-one relationship, at rows that do not point back.
  private func unpaired(_ ends: OneToOneEnds, row: (ManagedObjectID) -> Snapshot?) -> [SaveConflict] {
    ends.ids.flatMap { side, ids in ids.flatMap { unpaired($0, side: side, row: row) } }
  }

  private func unpaired(
    _ id: ManagedObjectID, side: OneToOneEnds.Side, row: (ManagedObjectID) -> Snapshot?
  ) -> [SaveConflict] {
    let key = model.entities[side.destination].properties[side.inverse].id
    let others = (pointers[key]?[id] ?? []).filter { row($0)?.values[side.inverse] == .objectID(id) }
    let destination = row(id)?.values[side.slot]
    let leading = others.filter { destination != .objectID($0) }.map {
      SaveConflict.destinationIsRemoved(id, from: $0, slot: side.inverse, in: model)
    }
    guard case .objectID(let other)? = destination, let there = row(other), there.values[side.inverse] != .objectID(id)
    else { return leading }
    return leading + [.destinationIsLinkedElsewhere(other, from: id, slot: side.slot, in: model)]
  }

  /// The rows that point at an object by relationships whose delete rules reach them, with the slots of both sides.
  private func pointers(at id: ManagedObjectID) -> [(id: ManagedObjectID, slot: Slot, listSlot: Slot)] {
    guard let entity = model.entity(of: id) else { return [] }
    return entity.ruledSlots.flatMap { list -> [(id: ManagedObjectID, slot: Slot, listSlot: Slot)] in
      guard let relationship = entity.properties[list].relationship, let slot = relationship.inverseSlot else {
        return []
      }
      let key = model.destination(of: relationship).properties[slot].id
      return (pointers[key]?[id] ?? []).map { ($0, slot, list) }
    }
  }
}
