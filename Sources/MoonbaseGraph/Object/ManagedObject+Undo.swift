public import MoonbaseModel

/// Transitions that restore former values for an undo manager.
///
/// Each transition is recorded by the journal, so that it can be redone.
extension ManagedObject {
  /// Restores an attribute's former value, without setters and checks, which the value passed before.
  ///
  /// Throws if a store cannot deliver the bytes of an external value.
  final func putBack(_ value: Value, transformed: Value?, slot: Slot, silently: Bool) throws {
    // A damaged value can be restored only while the row contains it.
    let isThere = value.isDamage && snapshot?.values[slot] == value
    let value = isThere ? value : try loaded(value, slot: slot)
    if try isUnread(slot, equalTo: value) { return }
    if silently { try setStoredPrimitive(value, slot: slot) } else { try setStoredValue(value, slot: slot) }
    if let transformed { cache(Cached(value: transformed), slot: slot) }
  }

  /// Restores a delayed value. Does nothing if no extension declares the attribute any more. The attribute counts as
  /// changed.
  final func putBackDelayed(_ former: Value?, slot: Slot) {
    let value = entity.has(slot) ? former : nil
    delay(value, slot: slot)
    if value != nil { didChange(slot) }
  }

  /// Clears the order change of a relationship whose destinations are in their saved order.
  ///
  /// The order is known to be saved if nothing was saved since the order was unchanged (`wasOrdered`), or if the state
  /// shows it. For example, an insertion that was deleted and saved leaves no trace after both are undone.
  final func forgetOrder(_ slot: Slot, wasOrdered: Bool) {
    guard let known = relationships[slot], known.isReordered, wasOrdered || known.standsAsSaved else { return }
    remember(.order(slot, known, known.contents), silently: true)
    known.forgetOrder()
  }

  /// Whether the other side of a relationship is known to contain this object, without reading. Used to avoid reading
  /// both sides.
  final func isKnownDestination(of id: ManagedObjectID, slot: Slot) throws -> Bool {
    guard let inverse = entity.properties[slot].relationship?.inverseSlot,
      let other = context?.registeredObject(for: id), !other.isFault
    else { return false }
    if case .toOne = other.entity.properties[inverse].kind { return other.current(inverse) == .objectID(objectID) }
    guard let known = other.relationships[inverse], known.isLoaded else { return false }
    return known.contains(objectID)
  }

  /// Removes the object from the list of changes if nothing differs from its saved state.
  final func unlistIfUnchanged() {
    guard state.contains(.listed), state.isDisjoint(with: [.inserted, .deleted, .hasPendingLists]) else { return }
    if let row = snapshot {
      for slot in changed.slots where isAsSaved(slot, row) {
        unmark(slot)
        guard own(slot) != nil, !hasList(slot) else { continue }
        rememberValue(slot, silently: true)
        restoreOwn(nil, slot: slot)
      }
    }
    // A refresh keeps list changes of the members, which are not marked as changes here.
    if changed.isEmpty, delayed.isEmpty, !relationships.values.contains(where: \.hasChanges) { unlistUnchanged() }
  }

  /// Whether a slot is a to-many relationship.
  private func hasList(_ slot: Slot) -> Bool {
    if case .toMany = entity.properties[slot].kind { true } else { false }
  }

  /// Whether a slot has its saved value. Data of tokens is read for the comparison.
  private func isAsSaved(_ slot: Slot, _ row: Snapshot) -> Bool {
    if hasList(slot) { return relationships[slot]?.hasChanges != true }
    guard delayed[slot] == nil else { return false }
    guard let own = own(slot) else { return true }
    if case .object(let token) = row.values[slot], token.load != nil, token.damage == nil {
      return (try? loaded(row.values[slot], slot: slot))?.isSame(as: own) == true
    }
    return entity.properties[slot].isTransient ? own.isNull : row.cell(slot).isSame(as: own)
  }
}

/// Recording of former states in the context's journal.
///
/// Without a savepoint, observers and cached values, nothing is recorded, which is the usual case while importing.
extension ManagedObject {
  /// The cause of changes: values that are set while the object awakes belong to the row.
  @inline(__always)
  final var cause: Derivations.Cause { state.contains(.awaking) ? .row : .change }

