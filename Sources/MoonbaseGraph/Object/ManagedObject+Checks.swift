package import MoonbaseModel
import MoonbasePlatform

extension ManagedObject {
  /// The combined hooks, rules and slot kinds of the object's entity. Throws if the object has no context. Behaviors
  /// are kept by the context until extensions change, so the call is cheap.
  final func behavior() throws -> EntityBehavior {
    guard let context else { throw detachedError }
    context.checkConfinement(of: self)
    return try context.behavior(of: entity)
  }

  /// Whether reads and checked assignments of a slot may use the stored value directly.
  ///
  /// True only if neither accessors, transformers nor derivations concern the slot, and the context knows this. The
  /// test is one bit, because every typed access makes it.
  @inline(__always)
  final func isSimple(_ slot: Slot) -> Bool {
    table._withUnsafeGuaranteedRef { table in
      // Without a context no slot is simple.
      guard slot < 64, table.simpleSlots & (1 << UInt64(slot)) != 0, let context = table.contextReference else {
        return false
      }
      return context._withUnsafeGuaranteedRef { $0.knowsSimpleSlots }
    }
  }

  /// The value converted to its attribute's type. Throws an error that names the attribute.
  ///
  /// The usual pairs of type and value take a short path without the description of the attribute. The code of the
  /// error is `.invalidValue`.
  final func checked(_ value: Value, slot: Slot) throws -> Value {
    let type = table._withUnsafeGuaranteedRef { table in
      slot < table.properties.count
        ? table.properties[slot].attributeType : table.entity.property(at: slot).attributeType
    }
    switch (type, value) {
    case (nil, _), (_, .null), (.string, .string), (.integer64, .int), (.boolean, .bool),
      (.binaryData, .data), (.uuid, .uuid), (.uri, .uri):
      return value
    case (.date, .date(let date)) where !date.timeIntervalSinceReferenceDate.isNaN: return value
    case (.double, .double(let number)) where !number.isNaN: return value
    default: break
    }
    guard let attribute = entity.property(at: slot).attribute else { return value }
    do {
      return try attribute.checked(value)
    } catch {
      throw refused(slot, value: value, reason: error.message)
    }
  }

  /// Throws if the object is deleted. A deleted object may still be changed while it awakes. The error is
  /// `.invalidObject`.
  final func checkMutable() throws {
    guard !isDeleted || state.contains(.awaking) else { throw invalid("is deleted and cannot be changed") }
  }

  /// Throws for an attribute that the store derives.
  ///
  /// Concerns attributes with a derivation expression in the model. The error is `.invalidValue`.
  final func checkAssignable(_ slot: Slot, value: Value) throws {
    let property = entity.property(at: slot)
    guard property.isDerived, let derivation = property.attribute?.derivationExpression else { return }
    throw refused(slot, value: value, reason: "is derived from \(derivation) by the store and cannot be assigned")
  }

  /// The value itself if it is of the attribute's class, else the value that the class makes from a text, a list or a
  /// map.
  ///
  /// Throws if the class neither contains the value nor can convert it.
  ///
  /// The error is `.invalidValue` and names the class. Errors of the class's functions name the extension.
  final func valueOfClass(_ value: Value, slot: Slot, behavior: EntityBehavior) throws -> Value {
    guard !value.isNull, let valueClass = behavior.valueClasses[slot] else { return value }
    func belongs(_ value: Value) throws -> Bool {
      try blaming(slot, hook: "is") { try valueClass.contains(value) }
    }
    if try belongs(value) { return value }
    guard let (name, made) = try made(of: value, by: valueClass, slot: slot) else {
      throw refused(
        slot, value: value,
        reason:
          "its values are of class \(valueClass.name), not \(value.typeDescription)\(value.inParentheses)"
          + valueClass.advice(for: value))
    }
    if try belongs(made) { return made }
    throw refused(
      slot, value: value,
      reason: "\(name) of class \(valueClass.name) gave \(made.typePhrase), and no value of the class")
  }

  /// Converts a value by the class's function for its kind; nil if the class lacks such a function.
  ///
  /// A text goes to `parse`, a list or map to `from_tree`. An `.invalidValue` error of the function refuses the value.
  private func made(
    of value: Value, by valueClass: ValueClass, slot: Slot
  ) throws -> (function: String, value: Value)? {
    guard let (name, make) = valueClass.conversion(of: value) else { return nil }
    return try blaming(slot, hook: name) {
      do { return (name, try make()) } catch let error as any CodedError where error.code == .invalidValue {
        // The value is wrong, and not the class.
        throw refused(slot, value: value, reason: "\(error)")
      }
    }
  }

  /// The error for using an object that has left its context. The code is `.invalidObject`; the message names the cause
  /// and the remedy.
  package final var detachedError: GraphError {
    switch departure {
    case .contextGone: invalid("was used after its context was gone: keep the context as long as its objects")
    case .closed: invalid("was used after its context was closed: take it from a context that is open")
    case .reset: invalid("was used after its context was reset: fetch it again")
    case .deleted where objectID.isTemporaryID: invalid("was used after it was deleted; it was never saved")
    case .deleted: invalid("was used after its deletion was saved")
    case .rolledBack: invalid("was used after its insertion was rolled back")
    case .replaced: invalid("was made for an ID before that had a row: fetch it again")
    }
  }

  /// Runs an accessor that cannot throw: the context keeps its error, and the next save throws it. Without a context
  /// the error is dropped.
  final func keepingErrors<Result>(or fallback: Result, _ body: () throws -> Result) -> Result {
    do {
      return try body()
    } catch {
      context?.keep(error)
      return fallback
    }
  }

  /// The error for a value that a property cannot take. `reason` is a clause without a subject, for example "it is no
  /// to-one relationship".
  final func refused(
    _ slot: Slot, value: Value?, reason: String, as code: GraphError.Code = .invalidValue
  ) -> GraphError {
    let name = entity.property(at: slot).name
    var error = GraphError(
      code, message: "\(entity.name).\(name): \(reason)", entity: entity.name, property: name, objectID: objectID,
      value: value)
    error.reason = reason
    return error
  }

  /// The error for an object that cannot be used in some way. `reason` is a predicate after the object's name, for
  /// example "was used after its deletion was saved".
  package final func invalid(_ reason: String) -> GraphError {
    GraphError(.invalidObject, message: "\(entity.name) \(objectID) \(reason)", entity: entity.name, objectID: objectID)
  }

  /// The slot of a to-one relationship. Throws for any other property. The error is `.unknownName` for an unknown key.
  final func toOneSlot(_ key: String) throws -> Int {
    let slot = try slot(of: key)
    guard case .toOne = entity.properties[slot].kind else {
      throw refused(slot, value: nil, reason: "it is no to-one relationship")
    }
    return slot
  }

  /// The slot of a to-many relationship. Throws for any other property. The error is `.unknownName` for an unknown key.
  final func toManySlot(_ key: String) throws -> Int {
    let slot = try slot(of: key)
    guard case .toMany = entity.properties[slot].kind else {
      throw refused(slot, value: nil, reason: "it is no to-many relationship")
    }
    return slot
  }
}

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
    if id.isTemporaryID { context.registeredObject(for: id)?.waitForPermanentID() }
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
