import MoonbaseModel
import MoonbasePlatform

/// What one save will write, worked out without touching an object, so that a failed save leaves everything as it was.
struct SavePlan {
  private struct StorePlan {
    let number: UInt32
    let store: any PersistentStore
    var changes = StoreChanges()

    var name: String { store.url?.path ?? "store \(store.identifier)" }
  }

  private struct NewRow {
    var object: ManagedObject
    var snapshot: Snapshot?
    var id: ManagedObjectID
  }

  private let context: ManagedObjectContext
  private var plans: [StorePlan] = []
  private var rows: [NewRow] = []
  private var permanent: [ManagedObjectID: ManagedObjectID] = [:]
  /// Stores that committed.
  private var saved: [StorePlan] = []
  /// Whether not all stores committed.
  private var isIncomplete = true

  init(_ context: ManagedObjectContext) throws {
    self.context = context
    try assignPermanentIDs()
    for object in context.changedObjects {
      try HostWork.charge()
      if object.isDeleted {
        try plan(deletionOf: object)
      } else if object.isInserted {
        try plan(insertionOf: object)
      } else {
        try plan(updateOf: object)
      }
      if !object.isDeleted { try planLinks(of: object) }
    }
  }

  /// Writes the changes to all stores, and then commits them one by one.
  ///
  /// Stores are taken in the order of their numbers, which is the same for all contexts: none waits for another one that waits
  /// for it.
  mutating func write() throws {
    let waiting = plans.filter { !$0.changes.isEmpty }.sorted { $0.number < $1.number }
    do {
      try write(waiting[...])
      isIncomplete = false
    } catch {
      throw saved.isEmpty ? error : partial(error, of: waiting)
    }
  }

  /// Each store commits when those after it have committed, for which it waits with everything written.
  private mutating func write(_ waiting: ArraySlice<StorePlan>) throws {
    guard let plan = waiting.first else { return }
    try context.coordinator.save(plan.changes, to: plan.store) { try write(waiting.dropFirst()) }
    saved.append(plan)
  }

  private func partial(_ error: any Error, of all: [StorePlan]) -> any Error {
    let lost = all.filter { plan in !saved.contains { $0.number == plan.number } }
    let known = error as? GraphError
    return GraphError(
      known?.code ?? .storeFailure,
      "\(known?.message ?? "\(error)"); \(saved.map(\.name).joined(separator: ", ")) was saved before this, and "
        + "\(lost.map(\.name).joined(separator: ", ")) was not: save again for the rest",
      entity: known?.entity, objectID: known?.objectID, underlying: error)
  }

  /// Whether some stores committed, but not all.
  var isPartlySaved: Bool { isIncomplete && !saved.isEmpty }

  /// Whether what an object has to save is saved.
  func isSaved(_ object: ManagedObject) -> Bool {
    let number = permanentID(object.objectID).storeNumber
    return !isIncomplete || saved.contains { $0.number == number }
  }

  /// The save succeeded: objects take their new IDs and snapshots.
  func adopt() {
    let rows = isIncomplete ? rows.filter { isSaved($0.object) } : rows
    let new =
      isIncomplete ? permanent.filter { entry in saved.contains { $0.number == entry.value.storeNumber } } : permanent
    for row in rows {
      let object = row.object
      if object.objectID != row.id {
        context.registered.remove(object)
        object.objectID = row.id
        context.register(object)
      }
      if let snapshot = row.snapshot {
        object.snapshot = snapshot
        keepTransientValues(of: object)
      }
      replaceTransientDestinations(of: object, by: new)
      object.changed.removeAll()
      object.weighAssignedAnew()
      for state in object.relationships.values { state.didSave(permanent: new) }
    }
  }

  /// Transient relationships point at objects that have their permanent IDs only now.
  private func replaceTransientDestinations(of object: ManagedObject, by new: [ManagedObjectID: ManagedObjectID]) {
    guard !object.live.isEmpty else { return }
    for slot in object.entity.transientSlots {
      if case .objectID(let id) = object.live[slot], let id = new[id] { object.live[slot] = .objectID(id) }
    }
  }

  /// Persistent values are the snapshot's now; transient ones live on in the object.
  private func keepTransientValues(of object: ManagedObject) {
    guard !object.live.isEmpty, let snapshot = object.snapshot else { return }
    let live = object.live
    object.live = []
    for slot in object.entity.transientSlots where !live[slot].isNull {
      if object.live.isEmpty { object.live = snapshot.values }
      object.live[slot] = live[slot]
    }
  }

  // MARK: IDs

  /// Sets keys aside for all new objects, with one call for each entity's table.
  private mutating func assignPermanentIDs() throws {
    var byEntity: [Int: [ManagedObject]] = [:]
    for object in context.changedObjects where object.isInserted && object.objectID.isTemporaryID {
      byEntity[object.entity.index, default: []].append(object)
    }
    for (index, objects) in byEntity.sorted(by: { $0.key < $1.key }) {
      let entity = context.model.entities[index]
      let store = try context.coordinator.storeForNewObjects(of: entity)
      let number = StoreNumber(store.identifier)
      let first = try store.reserveKeys(for: entity, count: objects.count)
      permanent.reserveCapacity(permanent.count + objects.count)
      for (offset, object) in objects.enumerated() {
        permanent[object.objectID] = ManagedObjectID(store: number, entity: entity.symbol, key: first + Int64(offset))
      }
    }
  }

  private func permanentID(_ id: ManagedObjectID) -> ManagedObjectID {
    id.isTemporaryID ? permanent[id] ?? id : id
  }

  // MARK: Rows

