import MoonbaseModel

/// Which rows a save writes.
extension SavePlan {
  mutating func plan(insertionOf object: ManagedObject) throws {
    let id = permanentID(object.objectID)
    let snapshot = Snapshot(id: id, version: 1, values: try storedValues(of: object, live: object.live))
    plans[try planIndex(of: id)].changes.inserted.append(snapshot)
    rows.append(NewRow(object: object, snapshot: snapshot, id: id))
  }

  mutating func plan(deletionOf object: ManagedObject) throws {
    var deletion = StoreChanges.Deletion(id: object.objectID, expectedVersion: object.snapshot?.version)
    for slot in object.entity.ruledPairSlots {
      if let removed = object.relationships[slot]?.removed, !removed.isEmpty { deletion.released[slot] = Set(removed) }
    }
    plans[try planIndex(of: object.objectID)].changes.deleted.append(deletion)
  }

  mutating func plan(updateOf object: ManagedObject) throws {
    guard !object.live.isEmpty, let old = object.snapshot else {
      rows.append(NewRow(object: object, snapshot: nil, id: object.objectID))
      return
    }
    let values = try storedValues(of: object, live: object.live)
    let slots = object.changed.slots.filter { slot in
      if case .toMany = object.entity.properties[slot].kind { return false }
      return !object.entity.properties[slot].isTransient && !values[slot].isSame(as: old.values[slot])
    }
    guard !slots.isEmpty else {
      rows.append(NewRow(object: object, snapshot: nil, id: object.objectID))
      return
    }
    let (version, overflow) = old.version.addingReportingOverflow(1)
    guard !overflow else {
      throw GraphError(
        .invalidStore,
        message:
          "\(object.objectID): the store is damaged: the row's version (Z_OPT) is \(old.version), and none can follow it",
        entity: object.objectID.entityName, objectID: object.objectID)
    }
    let snapshot = Snapshot(id: object.objectID, version: version, values: values)
    let update = StoreChanges.Update(snapshot: snapshot, changedSlots: slots, expectedVersion: old.version)
    plans[try planIndex(of: object.objectID)].changes.updated.append(update)
    rows.append(NewRow(object: object, snapshot: snapshot, id: object.objectID))
  }

  /// The values as the store gets them: permanent IDs, nothing transient.
  private func storedValues(of object: ManagedObject, live: ContiguousArray<Value>) throws -> ContiguousArray<Value> {
    var values = live
    for slot in object.entity.transientSlots { values[slot] = .null }
    for slot in object.entity.toOneSlots {
      guard case .objectID(let id) = values[slot] else { continue }
      let permanentID = permanentID(id)
      try checkSaved(permanentID, from: object, slot: slot)
      if object.isInserted || object.changed.contains(slot) { try checkPresence(of: id, from: object, slot: slot) }
      try checkStore(of: permanentID, from: object, slot: slot)
      values[slot] = .objectID(permanentID)
    }
    return values
  }

  /// A new destination that was deleted before it was ever saved has no key to point at.
  func checkSaved(_ id: ManagedObjectID, from object: ManagedObject, slot: Slot) throws {
    guard !id.isTemporaryID else { throw object.pointsNowhere(id, slot: slot) }
  }

  /// A destination that goes with this save would leave a key that leads nowhere.
  func checkPresence(of id: ManagedObjectID, from object: ManagedObject, slot: Slot) throws {
    guard context.registered[id]?.takeUnretainedValue().isDeleted == true else { return }
    throw object.refused(
      slot, value: .objectID(id), reason: "its destination \(id) is deleted: set it anew", as: .objectNotFound)
  }

  private func checkStore(of destination: ManagedObjectID, from object: ManagedObject, slot: Slot) throws {
    guard destination.storeNumber != permanentID(object.objectID).storeNumber else { return }
    throw object.refused(
      slot, value: .objectID(destination), reason: "no relationship may cross stores: use a fetched property",
      as: .externalRelationship)
  }
}
