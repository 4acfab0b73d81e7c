import MoonbaseModel

/// A save of a child context: applies the child's changes to the parent, all or none.
///
/// The changes are one undo step of the parent. The parent's objects run no awake-from-insert and prepare-for-deletion
/// hooks, because the child's objects ran them. Rules and `willSave` run when the parent is saved.
///
/// Made by `ParentStore.beginSave`. The order of calls is that of every save session: `write`, `prepare`, `commit` or
/// `abort`. A savepoint of the parent's journal makes the save atomic.
final class ParentSaveSession: SaveSession {
  /// The store as the child sees it.
  private let store: ParentStore
  /// The context that receives the changes.
  private var parent: ManagedObjectContext { store.parent }
  /// The state of the parent before the save.
  private let savepoint: ChangeJournal.Savepoint
  /// The undo manager of the parent at the beginning.
  private let undo: UndoManager?
  /// The rows that were written, for the versions in `ParentRows`.
  private var written: [Snapshot] = []

  /// Begins a save into the parent. Throws within a hook or a rule of the parent.
  init(_ store: ParentStore) throws {
    let parent = store.parent
    self.store = store
    parent.waitForPendingSave()
    try parent.refuseWithinHooks("a child context was saved")
    try parent.refuseWhileValidating("a child context was saved")
    try store.rows.prepare()
    undo = parent.undoManager
    undo?.beginSeparateGroup()
    savepoint = parent.journal.begin()
  }

  /// Returns conflicts without changing the parent. Otherwise applies all changes; an error leaves the parent to
  /// `abort`.
  func write(_ changes: StoreChanges) throws -> [SaveConflict] {
    let conflicts = try otherVersions(than: changes) + looseReferences(of: changes)
    guard conflicts.isEmpty else { return conflicts }
    let known = try membersBehind(changes)
    try parent.observations.observers.holding { try apply(changes, besides: known) }
    written = Array(changes.inserted) + changes.updated.rows
    return []
  }

  /// The metadata of the store below.
  func metadata() throws -> [String: Value] { try store.metadata() }

  /// Always throws `.invalidRequest`.
  func setMetadata(_ metadata: [String: Value]) throws {
    throw GraphError(.invalidRequest, message: "metadata was set through a child context: set that of a store")
  }

  /// Nothing can fail after `write`.
  func prepare() {}

  /// Keeps the changes as unsaved changes of the parent.
  func commit() {
    store.rows.record(written)
    parent.endSavepoint(savepoint)
    undo?.endSeparateGroup()
    parent.tellObservers()
  }

  /// Restores the parent and its undo groups.
  func abort() {
    parent.undo(since: savepoint)
    parent.endSavepoint(savepoint)
    parent.tellObservers()
  }

  // MARK: Conflicts

  /// Conflicts for rows that changed in the parent since the child read them. Versions are compared as children know
  /// them.
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

  /// Conflicts for references from or to objects that are gone from the parent. For example, the parent deleted the
  /// destination.
  private func looseReferences(of changes: StoreChanges) throws -> [SaveConflict] {
    let missing = try NewDestinations(changes, in: parent.model).ids.filter { try store.rows.row(of: $0) == nil }
    return changes.conflicts(missing: missing, in: parent.model)
  }

  // MARK: Changes

  /// For each relationship to which the save appends members: the members among them that the parent already has.
  ///
  /// Reads the list or its owner if the parent has not read them.
  private func membersBehind(_ changes: StoreChanges) throws -> [[ManagedObjectID]] {
    let new = Set(changes.inserted.map(\.id))
    return try changes.links.map { links in
      guard case .appended(let ids, let returned)? = links.order, !new.contains(links.owner) else { return [] }
      let owner = try parent.object(with: links.owner)
      guard !owner.isDeleted else { return [] }
      return try ids.filter { try !returned.contains($0) && owner.hasMember($0, slot: links.slot) }
    }
  }

