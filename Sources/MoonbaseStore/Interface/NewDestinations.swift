package import MoonbaseModel

/// The objects that a save newly points at and does not insert itself: their rows must exist when the save commits.
///
/// Every row of a large save passes through this check. Mostly a row points at the same destination as the row before,
/// or at a row of the same save, whose keys are consecutive: a comparison decides both cases.
package struct NewDestinations {
  /// The IDs of the objects.
  package private(set) var ids: Set<ManagedObjectID> = []
  private let model: ResolvedModel
  private let inserted: InsertedKeys

  /// Collects the destinations of inserted rows, changed rows and links.
  package init(_ changes: StoreChanges, in model: ResolvedModel) {
    self.model = model
    inserted = InsertedKeys(changes.inserted)
    if changes.destinationsMayFollow { return }
    for stretch in changes.inserted.stretches {
      for slot in model.entity(stretch.page.entity)?.toOneSlots ?? [] { note(stretch.page, stretch.places, slot: slot) }
    }
    changes.updated.forEachStretch { page, places, run in
      guard let entity = model.entity(page.entity) else { return }
      for slot in run.slots where entity.properties[slot].relationship != nil { note(page, places, slot: slot) }
    }
    for links in changes.links where !links.added.isEmpty { ids.formUnion(links.added + [links.owner]) }
    if ids.isEmpty { return }
    for row in changes.inserted where !inserted.areConsecutive(row.id.entitySymbol) || !changes.links.isEmpty {
      ids.remove(row.id)
    }
  }

  /// Records the destinations of rows of a page in one slot.
  private mutating func note(_ page: RowPage, _ places: Range<Int>, slot: Slot) {
    var last: ManagedObjectID?
    for place in places {
      let id = Snapshot(unchecked: page, at: place).destination(slot)
      if id == last { continue }
      last = id
      if let id, !inserted.contains(id) { ids.insert(id) }
    }
  }
}

/// The keys of inserted rows, by entity.
private struct InsertedKeys {
  /// The range of an entity's keys, and their number.
  private struct Keys {
    var range: ClosedRange<Int64>
    var count: Int

    var areConsecutive: Bool { range.upperBound - range.lowerBound == Int64(count - 1) }
  }

  private var keys: [Symbol: Keys] = [:]

  init(_ rows: RowBatch) {
    for stretch in rows.stretches {
      let (page, first) = (stretch.page, stretch.page.key(stretch.places.lowerBound))
      var (least, greatest) = (first, first)
      for place in stretch.places {
        least = min(least, page.key(place))
        greatest = max(greatest, page.key(place))
      }
      let known = keys[page.entity]
      keys[page.entity] = Keys(
        range: min(least, known?.range.lowerBound ?? least)...max(greatest, known?.range.upperBound ?? greatest),
        count: stretch.places.count + (known?.count ?? 0))
    }
  }

  func areConsecutive(_ entity: Symbol) -> Bool { keys[entity]?.areConsecutive == true }

  /// Whether a row of this ID is known to be inserted; false also if only a search could tell.
  func contains(_ id: ManagedObjectID) -> Bool {
    guard let keys = keys[id.entitySymbol], keys.areConsecutive else { return false }
    return keys.range.contains(id.key)
  }
}

extension StoreChanges {
  /// The greatest number of conflicts that an error lists.
  package static let greatestConflicts = 100

  /// The conflicts of a save that points at objects whose rows are gone.
  package func conflicts(missing: Set<ManagedObjectID>, in model: ResolvedModel) -> [SaveConflict] {
    if missing.isEmpty { return [] }
    var conflicts: [SaveConflict] = []
    func look(_ row: Snapshot) {
      for slot in model.entity(of: row.id)?.toOneSlots ?? [] where conflicts.count < Self.greatestConflicts {
        guard let id = row.destination(slot), missing.contains(id) else { continue }
        conflicts.append(.destinationIsGone(id, from: row.id, slot: slot, in: model))
      }
    }
    inserted.forEach(look)
    updated.forEach { look($0.snapshot) }
    for links in links where conflicts.count < Self.greatestConflicts {
      conflicts += links.conflicts(missing: missing, in: model)
    }
    return conflicts
  }
}

extension StoreChanges.Links {
  /// The conflicts of links with missing rows. If the owner is missing, the conflict concerns the other side, which
  /// still exists.
  fileprivate func conflicts(missing: Set<ManagedObjectID>, in model: ResolvedModel) -> [SaveConflict] {
    guard missing.contains(owner) else {
      return added.filter(missing.contains).map { .destinationIsGone($0, from: owner, slot: slot, in: model) }
    }
    guard let inverse = model.entity(of: owner)?.properties[slot].relationship?.inverseSlot else {
      return [SaveConflict(owner, .deleted)]
    }
    return added.map { .destinationIsGone(owner, from: $0, slot: inverse, in: model) }
  }
}

extension ResolvedEntity {
  /// The one-to-many relationships with a delete rule other than no action: no destination may point at a deleted
  /// object.
  package var ruledSlots: [Slot] {
    toManySlots.filter { slot in
      guard let relationship = properties[slot].relationship, !properties[slot].isTransient else { return false }
      return relationship.inverseSlot != nil && !relationship.isManyToMany
        && relationship.description.deleteRule.concernsDestinations
    }
  }

  /// The relationships stored as pairs whose delete rule is cascade or deny: a destination that the rule has not seen
  /// is a conflict.
  package var ruledPairSlots: [Slot] {
    toManySlots.filter { slot in
      guard let relationship = properties[slot].relationship, !properties[slot].isTransient else { return false }
      let rule = relationship.description.deleteRule
      return (relationship.inverseSlot == nil || relationship.isManyToMany) && rule.requiresSeenDestinations
    }
  }
}
