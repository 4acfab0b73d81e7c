public import MoonbaseModel

extension ManagedObject {
  /// The destination of a to-one relationship.
  public final func object(forKey key: String) throws -> ManagedObject? {
    let slot = try toOneSlot(key)
    guard case .objectID(let id) = try value(at: slot) else { return nil }
    return try context?.object(with: id)
  }

  /// Sets the destination of a to-one relationship; the inverse follows at once.
  public final func setObject(_ object: ManagedObject?, forKey key: String) throws {
    let slot = try toOneSlot(key)
    try checkContext(object)
    try setValue(object.map { .objectID($0.objectID) } ?? .null, at: slot)
  }

  /// The destinations of a to-many relationship; in order where it is ordered.
  public final func objects(forKey key: String) throws -> [ManagedObject] {
    let slot = try toManySlot(key)
    guard let context else { throw invalid("was used after its context was gone") }
    return try memberIDs(slot).map { try context.object(with: $0) }
  }

  /// The IDs of the destinations of a relationship, without making objects of them.
  public final func objectIDs(forRelationshipNamed key: String) throws -> [ManagedObjectID] {
    let slot = try slot(of: key)
    switch entity.properties[slot].kind {
    case .toMany: return try memberIDs(slot)
    case .toOne: if case .objectID(let id) = try stored(slot) { return [id] } else { return [] }
    case .attribute: throw refused(slot, nil, "it is an attribute, not a relationship")
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
    try setMembers(objects.map(\.objectID), slot)
  }

  /// Adds a destination to a to-many relationship; the inverse follows at once.
  public final func add(_ object: ManagedObject, to key: String) throws {
    let slot = try toManySlot(key)
    try checkContext(object)
    try addMember(object.objectID, slot)
  }

  /// Removes a destination from a to-many relationship; the inverse follows at once.
  public final func remove(_ object: ManagedObject, from key: String) throws {
    let slot = try toManySlot(key)
    try removeMember(object.objectID, slot)
  }

  // MARK: By slot

  /// Whether a to-many relationship without a state has no destinations, so that there is nothing to read.
  private var startsEmpty: Bool { !state.isDisjoint(with: [.inserted, .born]) || objectID.isTemporaryID }

  final func toManyState(_ slot: Int) -> ToManyState {
    if let known = relationships[slot] { return known }
    let isOrdered = entity.properties[slot].relationship?.isOrdered ?? false
    let new = ToManyState(isOrdered: isOrdered, isLoaded: startsEmpty)
    relationships[slot] = new
    return new
  }

  /// The destinations of a to-many relationship; reads them at the first access.
  package final func memberIDs(_ slot: Int) throws -> [ManagedObjectID] {
    let state = toManyState(slot)
    if !state.isLoaded {
      guard let context else { throw invalid("was used after its context was gone") }
      state.load(try context.storedDestinations(of: self, slot))
    }
    return Array(state.members)
  }

  /// How many destinations a to-many relationship has.
  package final func memberCount(_ slot: Int) throws -> Int {
    let state = toManyState(slot)
    return state.isLoaded ? state.members.count : try memberIDs(slot).count
  }

  package final func addMember(_ id: ManagedObjectID, _ slot: Int) throws {
    try checkDestination(id, slot)
    guard !isDeleted else { throw invalid("is deleted and cannot be changed") }
    guard let relationship = entity.properties[slot].relationship, toManyState(slot).add(id) else { return }
    didChange(slot)
    guard let inverse = relationship.inverseSlot, let context else { return }
    try context.object(with: id).attach(objectID, inverse)
  }

  package final func removeMember(_ id: ManagedObjectID, _ slot: Int) throws {
    let state = toManyState(slot)
    if !state.isLoaded { _ = try memberIDs(slot) }
    guard let relationship = entity.properties[slot].relationship, state.remove(id) else { return }
    didChange(slot)
    guard let inverse = relationship.inverseSlot, let context else { return }
    try context.object(with: id).detach(objectID, inverse)
  }

  package final func setMembers(_ ids: [ManagedObjectID], _ slot: Int) throws {
    for id in ids { try checkDestination(id, slot) }
    let wanted = Set(ids)
    let current = try memberIDs(slot)
    for id in current where !wanted.contains(id) { try removeMember(id, slot) }
    for id in ids { try addMember(id, slot) }
    if entity.properties[slot].relationship?.isOrdered == true, try memberIDs(slot) != ids {
      toManyState(slot).reorder(ids)
      didChange(slot)
    }
  }

  final func setDestination(_ new: ManagedObjectID?, _ slot: Int, _ relationship: ResolvedRelationship) throws {
    if let new { try checkDestination(new, slot) }
    let old: ManagedObjectID? = if case .objectID(let id) = try stored(slot) { id } else { nil }
    guard old != new else { return }
    try store(new.map(Value.objectID) ?? .null, slot)
    guard let inverse = relationship.inverseSlot, let context else { return }
    if let old { try context.objectIfPresent(with: old)?.detach(objectID, inverse) }
    if let new { try context.object(with: new).attach(objectID, inverse) }
  }

  /// The other side of a relationship now points here: take it in without telling it again.
  final func attach(_ id: ManagedObjectID, _ slot: Int) throws {
    guard case .toOne(let relationship) = entity.properties[slot].kind else {
      if toManyState(slot).add(id) { didChange(slot) }
      return
    }
    if case .objectID(let previous) = try stored(slot), previous != id, let inverse = relationship.inverseSlot {
      try context?.objectIfPresent(with: previous)?.detach(objectID, inverse)
    }
    try store(.objectID(id), slot)
  }

  /// The other side of a relationship no longer points here.
  final func detach(_ id: ManagedObjectID, _ slot: Int) throws {
    guard case .toOne = entity.properties[slot].kind else {
      if toManyState(slot).remove(id) { didChange(slot) }
      return
    }
    if try stored(slot) == .objectID(id) { try store(.null, slot) }
  }

  // MARK: Checks

  final func destination(of value: Value, _ slot: Int) throws -> ManagedObjectID? {
    switch value {
    case .null: return nil
    case .objectID(let id): return id
    default: throw refused(slot, value, "a relationship takes an object, not \(value.typeDescription)")
    }
  }

  final func destinations(of value: Value, _ slot: Int) throws -> [ManagedObjectID] {
    switch value {
    case .null: return []
    case .list(let list): return try list.compactMap { try destination(of: $0, slot) }
    default: throw refused(slot, value, "a to-many relationship takes a list of objects, not \(value.typeDescription)")
    }
  }

  private func checkDestination(_ id: ManagedObjectID, _ slot: Int) throws {
    guard let context, let relationship = entity.properties[slot].relationship else { return }
    let wanted = context.model.entities[relationship.destination]
    guard let entity = context.model.entity(of: id), entity.isKind(of: wanted) else {
      throw refused(slot, .objectID(id), "its destination is \(wanted.name), not \(id.entityName)")
    }
  }

  private func checkContext(_ object: ManagedObject?) throws {
    guard let object, object.context !== context else { return }
    throw invalid("cannot point at \(object.objectID) of another context: pass its ID to object(with:) here")
  }

  private func toOneSlot(_ key: String) throws -> Int {
    let slot = try slot(of: key)
    guard case .toOne = entity.properties[slot].kind else { throw refused(slot, nil, "it is no to-one relationship") }
    return slot
  }

  private func toManySlot(_ key: String) throws -> Int {
    let slot = try slot(of: key)
    guard case .toMany = entity.properties[slot].kind else { throw refused(slot, nil, "it is no to-many relationship") }
    return slot
  }
}
