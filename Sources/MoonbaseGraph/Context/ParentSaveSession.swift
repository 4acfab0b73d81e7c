import MoonbaseModel

/// What a child saves becomes changes of the parent: all of it or nothing.
///
/// They are one undo step there. No hook of the parent's objects hears of what was done in the child already: neither awake-from-insert
/// nor prepare-for-deletion. Its rules and `willSave` run when the parent is saved.
final class ParentSaveSession: SaveSession {
  private let store: ParentStore
  private var parent: ManagedObjectContext { store.parent }
  private let savepoint: ChangeJournal.Savepoint
  private let undo: UndoManager?
  private var written: [Snapshot] = []

  init(_ store: ParentStore) throws {
    let parent = store.parent
    self.store = store
    parent.settle()
    try parent.refuseWithinHooks("a child context was saved")
    try parent.refuseWhileValidating("a child context was saved")
    try store.rows.prepare()
    undo = parent.undoManager
    undo?.beginApart()
    savepoint = parent.journal.begin()
  }

  func write(_ changes: StoreChanges) throws -> [SaveConflict] {
    let conflicts = try otherVersions(than: changes) + looseReferences(of: changes)
    guard conflicts.isEmpty else { return conflicts }
    let known = try membersBehind(changes)
    try parent.observers.holding { try apply(changes, besides: known) }
    written = Array(changes.inserted) + changes.updated.rows
    return []
  }

  func metadata() throws -> [String: Value] { try store.metadata() }

  func setMetadata(_ metadata: [String: Value]) throws {
    throw GraphError(.invalidRequest, message: "metadata was set through a child context: set that of a store")
  }

  func prepare() {}

  func commit() {
    store.rows.take(written)
    parent.endSavepoint(savepoint)
    undo?.endApart()
    parent.tellObservers()
  }

  /// The parent is as it was, and so is what can be undone there.
  func abort() {
    parent.undo(since: savepoint)
    parent.endSavepoint(savepoint)
    parent.tellObservers()
  }

  // MARK: Conflicts

  private func otherVersions(than changes: StoreChanges) throws -> [SaveConflict] {
    let expected =
      changes.updated.map { ($0.snapshot.id, $0.expectedVersion) }
      + changes.deleted.map { ($0.id, $0.expectedVersion) }
    return try expected.compactMap { id, version in
      guard let version else { return nil }
      guard let found = try store.rows.row(of: id) else { return SaveConflict(id, .deleted) }
      if store.rows.isCurrent(version, of: found) { return nil }
      return SaveConflict(id, .changed(expected: version, found: found.version), foundRow: found)
    }
  }

  /// Objects that something is to lead to, or to be led from, and that are gone from the parent.
  private func looseReferences(of changes: StoreChanges) throws -> [SaveConflict] {
    let missing = try NewDestinations(changes, in: parent.model).ids.filter { try store.rows.row(of: $0) == nil }
    return changes.conflicts(missing: missing, in: parent.model)
  }

  // MARK: Changes

  /// Of relationships to which a save adds members at the end, the members that are there already and keep their
  /// places.
  ///
  /// Where the parent has not read the list or its owner yet, this reads them.
  private func membersBehind(_ changes: StoreChanges) throws -> [[ManagedObjectID]] {
    let new = Set(changes.inserted.map(\.id))
    return try changes.links.map { links in
      guard case .appended(let ids, let returned)? = links.order, !new.contains(links.owner) else { return [] }
      let owner = try parent.object(with: links.owner)
      guard !owner.isDeleted else { return [] }
      return try ids.filter { try !returned.contains($0) && owner.hasMember($0, slot: links.slot) }
    }
  }

  private func apply(_ changes: StoreChanges, besides known: [[ManagedObjectID]]) throws {
    let new = try changes.inserted.map { try insert($0) }
    // Nobody else has come since the beginning.
    if store.rows.newArrivals == UInt64(new.count) { store.rows.noteArrivals() }
    var updated: [ManagedObject] = []
    for update in changes.updated {
      let object = try parent.object(with: update.snapshot.id)
      let attributes = update.changedSlots.filter { object.entity.properties[$0].relationship == nil }
      try object.takeSaved(update.snapshot, slots: attributes)
      updated.append(object)
    }
    for (object, row) in zip(new, changes.inserted) { try lead(object, by: row, slots: object.entity.toOneSlots) }
    for (object, update) in zip(updated, changes.updated) {
      try lead(object, by: update.snapshot, slots: update.changedSlots)
    }
    // Members that go and come back go to the end of their lists on both sides: orders come when all are there.
    for links in changes.links { try link(links) }
    for (links, known) in zip(changes.links, known) { try arrange(links, besides: known) }
    for deletion in changes.deleted {
      let object = try parent.object(with: deletion.id)
      if !object.isDeleted { parent.markDeleted(object) }
    }
    try parent.applyDeleteRulesOfEvent()
  }

