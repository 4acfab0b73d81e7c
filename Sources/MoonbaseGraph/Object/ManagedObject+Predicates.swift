public import MoonbaseModel
import MoonbasePlatform

/// What predicates and sort keys ask of an object. Every key goes through a subclass's own accessor.
extension ManagedObject: KeyPathAnswering, SlottedSubject {
  /// Keys lead to objects of any class.
  public typealias Related = ManagedObject

  /// The object's ID.
  public final var predicateValue: Value { .objectID(objectID) }

  /// What is told of the object holds until anything of its context changes. A getter that runs is to read for itself.
  @usableFromInline
  package final var predicateState: SubjectState? {
    guard let context, !context.derivations.isRecording else { return nil }
    return SubjectState(id: objectID, context: context, changes: context.changeCount)
  }

  /// The value or the objects under a key. Throws for an unknown key and for a store that cannot be read.
  public final func predicateAnswer(forKey key: String) throws -> PredicateAnswer<ManagedObject> {
    guard let slot = entity.slot(key) else {
      if key == "objectID" { return .value(predicateValue) }
      throw GraphError.unknownProperty(key, of: entity, id: objectID)
    }
    switch entity.property(at: slot).kind {
    case .attribute: return .value(try predicateValue(slot: slot))
    case .toOne: return .object(try predicateDestination(slot: slot))
    case .toMany: return .objects(try predicateDestinations(slot: slot))
    }
  }

  @usableFromInline
  package final func predicateValue(slot: Slot) throws -> Value {
    if state.contains(.fault) { try fireFault() }
    let value = !hasLiveValues || state.contains(.listed) ? try value(at: slot) : try savedValue(at: slot)
    // Not-a-number may be computed. No store has it: it counts as a missing value, as where a store computes it.
    if case .double(let number) = value, number.isNaN { return .null }
    return value
  }

  /// What awake-from-fetch set is no change: a predicate sees the row, as it does where a store evaluates it.
  @inline(never)
  private func savedValue(at slot: Slot) throws -> Value {
    guard !state.contains(.awaking), !changed.isEmpty else { return try value(at: slot) }
    return try asSaved { try value(at: slot) }
  }

  /// A destination that is gone counts as none.
  @usableFromInline
  package final func predicateDestination(slot: Slot) throws -> ManagedObject? {
    guard case .objectID(let id) = try predicateValue(slot: slot) else { return nil }
    return try context?.objectIfPresent(with: id)
  }

  @usableFromInline
  package final func predicateDestinations(slot: Slot) throws -> [ManagedObject] {
    guard let context else { throw goneError }
    return try memberIDs(slot).compactMap { id in
      try HostWork.charge()
      return try context.objectIfPresent(with: id)
    }
  }
}
