import MoonbaseModel

/// Which rows a save writes.
extension SavePlan {
  mutating func plan(insertionOf object: ManagedObject) throws {
    let id = permanentID(object.objectID)
    let index = try planIndex(of: id)
    takeNewRows(of: object, in: StoreNumber(rawValue: id.storeNumber))
    let row = try object.completeRow(under: id) { slot in try storedDestination(of: object, slot: slot) }
    if let row {
      plans[index].inserted.add(row.page, at: row.place)
    } else {
      // The page was sealed by a save that failed.
      let page = plans[index].inserted.page(for: id.entitySymbol, slotCount: object.entity.properties.count)
      page.beginRow(key: id.key, version: 1)
      try fill(page, from: object)
      plans[index].insertedCopies.append((plans[index].inserted.count, rows.count))
      plans[index].inserted.endRow()
    }
    rows.append(NewRow(object: object, snapshot: nil, id: id))
  }

  /// Objects and changes get their new rows when the pages are full.
  mutating func finishRows() {
    for index in plans.indices {
      plans[index].changes.inserted = plans[index].inserted.finish()
      for copy in plans[index].insertedCopies { rows[copy.row].snapshot = plans[index].changes.inserted[copy.place] }
      for (entry, snapshot) in zip(plans[index].updatedObjects, plans[index].updated.finish()) {
        rows[entry.row].snapshot = snapshot
        plans[index].changes.updated.append(
          StoreChanges.Update(snapshot: snapshot, changedSlots: entry.slots, expectedVersion: snapshot.version - 1))
      }
    }
  }

  mutating func plan(deletionOf object: ManagedObject) throws {
    var deletion = StoreChanges.Deletion(id: object.objectID, expectedVersion: object.snapshot?.version)
    for slot in object.entity.ruledPairSlots {
      if let removed = object.relationships[slot]?.removed, !removed.isEmpty { deletion.released[slot] = Set(removed) }
    }
    plans[try planIndex(of: object.objectID)].changes.deleted.append(deletion)
  }

  mutating func plan(updateOf object: ManagedObject) throws {
    guard object.hasLiveValues, let old = object.snapshot else {
      rows.append(NewRow(object: object, snapshot: nil, id: object.objectID))
      return
    }
    let slots = try changedSlots(of: object, from: old)
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
    let index = try planIndex(of: object.objectID)
    let page = plans[index].updated.page(
      for: object.objectID.entitySymbol, slotCount: object.entity.properties.count)
    page.beginRow(key: object.objectID.key, version: version)
    try fill(page, from: object)
    plans[index].updated.endRow()
    plans[index].updatedObjects.append((rows.count, slots))
    rows.append(NewRow(object: object, snapshot: nil, id: object.objectID))
  }

  /// Fills the row that a page begins with the values as the store gets them: permanent IDs, nothing transient.
  private func fill(_ page: RowPageBuilder, from object: ManagedObject) throws {
    let (live, entity) = (object.live, object.entity)
    for slot in entity.properties.indices {
      if !live.isEmpty, let own = live[slot] {
        page.set(own, slot: slot)
      } else if let row = object.page {
        withExtendedLifetime(row) { page.copy(row.cell(slot, of: Int(object.place)), slot: slot) }
      }
    }
    for slot in entity.transientSlots { page.set(.null, slot: slot) }
    for slot in entity.toOneSlots {
      if let id = try storedDestination(of: object, slot: slot) { page.set(.objectID(id), slot: slot) }
    }
  }

  /// The destination of a to-one relationship as the store gets it; nil where there is none.
  private func storedDestination(of object: ManagedObject, slot: Slot) throws -> ManagedObjectID? {
    guard case .objectID(let id)? = object.current(slot), !object.entity.properties[slot].isTransient else {
      return nil
    }
    let permanentID = permanentID(id)
    try checkSaved(permanentID, from: object, slot: slot)
    if object.isInserted || object.changed.contains(slot) { try checkPresence(of: id, from: object, slot: slot) }
    try checkStore(of: permanentID, from: object, slot: slot)
    return permanentID
  }

  /// The slots of attributes and to-one relationships that differ from a row.
  private func changedSlots(of object: ManagedObject, from old: Snapshot) throws -> [Slot] {
    var slots: [Slot] = []
    for slot in object.changed.slots {
      let property = object.entity.properties[slot]
      if case .toMany = property.kind { continue }
      if property.isTransient { continue }
      let value = try storedDestination(of: object, slot: slot).map(Value.objectID) ?? object.current(slot) ?? .null
      if !old.cell(slot).isSame(as: value) { slots.append(slot) }
    }
    return slots
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
