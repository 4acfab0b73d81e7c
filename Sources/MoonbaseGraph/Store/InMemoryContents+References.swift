import MoonbaseModel

/// No save leaves a relationship that points at nothing: looked at before the rows are written, as they will be.
extension InMemoryContents {
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

  /// What another context linked to deleted objects, unseen by a rule that deletes or refuses.
  private func unreachedPairs(by changes: StoreChanges) -> [SaveConflict] {
    let deleted = Set(changes.deleted.lazy.map(\.id))
    return changes.deleted.flatMap { deletion in
      (model.entity(of: deletion.id)?.ruledPairSlots ?? []).flatMap { slot in
        destinations(of: deletion.id, slot: slot)
          .filter { !deleted.contains($0) && deletion.released[slot]?.contains($0) != true }
          .map { .destinationCame($0, to: deletion.id, slot: slot, in: model) }
      }
    }
  }

  /// The rows that still point at deleted ones when all is written.
  private func unreached(by changes: StoreChanges, row: (ManagedObjectID) -> Snapshot?) -> [SaveConflict] {
    changes.deleted.flatMap { deletion in
      pointers(at: deletion.id).compactMap { pointer in
        guard row(pointer.id)?.values[pointer.slot] == .objectID(deletion.id) else { return nil }
        return .destinationCame(pointer.id, to: deletion.id, slot: pointer.listSlot, in: model)
      }
    }
  }

  /// The rows that lead by one-to-one relationships to rows that will not lead back.
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
      SaveConflict.destinationLeaves(id, from: $0, slot: side.inverse, in: model)
    }
    guard case .objectID(let other)? = destination, let there = row(other), there.values[side.inverse] != .objectID(id)
    else { return leading }
    return leading + [.destinationLeadsElsewhere(other, from: id, slot: side.slot, in: model)]
  }

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
