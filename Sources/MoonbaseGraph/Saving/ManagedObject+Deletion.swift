import MoonbaseModel
import MoonbasePlatform
import OrderedCollections

/// Destinations of deleted objects.
extension ManagedObject {
  /// The stored destinations of a relationship. Without any, the objects that point here by the inverse alone. Reads
  /// the relationship if necessary.
  final func destinationIDs(_ slot: Slot) throws -> [ManagedObjectID] {
    if case .toMany = entity.properties[slot].kind { return try memberIDs(slot) }
    if case .objectID(let id) = try stored(slot) { return [id] }
    return try oneSidedPartners(slot).map(\.objectID)
  }

  /// The destinations for which the rule `deny` keeps the object. They still exist, are not deleted and still point
  /// here. Reads the relationship if necessary.
  final func remainingDestinations(_ slot: Slot) throws -> [ManagedObjectID] {
    let inverse = entity.properties[slot].relationship?.inverseSlot
    return try destinationIDs(slot).filter { id in
      guard let other = try context?.objectIfPresent(with: id) else { return false }
      guard let inverse, case .toOne = other.entity.properties[inverse].kind else { return true }
      return try other.stored(inverse) == .objectID(objectID)
    }
  }

  /// Whether a destination still points here: a list may be older than the row of a member that was moved since. The
  /// row of the destination decides.
  final func holds(_ destination: ManagedObject, _ relationship: ResolvedRelationship) throws -> Bool {
    guard relationship.description.isToMany, let inverse = relationship.inverseSlot,
      case .toOne = destination.entity.properties[inverse].kind, !destination.isDeleted
    else { return true }
    return try destination.stored(inverse) == .objectID(objectID)
  }

  /// Removes new objects that will never be saved from a relationship. The removal counts as a change, unless adding
  /// the object did not (in `awakeFromFetch`). Observers of the owner are informed.
  final func release(_ gone: Set<ManagedObjectID>, slot: Slot) throws {
    let ids: [ManagedObjectID]
    if case .toMany = entity.properties[slot].kind {
      ids = relationships[slot]?.added(among: gone) ?? []
    } else if hasLiveValues, case .objectID(let id)? = current(slot), gone.contains(id) {
      ids = [id]
    } else {
      return
    }
    guard !state.contains(.listed) else { return try ids.forEach { try detach($0, slot: slot) } }
    for id in ids {
      if let known = relationships[slot] {
        alter(id, of: known, slot: slot, because: .row) { $0.remove(id) }
      } else {
        put(.null, slot: slot, because: .row)
      }
    }
    context?.noteChange()
  }
}

/// Computing one stored attribute.
extension ManagedObject {
  /// Computes and writes a stored derived attribute, unless its inputs are unchanged; returns whether the value
  /// changed.
  ///
  /// `following` means that an input on the declared path to this attribute changed. If that input is not among the
  /// recorded reads, the list through which it would be read may have been outdated. Throws errors of the function, and
  /// `.missingMandatoryProperty` for a required value that is missing.
  @discardableResult
  final func keep(
    _ derived: DerivedSlot, in slot: Slot, behavior known: EntityBehavior? = nil, following: Bool = false
  ) throws -> Bool {
    guard !isDeleted, let context else { return false }
    if hasCaches, let reads = caches[slot]?.reads, holds(reads),
      !(following || isMarked(slot)) || !wasComputedBefore(reads)
    {
      return false
    }
    let behavior = try known ?? behavior()
    context.derivations.beginStored()
    defer { context.derivations.endStored() }
    // A value of the object's own row is written with that row, whose version is checked.
    if derived.ownFacets == nil { context.noteInput(self, slot) }
    func compute() throws -> (value: Value, reads: Readings?) {
      try computing(slot, of: derived, isStored: true) {
        let computed = try blaming(slot, hook: "get") { try derived.get(self) }
        // Normalized now, because validation would do so and the save would then compute the value again.
        return behavior.normalizes ? try ValueNormalizer(self, behavior).normalized(computed, slot: slot) : computed
      }
    }
    var (value, reads) = try compute()
    if reads?.own.contains(Facet(slot).number) == true {
      // The value depends on another value that depends on it. After discarding that other value, the second attempt
      // throws the error of the circular dependency.
      forgetOwnComputed(from: Facet(slot), because: .row)
      (value, reads) = try compute()
    }
    let isNew = try keep(value, slot: slot, behavior: behavior)
    if reads?.dependent?.isOutdated == true {
      // The circular dependency passes through other objects, whose values are discarded by now.
      cache(nil, slot: slot)
      context.derivations.stored.outdated.append(StoredPlace(object: self, slot: slot))
    } else if var reads {
      // Assigning another value to the attribute also requires a new computation.
      reads.own.insert(Facet(slot).number)
      cache(Cached(value: hasCaches ? caches[slot]?.value ?? .null : .null, reads: reads), slot: slot)
    }
    return isNew
  }

  /// Whether a value was computed before this save, so that its inputs are not recorded. Then the value has to be
  /// computed again to record them.
  private func wasComputedBefore(_ reads: Readings) -> Bool {
    guard let context, context.derivations.inputs != nil else { return false }
    return reads.inputsNumber != context.derivations.inputsNumber
  }

  /// Writes a computed value into the row; returns whether the value changed. Throws for a value with a temporary ID,
  /// and for a missing required value.
  private func keep(_ value: Value, slot: Slot, behavior: EntityBehavior) throws -> Bool {
    guard !value.holdsTemporaryID else { throw refused(slot, value: value, reason: Self.temporaryIDReason) }
    if value.isNull, !entity.properties[slot].isOptional {
      var error = refused(slot, value: nil, reason: "is required, and what computes it gave no value")
      error.code = .missingMandatoryProperty
      throw error
    }
    guard try !read(slot, behavior: behavior).isSame(as: value) else { return false }
    try ValueNormalizer(self, behavior).assign(value, slot: slot)
    return true
  }

  /// The end of the message.
  private static let temporaryIDReason =
    "what computes it gave the ID of an object that has no row yet, which is another one once this is saved: compute it from other "
    + "values, or give nil while the object is new"
}
