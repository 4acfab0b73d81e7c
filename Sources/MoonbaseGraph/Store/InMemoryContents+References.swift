import MoonbaseModel

/// No save leaves a relationship that points at nothing: looked at before the rows are written, as they will be.
extension InMemoryContents {
  func checkReferences(of changes: StoreChanges) throws {
    let deleted = Set(changes.deleted.lazy.map(\.id))
    let new = NewDestinations(changes, in: model).ids
    let missing = new.filter { row(of: $0) == nil || deleted.contains($0) }
    try GraphError.throwConflicts(
      changes.conflicts(missing: missing, in: model) + unreached(by: changes, deleted: deleted))
  }

  /// The rows that still point at deleted ones when all is written.
  private func unreached(by changes: StoreChanges, deleted: Set<ManagedObjectID>) -> [GraphError] {
    guard !deleted.isEmpty else { return [] }
    let updated = Dictionary(changes.updated.map { ($0.snapshot.id, $0.snapshot) }) { $1 }
    return changes.deleted.flatMap { deletion in
      pointers(at: deletion.id).compactMap { pointer in
        guard !deleted.contains(pointer.id),
          (updated[pointer.id] ?? row(of: pointer.id))?.values[pointer.slot] == .objectID(deletion.id)
        else { return nil }
        return .unreached(pointer.id, from: deletion.id, slot: pointer.listSlot, in: model)
      }
    }
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