  /// Records the former state before a change, if the context needs it. `former` is evaluated only if it is needed.
  @inline(__always)
  final func remember(
    _ former: @autoclosure () -> Change.Former, _ facet: Facet? = nil, because cause: Derivations.Cause = .change,
    silently: Bool = false
  ) {
    guard let context, context.journal.isActive || context.derivations.isWatching || isWatched else { return }
    context.record(former(), of: self, facet, because: cause, silently: silently)
  }

  /// Records the value in a slot before a change.
  @inline(__always)
  final func rememberValue(_ slot: Slot, because cause: Derivations.Cause = .change, silently: Bool = false) {
    remember(formerValue(slot), Facet(slot), because: cause, silently: silently)
  }

  /// The value in a slot, as the former state of a change. Nil inside means that the value of the row applies.
  final func formerValue(_ slot: Slot) -> Change.Former {
    .value(Change.Own(slot, own(slot), transformed: transformed(slot), isMarked: isMarked(slot)))
  }

  /// The object's state, its position in the list of changes, and whether a slot is marked as changed. The former state
  /// of a change that marks something.
  struct Flags {
    /// The flags of the object.
    let state: State
    /// The slot whose mark may change; nil for none.
    let slot: Slot?
    /// Whether the slot was marked as changed.
    let isMarked: Bool
    /// The place in the list of changes.
    let position: Int
  }

  /// The current flags of the object and the mark of a slot.
  final func flags(_ slot: Slot?) -> Flags {
    Flags(state: state, slot: slot, isMarked: slot.map(isMarked) ?? false, position: changePosition)
  }

  /// The row with all values and states above it.
  ///
  /// A class, because it is rarely needed and large.
  final class Reading {
    /// The state and the place in the list of changes.
    let flags: Flags
    /// The row, with values beside it.
    let row: ObjectRow
    /// The changed slots from 64 on.
    let changedHigh: Set<Slot>
    /// The values assigned to delayed attributes.
    let delayed: SlotMap<Value>
    /// The states of to-many relationships.
    let relationships: SlotMap<ToManyState>
    /// The bytes of the row, for the journal.
    let weight: Int

    /// Copies references only.
    fileprivate init(of object: ManagedObject) {
      flags = object.flags(nil)
      (row, changedHigh) = (object.row, object.record?.changedHigh ?? [])
      (delayed, relationships) = (object.delayed, object.relationships)
      weight = row.weight
    }
  }

  /// The current row with all values and states above it.
  final var reading: Reading { Reading(of: self) }
}

/// Effects on other objects when an object's unsaved changes or deletion are discarded by a refresh.
///
/// Both rows of a one-to-one relationship contain it, and each save writes both, so the two sides have to agree before.
extension ManagedObject {
  /// A to-one relationship whose destination may differ from the row's.
  ///
  /// Collected before the object becomes a fault, and applied by `retie` when its row is known.
  struct Tie {
    /// The slot of the relationship.
    let slot: Slot
    /// The current destination.
    let value: Value
    /// The destination in the row.
    let saved: Value
    /// Whether the object was removed from its list in the row's destination.
    let isOut: Bool
  }

  /// To-one relationships whose destinations may differ from the row's; for a deleted object all, because their
  /// destinations have removed it. Empty for a fault and for an object without changes.
  final var unsavedTies: [Tie] {
    guard state.contains(.listed), !isFault else { return [] }
    return entity.toOneSlots.compactMap { slot in
      guard isDeleted || changed.contains(slot), let (relationship, inverse) = inverse(of: slot) else { return nil }
      let saved = snapshot?.values[slot] ?? .null
      let list = otherSide(of: saved, along: relationship)?.relationships[inverse]
      return Tie(
        slot: slot, value: current(slot) ?? .null, saved: saved, isOut: list?.removed.contains(objectID) == true)
    }
  }

  /// Many-to-many relationships with deleted destinations, whose deletion is kept.
  ///
  /// The destinations of a deleted object are included, since they were not removed from it. Throws errors of the
  /// store.
  final func deletedDestinations() throws -> [(slot: Slot, ids: [ManagedObjectID])] {
    try entity.toManySlots.compactMap { slot in
      guard let relationship = entity.properties[slot].relationship, relationship.isManyToMany,
        !relationship.description.isTransient
      else { return nil }
      var ids = relationships[slot].map { Array($0.removed) } ?? []
      if isDeleted { ids += try memberIDs(slot) }
      let gone = ids.filter { otherSide(of: .objectID($0), along: relationship)?.isDeleted == true }
      return gone.isEmpty ? nil : (slot, gone)
    }
  }

