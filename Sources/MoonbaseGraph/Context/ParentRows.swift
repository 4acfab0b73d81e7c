import MoonbaseModel

/// The rows of a context's objects as its child contexts see them.
///
/// Unsaved values have a row version, too, which changes whenever the children have seen other values. So a child
/// detects changes of its parent when it saves, as it detects changes in a store.
///
/// Owned by the coordinator of the children (`ParentStores`), and shared by them. Confined to the executor of parent
/// and children. Versions begin with 1 and grow with each different row that children have seen.
final class ParentRows {
  // The store that refers to this retains the parent.
  private unowned let parent: ManagedObjectContext
  /// The rows that children have of objects with unsaved changes, or saved themselves.
  ///
  /// A row that no child has is dropped when the parent has no unsaved changes of the object.
  private var editions: [ManagedObjectID: Snapshot] = [:]
  /// Weak references, cleaned up from time to time.
  private var children: [ContextReference] = []
  /// The number of kept rows at the last cleanup, and the number of rows saved or discarded by the parent since then.
  private var (keptCount, endedCount) = (0, 0)
  /// An estimate of the bytes of the kept rows.
  private var weight = 0
  /// The parent's count of new objects when these last got permanent IDs; nil if some still lack one.
  private var arrivalCount: UInt64?

  /// Nothing is known yet.
  init(_ parent: ManagedObjectContext) { self.parent = parent }

  /// Prepares the parent for a child's read: applies delete rules, and gives new objects permanent IDs. Called at the
  /// beginning of each read and save of a child. Throws errors of delete rules and of reserving keys.
  func prepare() throws {
    try parent.checkOpen()
    parent.waitForPendingSave()
    try parent.applyDeleteRulesOfEvent()
    guard arrivalCount != parent.counters.arrivalCount else { return }
    // Only objects that changed since the last call can be new, or refer to a new object.
    let new = parent.changedObjects.recent.filter { $0.objectID.isTemporaryID && !$0.isDeleted }
    if !new.isEmpty { try parent.obtainPermanentIDs(for: new) }
    // A deleted new object keeps its temporary ID, with which it may return.
    let mayReturn = parent.deletions.newObjects.contains { $0.context === parent && $0.objectID.isTemporaryID }
    arrivalCount = mayReturn ? nil : parent.counters.arrivalCount
    if !mayReturn { parent.changedObjects.beginRecent() }
  }

  /// The number of objects that were inserted since the last preparation.
  var newArrivals: UInt64 { parent.counters.arrivalCount &- (arrivalCount ?? 0) }

  /// Records that all new objects have permanent IDs.
  func noteArrivals() { arrivalCount = parent.counters.arrivalCount }

  // MARK: Rows

  /// The row of an object as children see it; nil if it is deleted or does not exist. Unsaved values of the parent are
  /// included.
  func row(of id: ManagedObjectID) throws -> Snapshot? {
    let known = parent.registered[id]?.takeUnretainedValue()
    if let known, known.isDeleted { return nil }
    guard let known, let row = known.unsavedRow ?? known.snapshot else {
      return try parent.source.snapshot(of: id, in: parent.view).map { edition(of: $0, base: $0) }
    }
    return edition(of: row, base: known.snapshot)
  }

  /// The rows with some IDs, without missing rows. In any order. Rows that the parent has not loaded are read in one
  /// request.
  func rows(of ids: [ManagedObjectID]) throws -> [Snapshot] {
    var rows: [Snapshot] = []
    var unknown: [ManagedObjectID] = []
    for id in ids {
      if parent.registered[id]?.takeUnretainedValue().page == nil {
        unknown.append(id)
      } else if let row = try row(of: id) {
        rows.append(row)
      }
    }
    for row in try parent.source.snapshots(of: unknown, in: parent.view)
    where parent.registered[row.id]?.takeUnretainedValue().isDeleted != true {
      rows.append(edition(of: row, base: row))
    }
    return rows
  }

  /// A row with the version under which children know its values, or a new version. Equal values keep their version, so
  /// that a change and its reversal are no conflict.
  private func edition(of row: Snapshot, base: Snapshot?) -> Snapshot {
    guard let known = editions[row.id] ?? base else { return keep(row, version: 1) }
    if known.isIdentical(to: row) { return row }
    if isSame(known, row) { return Snapshot(id: row.id, version: known.version, values: row.values) }
    return keep(row, version: max(known.version, base?.version ?? 0) + 1)
  }

  /// Gives a row a version and keeps it.
  private func keep(_ row: Snapshot, version: Int64) -> Snapshot {
    let new = Snapshot(id: row.id, version: version, values: row.values)
    note(new)
    return new
  }

  /// Keeps a row in place of an older one.
  private func note(_ row: Snapshot) {
    let former = editions.updateValue(row, forKey: row.id)
    weigh(Self.weight(of: row) - (former.map(Self.weight) ?? 0))
  }

  /// Whether two rows of an object have equal values, ignoring values that a store derives. To-many relationships and
  /// transient values do not count.
  private func isSame(_ one: Snapshot, _ other: Snapshot) -> Bool {
    guard let entity = parent.model.entity(of: one.id) else { return false }
    return entity.properties.allSatisfy { property in
      if case .toMany = property.kind { return true }
      return property.isTransient || property.isDerived
        || one.cell(property.slot).isSame(as: other.values[property.slot])
    }
  }

