import MoonbaseModel

/// The rows that a save writes.
extension SavePlan {
  /// Plans the row of a new object: in place, or copied into a page of the plan. In place if the object's page belongs
  /// to the store and is still open.
  mutating func plan(insertionOf object: ManagedObject, _ shape: Shape) throws {
    let id = permanentID(object.objectID)
    let index = try planIndex(of: id)
    var row = NewRow(object, id)
    defer { rows.append(row) }
    if adoptOwnRow(of: object, in: StoreNumber(rawValue: id.storeNumber)),
      try complete(object, under: id.key, version: 1, shape)
    {
      row.written = addOwnRow(of: object, to: plans[index].inserted)
      return
    }
    // A failed save sealed the page, or the page belongs to another store.
    let page = plans[index].inserted.page(for: id.entitySymbol, slotCount: object.entity.properties.count)
    if let known = object.row.inItsPage {
      page.beginRow(key: id.key, version: 1, like: known, but: shape.transient)
    } else {
      page.beginRow(key: id.key, version: 1)
    }
    try fill(page, from: object, shape)
    plans[index].insertedCopies.append((plans[index].inserted.count, rows.count))
    page.endRow()
  }

  /// Completes the object's own row in place; returns false if the row cannot be written any more. Destinations get
  /// their permanent IDs.
  private func complete(_ object: ManagedObject, under key: Int64, version: Int64, _ shape: Shape) throws -> Bool {
    guard object.completeRow(under: key, version: version) else { return false }
    for slot in shape.toOneSlots {
      if let id = try storedDestination(of: object, slot: slot) { object.completeRow(leadingTo: id, slot: slot) }
    }
    return true
  }

  /// Adds the object's own row to the rows of a store, without copying it. The page is sealed at the end of planning.
  private func addOwnRow(of object: ManagedObject, to rows: RowCollector) -> WrittenRow {
    guard let page = object.row.page.map(Unmanaged.passUnretained) else { return .nothing }
    page._withUnsafeGuaranteedRef { rows.add($0, at: Int(object.row.place)) }
    return .inPlace(page, object.row.place)
  }

  /// Completes the pages, and assigns the copied rows to changes and objects. Called once, after the last object.
  mutating func finishRows() {
    for index in plans.indices {
      let inserted = plans[index].inserted.finish()
      plans[index].changes.inserted = inserted
      for copy in plans[index].insertedCopies { rows[copy.row].written = .copied(inserted[copy.place]) }
      let updated = plans[index].updated.finish()
      plans[index].changes.updated = StoreChanges.Updates(updated, plans[index].notes)
      for copy in plans[index].updatedCopies { rows[copy.row].written = .copied(updated[copy.place]) }
    }
  }

  /// Plans the deletion of an object's row. Only the version that this context knows may be deleted.
  mutating func plan(deletionOf object: ManagedObject) throws {
    var deletion = StoreChanges.Deletion(id: object.objectID, expectedVersion: object.snapshot?.version)
    for slot in object.entity.ruledPairSlots {
      if let removed = object.relationships[slot]?.removed, !removed.isEmpty { deletion.released[slot] = Set(removed) }
    }
    plans[try planIndex(of: object.objectID)].changes.deleted.append(deletion)
  }

  /// Plans the changed row of an object, unless no stored value differs. Throws `.invalidStore` for a version that
  /// cannot be increased.
  mutating func plan(updateOf object: ManagedObject, _ shape: Shape) throws {
    let id = object.objectID
    var row = NewRow(object, id)
    defer { rows.append(row) }
    guard object.hasLiveValues, let old = object.snapshot else { return }
    let differing = try differingSlots(of: object, from: old, shape)
    guard !differing.isEmpty else { return }
    let (version, overflow) = old.version.addingReportingOverflow(1)
    guard !overflow else {
      throw GraphError(
        .invalidStore,
        message:
          "\(object.objectID): the store is damaged: the row's version (Z_OPT) is \(old.version), and none can follow it",
        entity: object.objectID.entityName, objectID: object.objectID)
    }
    let index = try planIndex(of: id)
    plans[index].notes.append(differing)
    if adoptOwnRow(of: object, in: StoreNumber(rawValue: id.storeNumber)),
      try complete(object, under: id.key, version: version, shape)
    {
      row.written = addOwnRow(of: object, to: plans[index].updated)
      return
    }
    // A failed save sealed the page, or the page belongs to another store.
    object.spillRow()
    let page = plans[index].updated.page(for: id.entitySymbol, slotCount: object.entity.properties.count)
    // The remaining slots are filled in below.
    var others = shape.transient
    others.formUnion(differing)
    page.beginRow(key: id.key, version: version, like: old, but: others)
    try fill(page, from: object, shape)
    plans[index].updatedCopies.append((plans[index].updated.count, rows.count))
    page.endRow()
  }

  /// Fills the current row of a page with the object's own values in stored form: with permanent IDs, without transient
  /// values. Throws for destinations without a row.
  private func fill(_ page: RowPageBuilder, from object: ManagedObject, _ shape: Shape) throws {
    let live = object.row.live
    for slot in live.indices {
      if let own = live[slot], !shape.transient.contains(slot) { page.set(own, slot: slot) }
    }
    try shape.toOne.forEach { slot in
      if let id = try storedDestination(of: object, slot: slot) { page.set(.objectID(id), slot: slot) }
    }
  }

  /// The stored form of a to-one relationship's destination; nil if there is none. Throws for a destination that is
  /// deleted or in another store.
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

  /// The slots of attributes and to-one relationships that differ from a row. A value that was set back to the stored
  /// one does not differ.
  private func differingSlots(of object: ManagedObject, from old: Snapshot, _ shape: Shape) throws -> SlotSet {
    var slots = SlotSet()
    try object.changed.forEach { slot in
      if shape.toMany.contains(slot) || shape.transient.contains(slot) { return }
      let destination = shape.toOne.contains(slot) ? try storedDestination(of: object, slot: slot) : nil
      let isSame =
        destination.map { old.cell(slot).isSame(as: .objectID($0)) } ?? object.holds(valueOf: old, slot: slot)
      if !isSame { slots.insert(slot) }
    }
    return slots
  }

  /// Throws for a new destination that was deleted before its first save and therefore has no key. The code is that of
  /// `danglingReferenceError`.
  func checkSaved(_ id: ManagedObjectID, from object: ManagedObject, slot: Slot) throws {
    guard !id.isTemporaryID else { throw object.danglingReferenceError(id, slot: slot) }
  }

  /// Throws for a destination that this save deletes, because the key would point at no row. The code is
  /// `.objectNotFound`.
  func checkPresence(of id: ManagedObjectID, from object: ManagedObject, slot: Slot) throws {
    guard context.registered[id]?.takeUnretainedValue().isDeleted == true else { return }
    throw object.refused(
      slot, value: .objectID(id), reason: "its destination \(id) is deleted: set it anew", as: .objectNotFound)
  }

  /// Throws for a destination in another store. A relationship cannot connect stores.
  private func checkStore(of destination: ManagedObjectID, from object: ManagedObject, slot: Slot) throws {
    guard destination.storeNumber != permanentID(object.objectID).storeNumber else { return }
    throw object.crossesStores(
      to: destination, slot: slot, stores: (permanentID(object.objectID).storeNumber, destination.storeNumber))
  }
}