  /// Applies the child's changes to the objects of the parent. The order matters: insertions, attributes, to-one
  /// relationships, links, orders, deletions.
  private func apply(_ changes: StoreChanges, besides known: [[ManagedObjectID]]) throws {
    let new = try changes.inserted.map { try insert($0) }
    // No other object was inserted since the beginning.
    if store.rows.newArrivals == UInt64(new.count) { store.rows.noteArrivals() }
    var updated: [ManagedObject] = []
    for update in changes.updated {
      let object = try parent.object(with: update.snapshot.id)
      let attributes = update.changedSlots.filter { object.entity.properties[$0].relationship == nil }
      try object.applySaved(update.snapshot, slots: attributes)
      updated.append(object)
    }
    for (object, row) in zip(new, changes.inserted) { try lead(object, by: row, slots: object.entity.toOneSlots) }
    for (object, update) in zip(updated, changes.updated) {
      try lead(object, by: update.snapshot, slots: update.changedSlots)
    }
    // Members that were removed and added again are moved to the end of their lists on both sides, so orders are
    // applied last.
    for links in changes.links { try link(links) }
    for (links, known) in zip(changes.links, known) { try arrange(links, besides: known) }
    for deletion in changes.deleted {
      let object = try parent.object(with: deletion.id)
      if !object.isDeleted { parent.markDeleted(object) }
    }
    try parent.applyDeleteRulesOfEvent()
  }

  /// Inserts an object with the attributes of a row; relationships follow later. No hook is called.
  private func insert(_ row: Snapshot) throws -> ManagedObject {
    let entity = try parent.entity(of: row.id)
    let place = try parent.reserveNewObject(of: entity)
    let object = try parent.objectClass(of: place.table).init(place)
    object.beginWeighing()
    parent.begin(object)
    object.setPermanentID(row.id)
    try object.applySaved(row, slots: entity.attributeSlots)
    return object
  }

  /// Sets to-one relationships by a row.
  private func lead(_ object: ManagedObject, by row: Snapshot, slots: [Slot]) throws {
    for slot in slots where !object.entity.properties[slot].isTransient {
      guard let relationship = object.entity.properties[slot].relationship else { continue }
      try object.setDestination(row.destination(slot), slot: slot, relationship: relationship)
    }
  }

  /// Removes and adds members of a to-many relationship.
  private func link(_ links: StoreChanges.Links) throws {
    guard !links.removed.isEmpty || !links.added.isEmpty else { return }
    let owner = try parent.object(with: links.owner)
    // Links of a deleted owner are dropped; a conflict was reported if the save needs them.
    guard !owner.isDeleted else { return }
    for id in links.removed { try owner.removeMember(id, slot: links.slot) }
    for id in links.added { try owner.addMember(id, slot: links.slot) }
  }

  /// Applies the order of an ordered relationship. `known` are members that the parent already had.
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

  /// Members that the child did not know are placed at the end. The parent may have members of which the child does not
  /// know.
  private func arrange(_ ids: [ManagedObjectID], in owner: ManagedObject, _ slot: Slot) throws {
    let members = try owner.memberIDs(slot)
    let known = Set(members)
    var list = MemberList(unique: ids.filter(known.contains))
    for id in members { list.append(id) }
    try owner.arrangeMembers(Array(list), slot: slot)
  }

  /// Moves a member behind another member, or to the beginning; to the end if the other is gone. Does nothing if the
  /// member itself is gone.
  private func move(
    _ id: ManagedObjectID, behind other: ManagedObjectID?, in owner: ManagedObject, _ slot: Slot
  ) throws {
    guard let old = try owner.memberIndex(of: id, slot: slot) else { return }
    guard let other else { return try owner.moveMember(from: old, to: 0, slot: slot) }
    guard let before = try owner.memberIndex(of: other, slot: slot) else { return try moveToEnd(id, in: owner, slot) }
    try owner.moveMember(from: old, to: old < before ? before : before + 1, slot: slot)
  }

  /// Does nothing if the member is gone.
  private func moveToEnd(_ id: ManagedObjectID, in owner: ManagedObject, _ slot: Slot) throws {
    guard let old = try owner.memberIndex(of: id, slot: slot) else { return }
    try owner.moveMember(from: old, to: owner.memberCount(slot) - 1, slot: slot)
  }
}
