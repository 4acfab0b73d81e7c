import MoonbaseModel

/// The rows of a context's objects as its children see them.
///
/// A row of unsaved values has a version as any other row: one that the children have not seen with other values. So that a child which
/// reads and saves finds out what changed in its parent meanwhile, as it would in a store.
final class ParentRows {
  // The store that leads here keeps the parent.
  private unowned let parent: ManagedObjectContext
  /// The rows that children know of objects that had unsaved changes, or that children saved. What no child has goes when the parent has
  /// no unsaved changes any more.
  private var editions: [ManagedObjectID: Snapshot] = [:]
  private var children: [ContextReference] = []
  /// How many rows were kept when it was last looked which of them children have, and how many the parent saved or gave up since.
  private var (keptCount, endedCount) = (0, 0)
  /// The bytes that they keep, by estimate.
  private var weight = 0
  /// How many objects had come to the parent when its new ones got their IDs; nil where some may still be without.
  private var arrivalCount: UInt64?

  init(_ parent: ManagedObjectContext) { self.parent = parent }

  /// What has to be done before children read: delete rules hold, and new objects have the IDs that all contexts know.
  func prepare() throws {
    try parent.checkOpen()
    parent.settle()
    try parent.applyDeleteRulesOfEvent()
    guard arrivalCount != parent.arrivalCount else { return }
    // No object that did not change since the last time can be new, or lead to one that is.
    let new = parent.changedObjects.recent.filter { $0.objectID.isTemporaryID && !$0.isDeleted }
    if !new.isEmpty { try parent.obtainPermanentIDs(for: new) }
    // One that is to go keeps its temporary ID, and may come back with it.
    let mayReturn = parent.newDeletedObjects.contains { $0.context === parent && $0.objectID.isTemporaryID }
    arrivalCount = mayReturn ? nil : parent.arrivalCount
    if !mayReturn { parent.changedObjects.beginRecent() }
  }

  /// How many objects came since this was prepared for reading.
  var newArrivals: UInt64 { parent.arrivalCount &- (arrivalCount ?? 0) }

  /// All of those have their IDs.
  func noteArrivals() { arrivalCount = parent.arrivalCount }

  // MARK: Rows

  func row(of id: ManagedObjectID) throws -> Snapshot? {
    let known = parent.registered[id]?.takeUnretainedValue()
    if let known, known.isDeleted { return nil }
    guard let known, let row = known.unsavedRow ?? known.snapshot else {
      return try parent.source.snapshot(of: id, in: parent.view).map { edition(of: $0, base: $0) }
    }
    return edition(of: row, base: known.snapshot)
  }

  /// Those that are gone are left out.
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

  /// A row of the version that children know it by, or are to know it by.
  private func edition(of row: Snapshot, base: Snapshot?) -> Snapshot {
    guard let known = editions[row.id] ?? base else { return keep(row, version: 1) }
    if known.isIdentical(to: row) { return row }
    if isSame(known, row) { return Snapshot(id: row.id, version: known.version, values: row.values) }
    return keep(row, version: max(known.version, base?.version ?? 0) + 1)
  }

  private func keep(_ row: Snapshot, version: Int64) -> Snapshot {
    let new = Snapshot(id: row.id, version: version, values: row.values)
    note(new)
    return new
  }

  private func note(_ row: Snapshot) {
    let former = editions.updateValue(row, forKey: row.id)
    weigh(Self.weight(of: row) - (former.map(Self.weight) ?? 0))
  }

  /// Whether two rows of an object say the same; what a store derives is as it is.
  private func isSame(_ one: Snapshot, _ other: Snapshot) -> Bool {
    guard let entity = parent.model.entity(of: one.id) else { return false }
    return entity.properties.allSatisfy { property in
      if case .toMany = property.kind { return true }
      return property.isTransient || property.isDerived
        || one.cell(property.slot).isSame(as: other.values[property.slot])
    }
  }

  /// Whether a child has an object as it is here. One without unsaved changes may also be known by the row of its store.
  func isCurrent(_ version: Int64, of row: Snapshot) -> Bool {
    if row.version == version { return true }
    guard let object = parent.registered[row.id]?.takeUnretainedValue(), !object.state.contains(.listed) else {
      return false
    }
    return object.snapshot?.version == version
  }

  /// A child saved these rows, and knows them by their versions.
  func take(_ saved: [Snapshot]) {
    for row in saved { note(row) }
  }

  // MARK: Keeping

  /// A child reads here from now on.
  func add(_ child: ManagedObjectContext) {
    children.removeAll { $0.context == nil }
    children.append(child.reference)
  }

  /// The parent saved so many objects, or gave up what they had: of rows that no child has it need not be known any more in which version
  /// children had them.
  func forgetUnused(after count: Int) {
    endedCount += count
    // As often as keeps the work in proportion to what is saved.
    guard !editions.isEmpty, endedCount >= keptCount else { return }
    children.removeAll { $0.context == nil }
    let known = children.compactMap(\.context)
    // One that is reading may have rows of which it has no objects yet.
    guard known.allSatisfy(\.isQuiet) else { return }
    let (formerCount, kept) = (editions.count, editions.filter { isKept($0.key, by: known) })
    if kept.count < formerCount {
      // So may walks that will go on.
      for child in known { child.forgetReadAhead() }
      editions = kept
      weigh(kept.values.reduce(0) { $0 + Self.weight(of: $1) } - weight)
    }
    (keptCount, endedCount) = (kept.count, 0)
  }

  private func isKept(_ id: ManagedObjectID, by children: [ManagedObjectContext]) -> Bool {
    if parent.registered[id]?.takeUnretainedValue().state.contains(.listed) == true { return true }
    return children.contains { $0.registered[id]?.takeUnretainedValue().page != nil }
  }

  /// No child is left.
  func forgetAll() {
    editions = [:]
    weigh(-weight)
    parent.changedObjects.endRecent()
  }

  /// How many rows are kept. Tests look at it.
  var count: Int { editions.count }

  private static func weight(of row: Snapshot) -> Int { 64 + row.weight }

  private func weigh(_ bytes: Int) {
    weight += bytes
    parent.weigh(bytes)
  }

  // MARK: Destinations

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

  /// Of an object of which the parent knows more than the store; nil of any other.
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

  /// Those that lead to an object by a one-to-one relationship, without those that do no longer.
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

extension ManagedObjectContext {
  /// Whether nothing of the context is on its way.
  fileprivate var isQuiet: Bool {
    phase == nil && hookDepth == 0 && accessorDepth == 0 && pinnedView == nil && journal.isSettled
  }
}

extension ManagedObject {
  /// The values that a save would write, as a row; nil where the object has no values but those of its row.
  fileprivate final var unsavedRow: Snapshot? {
    guard state.contains(.listed), hasLiveValues else { return nil }
    return Snapshot(id: objectID, version: 1, slotCount: entity.properties.count) { page in
      for property in entity.properties where !property.isTransient {
        guard let value = current(property.slot), !value.isNull, !value.holdsTemporaryID else { continue }
        page.set(value, slot: property.slot)
      }
    }
  }
}