  /// Records that members of the object's one-to-many relationships were removed or deleted by the object's deletion.
  ///
  /// The deletion is discarded, while these changes of the members are kept. Called before the object becomes a fault.
  final func noteMembersLost() throws {
    guard isDeleted else { return }
    for (slot, state) in relationships {
      guard let relationship = entity.properties[slot].relationship, !relationship.isManyToMany,
        let inverse = relationship.inverseSlot
      else { continue }
      // The list may have been unloaded since the rules were applied, because another context changed it.
      if !state.isLoaded { _ = try memberIDs(slot) }
      for id in Array(state.members) {
        guard let other = otherSide(of: .objectID(id), along: relationship) else { continue }
        guard other.isDeleted || !other.isFault && !other.pointsAt(self, slot: inverse) else { continue }
        alter(id, of: state, slot: slot, because: .row) { $0.remove(id) }
      }
    }
  }

  /// Sets a relationship to the row's destination, and updates the other side of a one-to-one relationship.
  ///
  /// If the destination is deleted, its delete rule applies to this object: it deletes or removes this object. Throws
  /// errors of the store, and of deleting this object.
  final func retie(_ tie: Tie, to new: Value) throws {
    let (slot, old) = (tie.slot, tie.value)
    guard let (relationship, inverse) = inverse(of: slot) else { return }
    let isOneToOne = !relationship.isInverseToMany
    if isOneToOne, old != new, let former = otherSide(of: old, along: relationship), !former.isDeleted {
      try former.detach(objectID, slot: inverse)
    }
    guard let other = otherSide(of: new, along: relationship) else { return }
    if other.isDeleted {
      // If `isOut` is false, the deletion of the destination took this object out of the destination's list. Undoing
      // the deletion puts this object back into the list.
      let isOut = tie.isOut || tie.saved != new
      return try follow(deletionOf: other, slot: slot, inverse: inverse, leaving: isOut)
    }
    if isOneToOne, !other.isFault { try other.attach(objectID, slot: inverse) }
  }

  /// Applies unsaved changes of other objects after a newer row: a destination that was deleted, or that has another
  /// partner, keeps its change, and this object is adapted. Called after a newer row was adopted.
  final func followUnsavedChanges() throws {
    guard !isDeleted else { return }
    for slot in entity.toOneSlots where !changed.contains(slot) {
      guard let (relationship, inverse) = inverse(of: slot),
        let other = otherSide(of: current(slot) ?? .null, along: relationship)
      else { continue }
      if other.isDeleted {
        try follow(deletionOf: other, slot: slot, inverse: inverse, leaving: true)
      } else if !relationship.isInverseToMany, other.changed.contains(inverse), !other.pointsAt(self, slot: inverse) {
        try setStoredValue(.null, slot: slot)
      }
    }
  }

  /// After an undo restored the object, removes destinations that are still deleted.
  ///
  /// The object's row was read after their deletion and refers to them again.
  final func leaveDeletedDestinations() throws {
    for slot in entity.toOneSlots where !changed.contains(slot) {
      guard let (relationship, inverse) = inverse(of: slot),
        let other = otherSide(of: current(slot) ?? .null, along: relationship), other.isDeleted
      else { continue }
      let rule = other.entity.properties[inverse].relationship?.description.deleteRule
      if rule?.clearsInverse == true { try setStoredValue(.null, slot: slot) }
    }
  }

  /// Applies the delete rule of a deleted destination to this object.
  ///
  /// With `leaving`, the destination's list stays without this object even if the deletion is undone. Only
  /// rules that clear the inverse have an effect here.
  private func follow(deletionOf other: ManagedObject, slot: Slot, inverse: Slot, leaving: Bool) throws {
    guard let rule = other.entity.properties[inverse].relationship?.description.deleteRule, rule.clearsInverse else {
      return
    }
    if leaving { other.lose(objectID, slot: inverse) }
    if rule.deletesDestinations { try context?.delete(self) } else { try setStoredValue(.null, slot: slot) }
  }

  /// Removes a member from a list, by an unsaved change. Called on the deleted destination.
  private func lose(_ id: ManagedObjectID, slot: Slot) {
    guard case .toMany = entity.properties[slot].kind else { return }
    let known = toManyState(slot)
    // The list was read before a row that refers to it.
    if !known.contains(id) { unload(known, slot: slot) }
    alter(id, of: known, slot: slot, because: .row) { $0.remove(id) }
    didChange(slot)
  }

