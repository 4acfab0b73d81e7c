package import MoonbaseModel

/// Checks of objects that are to be destinations of relationships.
extension ManagedObject {
  /// The ID in a value for a to-one relationship; nil for null. Throws for another kind of value.
  final func destination(of value: Value, slot: Slot) throws -> ManagedObjectID? {
    switch value {
    case .null: return nil
    case .objectID(let id): return try context?.known([id])[0] ?? id
    default: throw refused(slot, value: value, reason: "a relationship takes an object, not \(value.typeDescription)")
    }
  }

  /// The IDs in a value for a to-many relationship. Throws for another kind of value.
  final func destinations(of value: Value, slot: Slot) throws -> [ManagedObjectID] {
    switch value {
    case .null: return []
    case .list(let list):
      let ids: [ManagedObjectID] = try list.compactMap { element in
        if case .objectID(let id) = element { return id }
        return try destination(of: element, slot: slot)
      }
      return try context?.known(ids) ?? ids
    case .objectID:
      throw refused(slot, value: value, reason: "a to-many relationship takes a list of objects, not a single object")
    default:
      throw refused(
        slot, value: value, reason: "a to-many relationship takes a list of objects, not \(value.typeDescription)")
    }
  }

  /// Throws unless an object may be a destination: right entity, same context, same store, not deleted.
  package final func checkDestination(_ id: ManagedObjectID, slot: Slot) throws {
    guard let context else { throw detachedError }
    guard let relationship = entity.properties[slot].relationship else { return }
    // An object in a pending save gets its permanent ID first.
    if id.isTemporaryID { context.registeredObject(for: id)?.settleID() }
    let wanted = context.model.destination(of: relationship)
    guard let entity = context.model.entity(of: id), entity.isKind(of: wanted) else {
      throw refused(slot, value: .objectID(id), reason: "its destination is \(wanted.name), not \(id.entityName)")
    }
    let known = context.registeredObject(for: id)
    // The store of an object that was read is open.
    if !id.isTemporaryID, known?.isFault ?? true { try checkStore(of: id, slot: slot, in: context) }
    if let known {
      // A deleted object may stay a destination until delete rules are applied.
      if known.isDeleted, try !has(id, slot: slot) {
        throw refused(slot, value: .objectID(id), reason: "\(id) is deleted and cannot be its destination")
      }
    } else if id.isTemporaryID {
      throw context.unknownTemporaryID(id)
    }
    let isStored = !relationship.description.isTransient
    if isStored, let own = storeNumber(of: objectID, entity: self.entity, in: context),
      let other = storeNumber(of: id, entity: entity, in: context), own != other
    {
      throw crossesStores(to: id, slot: slot, stores: (own, other))
    }
  }

  /// Throws for an ID of a store of another coordinator.
  private func checkStore(of id: ManagedObjectID, slot: Slot, in context: ManagedObjectContext) throws {
    do { _ = try context.source.store(of: id) } catch let error as GraphError where error.code == .objectNotFound {
      throw refused(slot, value: .objectID(id), reason: error.message, as: .externalRelationship)
    }
  }

  /// The error for a destination in another store.
  final func crossesStores(to id: ManagedObjectID, slot: Slot, stores: (own: UInt32, other: UInt32)) -> GraphError {
    func name(_ number: UInt32) -> String {
      let store = context?.coordinator.persistentStores.first { StoreNumber($0.identifier).rawValue == number }
      return store?.name ?? "the store \(StoreNumber(rawValue: number).identifier)"
    }
    return refused(
      slot, value: .objectID(id),
      reason:
        "the object is in \(name(stores.own)) and \(id) in \(name(stores.other)): no relationship may cross stores, use a "
        + "fetched property",
      as: .externalRelationship)
  }

  private func has(_ id: ManagedObjectID, slot: Slot) throws -> Bool {
    if case .toMany = entity.properties[slot].kind { return try hasMember(id, slot: slot) }
    return try stored(slot) == .objectID(id)
  }

  /// The store that contains an object or will contain it; nil if there is only one store, or none takes the entity.
  private func storeNumber(of id: ManagedObjectID, entity: ResolvedEntity, in context: ManagedObjectContext) -> UInt32?
  {
    if !id.isTemporaryID { return id.storeNumber }
    guard context.source.hasSeveralStores else { return nil }
    // If no store takes new objects of the entity, the save reports it.
    let store = context.source.stores(holding: entity).first { !$0.isReadOnly }
    return store.map { StoreNumber($0.identifier).rawValue }
  }
}
