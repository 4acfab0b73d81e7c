public import MoonbaseModel
import MoonbasePlatform

/// The values that predicates and sort keys read. Every key uses the accessor of a subclass.
///
/// Predicates in memory see the same values as a store: not-a-number and damaged values count as null.
extension ManagedObject: KeyPathAnswering, SlottedSubject {
  /// Keys may refer to objects of any class.
  public typealias Related = ManagedObject

  /// The object's ID.
  public final var predicateValue: Value { .objectID(objectID) }

  /// Identifies a state of the object for cached results, which are valid until its context changes.
  ///
  /// Nil while a getter runs, whose reads have to be recorded.
  @usableFromInline
  package final var predicateState: SubjectState? {
    guard let context, !context.derivations.isRecording else { return nil }
    return SubjectState(id: objectID, context: context, changes: context.changeCount)
  }

  /// The value or the objects under a key. Throws for an unknown key, and if the store cannot be read.
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

  /// The value that a predicate sees in a slot. Fires a fault. Throws the errors of accessors.
  @usableFromInline
  package final func predicateValue(slot: Slot) throws -> Value {
    if state.contains(.fault) { try fireFault() }
    let value = !hasLiveValues || state.contains(.listed) ? try value(at: slot) : try savedValue(at: slot)
    // A computed not-a-number counts as null, as it does in a store.
    if case .double(let number) = value, number.isNaN { return .null }
    return value
  }

  /// The value in the row: values that awake-from-fetch set are no changes, and a store does not see them. Transient
  /// values stay.
  @inline(never)
  private func savedValue(at slot: Slot) throws -> Value {
    guard !state.contains(.awaking), !changed.isEmpty else { return try value(at: slot) }
    return try asSaved { try value(at: slot) }
  }

  /// The destination; nil if it no longer exists. Throws errors of the store.
  @usableFromInline
  package final func predicateDestination(slot: Slot) throws -> ManagedObject? {
    guard case .objectID(let id) = try predicateValue(slot: slot) else { return nil }
    return try context?.objectIfPresent(with: id)
  }

  /// The destinations that a predicate sees, without those that no longer exist. Reads the relationship if necessary.
  @usableFromInline
  package final func predicateDestinations(slot: Slot) throws -> [ManagedObject] {
    guard let context else { throw detachedError }
    return try memberIDs(slot).compactMap { id in
      try HostWork.charge()
      return try context.objectIfPresent(with: id)
    }
  }
}