  /// A relationship with the slot of its inverse; nil without an inverse.
  private func inverse(of slot: Slot) -> (ResolvedRelationship, Slot)? {
    guard let relationship = entity.properties[slot].relationship, let inverse = relationship.inverseSlot else {
      return nil
    }
    return (relationship, inverse)
  }
}

/// Changed values and their former values.
extension ManagedObject {
  /// The values of the last save or fetch by name: of the given keys, or of all persistent attributes and to-one
  /// relationships.
  ///
  /// Fires a fault. To-many relationships can be named in `keys`; their value is a list of IDs. Throws `.unknownName`
  /// for an unknown key.
  public final func committedValues(forKeys keys: [String]? = nil) throws -> [String: Value] {
    guard context != nil else { throw detachedError }
    noteRead(.state)
    let slots =
      try keys.map { try $0.map(slot(of:)) }
      ?? (entity.attributeSlots + entity.toOneSlots).filter { !entity.properties[$0].isTransient }
    if state.contains(.fault) { try fireFault() }
    return try values(of: slots, committedValue)
  }

  /// The current values, by name, of persistent properties that differ from the last save or fetch and will be saved.
  ///
  /// For a new object these are the values that were set. No value is read: for an unread to-many relationship
  /// (`hasFault(forRelationshipNamed:)`) the list contains only the added destinations.
  ///
  /// Values are in their presented form, after transformers. Throws errors of transformers and of the store.
  public final func changedValues() throws -> [String: Value] {
    try values(of: changedPersistentSlots()) { slot in
      guard let known = relationships[slot], !known.isLoaded else { return try value(at: slot) }
      return .list(known.added.map(Value.objectID))
    }
  }

  /// The values of persistent attributes and to-one relationships at the beginning of the event (`observeChanges`), by
  /// name.
  ///
  /// Contains only properties whose value has changed since. Within the closure of `observeChanges`, the event is the
  /// one that the closure received. Throws `.invalidRequest` without an observer of the context's changes, as no former
  /// values are kept then.
  public final func changedValuesForCurrentEvent() throws -> [String: Value] {
    guard let context else { throw detachedError }
    noteRead(.state)
    waitForPendingSave()
    if context.journal.isSettled { context.noteEvent(isLast: false) }
    guard let event = context.observations.changeEvent else {
      throw GraphError(
        .invalidRequest,
        message:
          "changedValuesForCurrentEvent was asked for while nobody observes the context's changes: call observeChanges before",
        entity: entity.name, objectID: objectID)
    }
    let former = event.formerValues(of: self, context.journal.all)
    let slots = former.keys.filter { slot in
      !entity.properties[slot].isTransient && !(current(slot) ?? .null).isSame(as: former[slot] ?? .null)
    }
    return try values(of: slots) { try presented(former[$0] ?? .null, slot: $0) }
  }

  /// Whether `changedValues()` is not empty, so that a save would change the store.
  ///
  /// False if a value was set and set back, and if only transient properties changed, though `hasChanges` is true then.
  public final var hasPersistentChangedValues: Bool {
    guard let slots = try? changedPersistentSlots() else { return false }
    return !slots.isEmpty
  }

  /// Lists of to-many relationships count if destinations were added or removed.
  private final func changedPersistentSlots() throws -> [Slot] {
    guard context != nil else { throw detachedError }
    noteRead(.state)
    waitForPendingSave()
    // Values that awake-from-fetch set are no changes.
    guard state.contains(.listed) else { return [] }
    let lists = relationships.filter { $0.value.hasChanges }.keys
    return (changed.slots.filter(isOtherThanSaved) + lists).filter { !entity.properties[$0].isTransient }
  }

  /// Whether an attribute or to-one relationship differs from the row, or has a delayed value. True for an object
  /// without a row.
  private final func isOtherThanSaved(_ slot: Slot) -> Bool {
    if case .toMany = entity.properties[slot].kind { return false }
    guard let snapshot, delayed[slot] == nil else { return true }
    return !holds(valueOf: snapshot, slot: slot)
  }

  /// The values of slots by name; a slot may occur twice. Throws the first error of `value`.
  private func values(of slots: [Slot], _ value: (Int) throws -> Value) rethrows -> [String: Value] {
    var values: [String: Value] = [:]
    for slot in slots { values[entity.property(at: slot).name] = try value(slot) }
    return values
  }
}