  /// A new object with what a row says, but for its relationships.
  private func insert(_ row: Snapshot) throws -> ManagedObject {
    let entity = try parent.entity(of: row.id)
    let place = try parent.placeForNewObject(of: entity)
    let object = try parent.objectClass(of: place.table).init(place)
    object.beginWeighing()
    parent.begin(object)
    object.takePermanentID(row.id)
    try object.takeSaved(row, slots: entity.attributeSlots)
    return object
  }

  private func lead(_ object: ManagedObject, by row: Snapshot, slots: [Slot]) throws {
    for slot in slots where !object.entity.properties[slot].isTransient {
      guard let relationship = object.entity.properties[slot].relationship else { continue }
      try object.setDestination(row.destination(slot), slot: slot, relationship: relationship)
    }
  }

  private func link(_ links: StoreChanges.Links) throws {
    guard !links.removed.isEmpty || !links.added.isEmpty else { return }
    let owner = try parent.object(with: links.owner)
    // Whose owner is gone leads nowhere any more; what was to lead somewhere is a conflict.
    guard !owner.isDeleted else { return }
    for id in links.removed { try owner.removeMember(id, slot: links.slot) }
    for id in links.added { try owner.addMember(id, slot: links.slot) }
  }

  private func arrange(_ links: StoreChanges.Links, besides known: [ManagedObjectID]) throws {
    guard let order = links.order else { return }
    let owner = try parent.object(with: links.owner)
    guard !owner.isDeleted else { return }
    switch order {
    case .all(let ids): try arrange(ids, in: owner, links.slot)
    case .stretches(let stretches):
      for stretch in stretches {
        for index in stretch.moved {
          try move(stretch.ids[index], behind: index > 0 ? stretch.ids[index - 1] : nil, in: owner, links.slot)
        }
      }
    case .appended(let ids, _):
      let known = Set(known)
      for id in ids where !known.contains(id) { try moveToEnd(id, in: owner, links.slot) }
    }
  }

  /// What the child did not know of stands at the end.
  private func arrange(_ ids: [ManagedObjectID], in owner: ManagedObject, _ slot: Slot) throws {
    let members = try owner.memberIDs(slot)
    let known = Set(members)
    var list = MemberList(unique: ids.filter(known.contains))
    for id in members { list.append(id) }
    try owner.arrangeMembers(Array(list), slot: slot)
  }

  /// A member stands behind another one, or at the beginning; where the other is gone, at the end.
  private func move(
    _ id: ManagedObjectID, behind other: ManagedObjectID?, in owner: ManagedObject, _ slot: Slot
  ) throws {
    guard let old = try owner.memberIndex(of: id, slot: slot) else { return }
    guard let other else { return try owner.moveMember(from: old, to: 0, slot: slot) }
    guard let before = try owner.memberIndex(of: other, slot: slot) else { return try moveToEnd(id, in: owner, slot) }
    try owner.moveMember(from: old, to: old < before ? before : before + 1, slot: slot)
  }

  private func moveToEnd(_ id: ManagedObjectID, in owner: ManagedObject, _ slot: Slot) throws {
    guard let old = try owner.memberIndex(of: id, slot: slot) else { return }
    try owner.moveMember(from: old, to: owner.memberCount(slot) - 1, slot: slot)
  }
}

extension ManagedObject {
  /// Takes attributes as a child saved them: stored values, past setters and transformers.
  fileprivate final func takeSaved(_ row: Snapshot, slots: [Slot]) throws {
    for slot in slots where !entity.properties[slot].isTransient {
      try setStoredValue(row.values[slot], slot: slot)
      if hasCaches, caches[slot]?.reads == nil { cache(nil, slot: slot) }
    }
  }
}