  /// Whether a child's version of a row is current. An object without unsaved changes is also known by its store's row.
  /// Used to find conflicts.
  func isCurrent(_ version: Int64, of row: Snapshot) -> Bool {
    if row.version == version { return true }
    guard let object = parent.registered[row.id]?.takeUnretainedValue(), !object.state.contains(.listed) else {
      return false
    }
    return object.snapshot?.version == version
  }

  /// Records the rows that a child saved, with their versions. The versions are those that the child computed.
  func record(_ saved: [Snapshot]) {
    for row in saved { note(row) }
  }

  // MARK: Keeping

  /// Registers a child context. Children are kept weakly.
  func add(_ child: ManagedObjectContext) {
    children.removeAll { $0.context == nil }
    children.append(child.reference)
  }

  /// Drops rows that no child has, after the parent saved or discarded `count` objects. Called with the number of
  /// objects; the cleanup takes time in proportion to the kept rows.
  func forgetUnused(after count: Int) {
    endedCount += count
    // The cleanup runs rarely enough that its work is proportional to the number of saved objects.
    guard !editions.isEmpty, endedCount >= keptCount else { return }
    children.removeAll { $0.context == nil }
    let known = children.compactMap(\.context)
    // A child that is reading may have rows without objects.
    guard known.allSatisfy(\.isQuiet) else { return }
    let (formerCount, kept) = (editions.count, editions.filter { isKept($0.key, by: known) })
    if kept.count < formerCount {
      // Walks that will continue may have such rows as well.
      for child in known { child.forgetReadAhead() }
      editions = kept
      weigh(kept.values.reduce(0) { $0 + Self.weight(of: $1) } - weight)
    }
    (keptCount, endedCount) = (kept.count, 0)
  }

  /// Whether the parent has unsaved changes of the object, or a child has its row.
  private func isKept(_ id: ManagedObjectID, by children: [ManagedObjectContext]) -> Bool {
    if parent.registered[id]?.takeUnretainedValue().state.contains(.listed) == true { return true }
    return children.contains { $0.registered[id]?.takeUnretainedValue().page != nil }
  }

  /// Drops all rows when the last child is gone. Called when the coordinator of the children is released.
  func forgetAll() {
    editions = [:]
    weigh(-weight)
    parent.changedObjects.endRecent()
  }

  /// The number of kept rows, for tests.
  var count: Int { editions.count }

  /// In bytes.
  private static func weight(of row: Snapshot) -> Int { 64 + row.weight }

  /// Charges the parent.
  private func weigh(_ bytes: Int) {
    weight += bytes
    parent.weigh(bytes)
  }

  // MARK: Destinations

  /// The destinations of objects as children see them. Lists in the order of `ids`. Unsaved changes of the parent are
  /// included, and deleted objects are left out.
  func destinations(of ids: [ManagedObjectID], slot: Slot) throws -> [[ManagedObjectID]] {
    var lists = [[ManagedObjectID]](repeating: [], count: ids.count)
    var unknown: [Int] = []
    for (place, id) in ids.enumerated() {
      if let known = try knownDestinations(of: id, slot: slot) { lists[place] = known } else { unknown.append(place) }
    }
    let found = try parent.source.destinations(of: unknown.map { ids[$0] }, relationship: slot, in: parent.view)
    for (place, list) in zip(unknown, found) { lists[place] = those(list, leadingTo: ids[place], slot: slot) }
    guard parent.hasChanges else { return lists }
    return lists.map { list in list.filter { parent.registered[$0]?.takeUnretainedValue().isDeleted != true } }
  }

  /// The destinations that the parent knows better than its store; nil if it does not. Nil means that the store has to
  /// be asked.
  private func knownDestinations(of id: ManagedObjectID, slot: Slot) throws -> [ManagedObjectID]? {
    guard let object = parent.registered[id]?.takeUnretainedValue() else { return nil }
    guard case .toMany = object.entity.properties[slot].kind else {
      guard object.state.contains(.listed), object.isInserted || object.changed.contains(slot) else { return nil }
      if case .objectID(let other) = try object.stored(slot) { return [other] }
      return []
    }
    guard object.isInserted || object.relationships[slot] != nil else { return nil }
    return try object.memberIDs(slot)
  }

  /// Filters the destinations of a one-to-one relationship, without objects whose reference changed. Needed because the
  /// store still has the former reference.
  private func those(
    _ list: [ManagedObjectID], leadingTo id: ManagedObjectID, slot: Slot
  ) -> [ManagedObjectID] {
    guard !list.isEmpty, let relationship = parent.model.entity(of: id)?.properties[slot].relationship,
      !relationship.isToMany, let inverse = relationship.inverseSlot
    else { return list }
    return list.filter { other in
      guard let other = parent.registered[other]?.takeUnretainedValue(), other.changed.contains(inverse) else {
        return true
      }
      return other.current(inverse) == .objectID(id)
    }
  }
}
