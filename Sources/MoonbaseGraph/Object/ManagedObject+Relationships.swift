public import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

extension ManagedObject {
  /// The destination of a to-one relationship; nil without one.
  public final func object(forKey key: String) throws -> ManagedObject? {
    let slot = try toOneSlot(key)
    guard case .objectID(let id) = try value(at: slot) else { return nil }
    return try context == nil ? nil : destinationObject(id, slot: slot)
  }

  /// Sets the destination of a to-one relationship; the inverse is updated at once.
  public final func setObject(_ object: ManagedObject?, forKey key: String) throws {
    let slot = try toOneSlot(key)
    try checkContext(object)
    try setValue(object.map { .objectID($0.objectID) } ?? .null, slot: slot)
  }

  /// The destinations of a to-many relationship, in order if it is ordered.
  public final func objects(forKey key: String) throws -> [ManagedObject] {
    let slot = try toManySlot(key)
    guard let context else { throw detachedError }
    let ids = try memberIDs(slot)
    if let lost = ids.first(where: { $0.isTemporaryID && context.registeredObject(for: $0) == nil }) {
      throw danglingReferenceError(lost, slot: slot)
    }
    return try memberObjects(slot, ids: ids)
  }

  /// The destinations of a to-many relationship. Takes the rows that were read ahead, unless `keepingRows` is true.
  package final func memberObjects(_ slot: Slot, keepingRows: Bool = false) throws -> [ManagedObject] {
    try memberObjects(slot, ids: memberIDs(slot), keepingRows: keepingRows)
  }

  private func memberObjects(
    _ slot: Slot, ids: [ManagedObjectID], keepingRows: Bool = false
  ) throws -> [ManagedObject] {
    guard let context else { throw detachedError }
    guard let known = relationships[slot], let ahead = known.rowsAhead else { return try context.objects(with: ids) }
    if !keepingRows {
      known.dropRowsAhead()
      weighRelationships()
    }
    guard ahead.number == context.readAhead.number else {
      // After a save or a rollback, all rows are read again in one statement.
      let objects = try context.objects(with: ids)
      try context.loadRows(of: ids)
      return objects
    }
    let present = try context.objects(forRowsAhead: ahead.rows)
    if present.count == ids.count, zip(present, ids).allSatisfy({ $0.objectID == $1 }) { return present }
    // Destinations were added or removed since.
    return try withExtendedLifetime(present) { try context.objects(with: ids) }
  }