  private mutating func plan(insertionOf object: ManagedObject) throws {
    let id = permanentID(object.objectID)
    let snapshot = Snapshot(id: id, version: 1, values: try storedValues(of: object, object.live))
    plans[try planIndex(of: id)].changes.inserted.append(snapshot)
    rows.append(NewRow(object: object, snapshot: snapshot, id: id))
  }

  private mutating func plan(deletionOf object: ManagedObject) throws {
    let deletion = StoreChanges.Deletion(id: object.objectID, expectedVersion: object.snapshot?.version)
    plans[try planIndex(of: object.objectID)].changes.deleted.append(deletion)
  }

  private mutating func plan(updateOf object: ManagedObject) throws {
    guard !object.live.isEmpty, let old = object.snapshot else {
      rows.append(NewRow(object: object, snapshot: nil, id: object.objectID))
      return
    }
    let values = try storedValues(of: object, object.live)
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
        "\(object.objectID): the store is damaged: the row's version (Z_OPT) is \(old.version), and none can follow it",
        entity: object.objectID.entityName, objectID: object.objectID)
    }
    let snapshot = Snapshot(id: object.objectID, version: version, values: values)
    let update = StoreChanges.Update(snapshot: snapshot, changedSlots: slots, expectedVersion: old.version)
    plans[try planIndex(of: object.objectID)].changes.updated.append(update)
    rows.append(NewRow(object: object, snapshot: snapshot, id: object.objectID))
  }

  /// The values as the store gets them: permanent IDs, nothing transient.
  private func storedValues(of object: ManagedObject, _ live: ContiguousArray<Value>) throws -> ContiguousArray<Value> {
    var values = live
    for slot in object.entity.transientSlots { values[slot] = .null }
    for slot in object.entity.toOneSlots {
      guard case .objectID(let id) = values[slot] else { continue }
      let permanentID = permanentID(id)
      try checkSaved(permanentID, object, slot)
      if object.isInserted || object.changed.contains(slot) { try checkPresence(of: id, object, slot) }
      try checkStore(of: permanentID, from: object, slot)
      values[slot] = .objectID(permanentID)
    }
    return values
  }

  /// A new destination that was deleted before it was ever saved has no key to point at.
  private func checkSaved(_ id: ManagedObjectID, _ object: ManagedObject, _ slot: Int) throws {
    guard id.isTemporaryID else { return }
    throw object.refused(slot, .objectID(id), "it points at an object that is gone: set it anew")
  }

  /// A destination that goes with this save would leave a key that leads nowhere.
  private func checkPresence(of id: ManagedObjectID, _ object: ManagedObject, _ slot: Int) throws {
    guard context.registered[id]?.takeUnretainedValue().isDeleted == true else { return }
    throw object.refused(slot, .objectID(id), "its destination \(id) is deleted: set it anew")
  }

  private func checkStore(of destination: ManagedObjectID, from object: ManagedObject, _ slot: Int) throws {
    guard destination.storeNumber != permanentID(object.objectID).storeNumber else { return }
    throw object.refused(slot, .objectID(destination), "no relationship may cross stores: use a fetched property")
  }

  // MARK: Links

  private mutating func planLinks(of object: ManagedObject) throws {
    for (slot, state) in object.relationships where state.hasChanges {
      guard let links = try links(of: object, slot, state) else { continue }
      plans[try planIndex(of: links.owner)].changes.links.append(links)
    }
  }

  /// What a relationship has to write; nil for nothing.
  ///
  /// Apart from `planLinks`, because a copy of the plan that lives while the plan grows makes every append copy it all.
  private func links(of object: ManagedObject, _ slot: Int, _ state: ToManyState) throws -> StoreChanges.Links? {
    guard let relationship = object.entity.properties[slot].relationship, !relationship.description.isTransient
    else { return nil }
    let owner = permanentID(object.objectID)
    let order = relationship.isOrdered ? try object.memberIDs(slot).map { permanentID($0) } : nil
    for id in state.added {
      try checkSaved(permanentID(id), object, slot)
      try checkPresence(of: id, object, slot)
    }
    let added = state.added.map { permanentID($0) }.filter { isSpeaker(for: relationship, slot, object, $0, owner) }
    let removed = state.removed.filter {
      !$0.isTemporaryID && isSpeaker(for: relationship, slot, object, $0, owner)
    }
    guard order != nil || !added.isEmpty || !removed.isEmpty else { return nil }
    return StoreChanges.Links(owner: owner, slot: slot, added: added, removed: Array(removed), order: order)
  }

  /// Both sides of a many-to-many relationship note a change; one of them speaks for both.
  private func isSpeaker(
    for relationship: ResolvedRelationship, _ slot: Int, _ object: ManagedObject, _ destination: ManagedObjectID,
    _ owner: ManagedObjectID
  ) -> Bool {
    guard let inverse = relationship.inverseSlot else { return true }
    guard relationship.isManyToMany else { return false }
    let own = object.entity.properties[slot].declaringEntity
    let other = context.model.entities[relationship.destination].properties[inverse].declaringEntity
    return (own, slot) == (other, inverse) ? owner.key <= destination.key : (own, slot) < (other, inverse)
  }

  // MARK: Stores

  private mutating func planIndex(of id: ManagedObjectID) throws -> Int {
    let number = id.storeNumber
    if let index = plans.firstIndex(where: { $0.number == number }) { return index }
    let store = try context.coordinator.store(of: id)
    guard !store.isReadOnly else {
      throw GraphError(
        .readOnlyStore, "\(store.url?.path ?? store.identifier) is read-only: open it for writing to save",
        entity: id.entityName, objectID: id)
    }
    plans.append(StorePlan(number: number, store: store))
    return plans.count - 1
  }
}