  /// The IDs of the destinations of a relationship; makes no objects.
  public final func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
    let slot = try slot(of: key)
    switch entity.properties[slot].kind {
    case .toMany: return try memberIDs(slot)
    case .toOne: if case .objectID(let id) = try read(slot) { return [id] } else { return [] }
    case .attribute: throw refused(slot, value: nil, reason: "it is an attribute, not a relationship")
    }
  }

  /// Whether the destinations of a relationship have not been read yet. Reads nothing.
  public final func hasFault(forRelationshipNamed key: String) throws -> Bool {
    let slot = try slot(of: key)
    guard case .toMany = entity.properties[slot].kind else { return state.contains(.fault) }
    return relationships[slot].map { !$0.isLoaded } ?? !startsEmpty
  }

  /// Replaces the destinations of a to-many relationship.
  public final func setObjects(_ objects: [ManagedObject], forKey key: String) throws {
    let slot = try toManySlot(key)
    for object in objects { try checkContext(object) }
    try setMembers(objects.map(\.objectID), slot: slot)
    tellObservers()
  }

  /// Adds a destination to a to-many relationship; the inverse is updated at once.
  public final func add(_ object: ManagedObject, to key: String) throws {
    let slot = try toManySlot(key)
    try checkContext(object)
    try addMember(object.objectID, slot: slot)
  }

  /// Removes a destination from a to-many relationship; the inverse is updated at once.
  public final func remove(_ object: ManagedObject, from key: String) throws {
    let slot = try toManySlot(key)
    try checkContext(object)
    try removeMember(object.objectID, slot: slot)
  }

  // MARK: By slot

  /// The destination object with an ID.
  package final func destinationObject(_ id: ManagedObjectID, slot: Slot) throws -> ManagedObject {
    guard let context else { throw detachedError }
    guard id.isTemporaryID, context.registeredObject(for: id) == nil else { return try context.object(with: id) }
    throw danglingReferenceError(id, slot: slot)
  }

  /// The error for a relationship whose destination was a new object that is gone.
  final func danglingReferenceError(_ id: ManagedObjectID, slot: Slot) -> GraphError {
    refused(
      slot, value: .objectID(id),
      reason: "it points at \(id), which was deleted or rolled back before it was ever saved: set it anew",
      as: .objectNotFound)
  }

  /// Adds a destination without updating the inverse; false if it was a destination.
  private func include(_ id: ManagedObjectID, slot: Slot) -> Bool {
    waitForPendingSaveOfOwnChanges()
    guard alter(id, of: toManyState(slot), slot: slot, because: cause, { $0.add(id) }) else { return false }
    context?.noteLead(slot, of: self, to: id)
    didChange(slot)
    return true
  }

  /// Removes a destination without updating the inverse; false if it was no destination.
  private func exclude(_ id: ManagedObjectID, slot: Slot) -> Bool {
    waitForPendingSaveOfOwnChanges()
    guard alter(id, of: toManyState(slot), slot: slot, because: cause, { $0.remove(id) }) else { return false }
    didChange(slot)
    return true
  }

  /// Changes the membership of a destination, and records the change; false if `change` had no effect.
  @discardableResult
  final func alter(
    _ id: ManagedObjectID, of known: ToManyState, slot: Slot, because cause: Derivations.Cause,
    _ change: (ToManyState) -> Bool
  ) -> Bool {
    guard let context else { return change(known) }
    let former = context.journal.records(self) ? known.step(of: id, slot: slot) : nil
    guard change(known) else { return false }
    if let former { context.record(.destination(known, former), of: self) }
    outdate(slot, because: cause, member: id)
    return true
  }

  /// Whether a to-many relationship without a state is known to be empty, so that nothing has to be read.
  final var startsEmpty: Bool { !state.isDisjoint(with: [.inserted, .born]) || objectID.isTemporaryID }

  /// The state of a to-many relationship, made if necessary, without reading.
  final func toManyState(_ slot: Slot) -> ToManyState {
    if let known = relationships[slot] {
      weighRelationships()
      return known
    }
    let property = entity.properties[slot]
    let isOrdered = property.relationship?.isOrdered ?? false
    // A transient relationship exists only in memory and is always complete.
    let new = ToManyState(isOrdered: isOrdered, isLoaded: startsEmpty || property.isTransient)
    setRelationship(new, slot: slot)
    return new
  }

  /// The state of a to-many relationship with its destinations, which are read at the first access.
  private func loadedState(_ slot: Slot) throws -> ToManyState {
    noteRead(slot)
    waitForPendingSave()
    // A hook may set a transient relationship when the object awakes.
    if self.state.contains(.fault), entity.properties[slot].isTransient { try fireFault() }
    let state = toManyState(slot)
    forgetIfOlder(state, slot: slot)
    if !state.isLoaded {
      guard let context else { throw detachedError }
      try load(context.storedDestinations(of: self, slot: slot), into: state, slot: slot)
    }
    if let context, context.derivations.isNotingInputs { context.noteInput(state, of: self, slot) }
    return state
  }

  /// Adopts the stored destinations. Throws if they exceed a script's memory limit; the relationship stays unread then.
  final func load(_ saved: [ManagedObjectID], into known: ToManyState, slot: Slot) throws {
    try HostMemory.require(ToManyState.weight(of: saved.count))
    if state.contains(.listed) { remember(.members(slot, known, known.contents)) }
    known.load(saved, untrackedMoves: context?.counters.untrackedMoves ?? 0)
    weighRelationships()
    try renewOlderSides(of: saved, slot: slot)
  }

  /// The IDs of the destinations of a to-many relationship; read at the first access.
  package final func memberIDs(_ slot: Slot) throws -> [ManagedObjectID] {
    let members = try loadedState(slot).members
    try HostWork.charge(members.count >> 3)
    return Array(members)
  }

  /// The number of destinations of a to-many relationship.
  package final func memberCount(_ slot: Slot) throws -> Int { try loadedState(slot).members.count }

  /// The destination at a position, from 0; nil beyond the last position.
  package final func memberID(at position: Int, slot: Slot) throws -> ManagedObjectID? {
    let members = try loadedState(slot).members
    return (0..<members.count).contains(position) ? members[position] : nil
  }

  /// The position of a destination, from 0; nil if it is no destination.
  package final func memberIndex(of id: ManagedObjectID, slot: Slot) throws -> Int? {
    try loadedState(slot).index(of: id)
  }

  /// Whether an object is a destination of a to-many relationship; reads it at the first access.
  package final func hasMember(_ id: ManagedObjectID, slot: Slot) throws -> Bool {
    try loadedState(slot).contains(id)
  }

  /// Inserts a destination at a position of an ordered relationship; an existing destination moves.
  ///
  /// The position refers to the list without the destination.
  package final func insertMember(_ id: ManagedObjectID, at position: Int, slot: Slot) throws {
    guard !isDeleted else { throw invalid("is deleted and cannot be changed") }
    let state = try loadedState(slot)
    if !state.contains(id) { try addMember(id, slot: slot, destination: destination(id, slot: slot)) }
    if let old = state.index(of: id) { try moveMember(from: old, to: position, slot: slot) }
    tellObservers()
  }

  /// Moves a destination of an ordered relationship; both positions must exist.
  package final func moveMember(from old: Int, to new: Int, slot: Slot) throws {
    guard !isDeleted else { throw invalid("is deleted and cannot be changed") }
    let state = try loadedState(slot)
    guard old != new else { return }
    remember(.destination(state, state.step(of: state.members[old], slot: slot)), Facet(slot), because: cause)
    state.move(from: old, to: new)
    didChange(slot)
    tellObservers()
  }

  /// Adds a destination to a to-many relationship by ID; the inverse is updated at once.
  package final func addMember(_ id: ManagedObjectID, slot: Slot) throws {
    guard !isDeleted else { throw invalid("is deleted and cannot be changed") }
    let coming = try destination(id, slot: slot)
    // Undoing the addition needs the former membership, which the other side of a one-to-many relationship provides.
    if context?.undoManager != nil, let relationship = entity.properties[slot].relationship,
      relationship.isManyToMany || relationship.inverseSlot == nil
    {
      _ = try loadedState(slot)
    }
    try addMember(id, slot: slot, destination: coming)
    tellObservers()
  }

  private func addMember(_ id: ManagedObjectID, slot: Slot, destination: ManagedObject?) throws {
    guard let relationship = entity.properties[slot].relationship, include(id, slot: slot) else { return }
    if let inverse = relationship.inverseSlot { try destination?.attach(objectID, slot: inverse) }
  }

  /// Removes a destination from a to-many relationship by ID; the inverse is updated at once.
  package final func removeMember(_ id: ManagedObjectID, slot: Slot) throws {
    guard !isDeleted else { throw invalid("is deleted and cannot be changed") }
    guard try hasMember(id, slot: slot) || hasMemberAfterAll(id, slot: slot) else { return }
    try removeMember(id, slot: slot, destination: leavingDestination(id, slot: slot))
    tellObservers()
  }

  private func removeMember(_ id: ManagedObjectID, slot: Slot, destination: ManagedObject?) throws {
    guard let relationship = entity.properties[slot].relationship, exclude(id, slot: slot) else { return }
    if let inverse = relationship.inverseSlot { try destination?.detach(objectID, slot: inverse) }
  }

  /// Replaces the destinations, all or none: everything is checked before the first change.
  package final func setMembers(_ list: [ManagedObjectID], slot: Slot) throws {
    try HostWork.charge(list.count)
    let wanted = OrderedSet(list)
    let ids = Array(wanted)
    let leavingIDs = try memberIDs(slot).filter { !wanted.contains($0) }
    let coming = try forEach(ids) { try destination($0, slot: slot) }
    let leaving = try forEach(leavingIDs) { try leavingDestination($0, slot: slot) }
    for (id, object) in zip(leavingIDs, leaving) { try removeMember(id, slot: slot, destination: object) }
    for (id, object) in zip(ids, coming) { try addMember(id, slot: slot, destination: object) }
    if entity.properties[slot].relationship?.isOrdered == true { try arrangeMembers(ids, slot: slot) }
  }

  /// Sets the order of an ordered relationship to a list of all its destinations.
  final func arrangeMembers(_ ids: [ManagedObjectID], slot: Slot) throws {
    guard try memberIDs(slot) != ids else { return }
    let state = toManyState(slot)
    remember(.order(slot, state, state.contents), Facet(slot), because: cause)
    state.reorder(ids)
    didChange(slot)
  }

  /// Calls `body` for each ID, with a check that memory suffices for all objects.
  private func forEach(
    _ ids: [ManagedObjectID], _ body: (ManagedObjectID) throws -> ManagedObject?
  ) throws -> [ManagedObject?] {
    try HostMemory.require(ids.count &* Self.ownWeight)
    return try ids.map { id in
      try HostWork.charge()
      return try body(id)
    }
  }

  /// Sets the destination of a to-one relationship, and updates the inverses of the former and the new destination.
  final func setDestination(_ new: ManagedObjectID?, slot: Slot, relationship: ResolvedRelationship) throws {
    let coming = try new.flatMap { try destination($0, slot: slot) }
    try readAnew(leadingTo: coming, slot: slot)
    let old: ManagedObjectID? = if case .objectID(let id) = try stored(slot) { id } else { nil }
    guard old != new else { return }
    let leaving = try relationship.inverseSlot == nil ? nil : old.flatMap { try context?.objectUnlessGone(with: $0) }
    if let inverse = relationship.inverseSlot {
      try checkTracked(slot, other: leaving)
      try leaving?.prepareToDetach(inverse)
    }
    let strays = try oneSidedPartners(slot).filter { $0 !== coming }
    let rivals = try relationship.inverseSlot.flatMap { try coming?.oneSidedPartners($0) } ?? []
    try setStoredValue(new.map(Value.objectID) ?? .null, slot: slot)
    guard let inverse = relationship.inverseSlot else { return }
    try leaving?.detach(objectID, slot: inverse)
    for other in strays { try other.detach(objectID, slot: inverse) }
    if let new { for other in rivals where other !== self { try other.detach(new, slot: slot) } }
    try coming?.attach(objectID, slot: inverse)
  }

  /// Adds the object on the other side of a relationship, without updating the side of the caller.
  final func attach(_ id: ManagedObjectID, slot: Slot) throws {
    guard case .toOne(let relationship) = entity.properties[slot].kind else {
      _ = include(id, slot: slot)
      return
    }
    if case .objectID(let previous) = try stored(slot), previous != id, let inverse = relationship.inverseSlot {
      try context?.objectUnlessGone(with: previous)?.detach(objectID, slot: inverse)
    }
    try setStoredValue(.objectID(id), slot: slot)
  }

  /// Reads the values that `detach` needs, so that it cannot fail in the middle of an assignment.
  private func prepareToDetach(_ slot: Slot) throws {
    if case .toOne = entity.properties[slot].kind { _ = try stored(slot) } else { try readOrderToUndo(slot) }
  }

  /// Reads an ordered relationship whose removal may be undone, because undoing needs the position.
  private func readOrderToUndo(_ slot: Slot) throws {
    guard context?.undoManager != nil, entity.properties[slot].relationship?.isOrdered == true else { return }
    _ = try loadedState(slot)
  }

  /// Removes the object on the other side of a relationship, without updating the side of the caller.
  final func detach(_ id: ManagedObjectID, slot: Slot) throws {
    guard case .toOne = entity.properties[slot].kind else {
      forgetOlderList(without: id, slot: slot)
      try readOrderToUndo(slot)
      _ = exclude(id, slot: slot)
      return
    }
    if try stored(slot) == .objectID(id) { try setStoredValue(.null, slot: slot) }
  }

  /// The destination object, checked and with all values read that the assignment needs; nil without an inverse.
  private func destination(_ id: ManagedObjectID, slot: Slot) throws -> ManagedObject? {
    try checkDestination(id, slot: slot)
    guard let inverse = entity.properties[slot].relationship?.inverseSlot, let context else { return nil }
    let destination = try context.object(with: id)
    try checkTracked(slot, other: destination)
    try readAnew(destination, leadingHere: inverse, slot: slot)
    if case .toOne(let relationship) = destination.entity.properties[inverse].kind,
      case .objectID(let previous) = try destination.stored(inverse), let back = relationship.inverseSlot
    {
      try context.objectUnlessGone(with: previous)?.prepareToDetach(back)
    }
    return destination
  }

  /// The former destination object, with all values read that the removal needs; nil without an inverse, or if it is
  /// gone.
  private func leavingDestination(_ id: ManagedObjectID, slot: Slot) throws -> ManagedObject? {
    guard let relationship = entity.properties[slot].relationship, let inverse = relationship.inverseSlot, let context
    else { return nil }
    try checkTracked(slot, other: registered(id))
    guard case .toOne = context.model.destination(of: relationship).properties[inverse].kind else {
      return try context.object(with: id)
    }
    let destination = try context.objectUnlessGone(with: id)
    // A list that was read after the member's row is newer than the row.
    if let destination, try destination.stored(inverse) != .objectID(objectID), isList(slot) {
      return try destination.adoptCurrentRow() == nil ? nil : destination
    }
    return destination
  }

  private func registered(_ id: ManagedObjectID) -> ManagedObject? { context?.registeredObject(for: id) }

  /// Throws while an object of a relationship with an inverse awakes: changes of its side would not be tracked and
  /// saved.
  private func checkTracked(_ slot: Slot, other: ManagedObject?) throws {
    guard state.contains(.awaking) || other?.state.contains(.awaking) == true else { return }
    let hook = context?.extensionRegistry.hookName("awakeFromFetch") ?? ""
    throw refused(
      slot, value: nil,
      reason:
        "a relationship with an inverse cannot be set in \(hook), where changes are not tracked: its other side alone would be saved; set it when the object is awake"
    )
  }

  /// Throws if an object belongs to another context, or to none.
  package final func checkContext(_ object: ManagedObject?) throws {
    guard let object, object.context !== context else { return }
    guard context != nil else { throw detachedError }
    guard object.context != nil else { throw object.detachedError }
    throw invalid("cannot point at \(object.objectID) of another context: pass its ID to object(with:) here")
  }
}

extension ManagedObject {
  /// The name of a relationship of a new object that has a destination.
  package final var nameOfRelationshipThatWasSet: String? {
    let toOne = entity.toOneSlots.first { !(current($0) ?? .null).isNull }
    let slot = toOne ?? relationships.first { $0.value.hasChanges }?.key
    return slot.map { entity.properties[$0].name }
  }
}
