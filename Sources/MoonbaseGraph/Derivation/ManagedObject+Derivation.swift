import MoonbaseModel

/// Recording the dependencies of derived values while getters run.
extension ManagedObject {
  /// Marks values as outdated that depend on relationships whose destinations are about to get permanent IDs.
  final func outdateTemporaryDestinations() {
    guard let context, context.derivations.isWatching || isWatched else { return }
    for slot in entity.toOneSlots {
      if case .objectID(let id) = current(slot), id.isTemporaryID { outdate(slot, because: .identity) }
    }
    for (slot, known) in relationships where known.added.contains(where: \.isTemporaryID) {
      outdate(slot, because: .identity)
    }
  }

  /// A computed or transformed value that is kept with the object.
  struct Cached {
    var value: Value
    /// The dependencies of a derived value; nil for a value that a transformer made from the row's bytes.
    var reads: Readings? { didSet { isValidUntilInvalidated = Self.isValidUntilInvalidated(reads) } }
    /// Whether this is a derived value that stays valid until an input reports a change.
    private(set) var isValidUntilInvalidated: Bool

    init(value: Value, reads: Readings? = nil) {
      (self.value, self.reads, isValidUntilInvalidated) = (value, reads, Self.isValidUntilInvalidated(reads))
    }

    private static func isValidUntilInvalidated(_ reads: Readings?) -> Bool {
      reads.map { $0.changeCount == nil && !$0.isStored } ?? false
    }
  }

  /// The dependencies of a derived value, and the conditions under which it is valid.
  struct Readings {
    /// The numbers of the facets read from the same object.
    var own: SlotSet
    /// Whether the value is in the row, having been computed when the row was written.
    var isStored = false
    /// Whether the value was assigned and a transformer made the shadow's value from it.
    ///
    /// An assigned value does not depend on the object's ID.
    var isAssigned = false
    /// The entry by which facets of other objects refer to the value; nil if the getter read no other object.
    var dependent: Derivations.Dependent?
    /// The context's count of changes, if any change may affect the value; else nil.
    var changeCount: UInt64?
    /// The number of the save whose inputs were recorded with the computation (`Derivations.inputsNumber`).
    var inputsNumber: UInt32 = 0

    /// The dependencies of an assigned value: any change of the object.
    static func all(of entity: ResolvedEntity) -> Readings {
      Readings(own: SlotSet(entity.allProperties.map { Facet($0.slot).number }))
    }
  }

  // MARK: Reading

  /// Records that the running getter has read a slot.
  @inline(__always)
  final func noteRead(_ slot: Slot) { noteRead(Facet(slot)) }

  /// Records that the running getter has read a facet.
  @inline(__always)
  final func noteRead(_ facet: Facet) {
    if let context, context.derivations.isRecording { context.derivations.note(facet, of: self) }
  }

  /// Computes a value and records its dependencies; `reads` is nil if the value is already outdated.
  ///
  /// Throws for a value that depends on itself, also by way of other values; the error names the cycle.
  final func computing(
    _ slot: Slot, of derived: DerivedSlot, isStored: Bool = false, _ body: () throws -> Value
  ) throws -> (value: Value, reads: Readings?) {
    guard let context else { return (try body(), nil) }
    if !context.derivations.computations.isEmpty {
      try context.checkCircle(of: self, slot)
      try context.checkDepth(of: self, slot)
    }
    return try context.computingLongChains(behind: self, slot) {
      try computingAlone(slot, of: derived, in: context, isStored: isStored, body)
    }
  }

  /// Throws if a getter reads the stored attribute that it computes, also by way of other attributes.
  ///
  /// The value would change at each save.
  @inline(__always)
  final func checkIsNotComputed(_ slot: Slot, _ behavior: EntityBehavior) throws {
    if isComputed(slot, behavior) { try context?.checkCircle(of: self, slot) }
  }

  /// Whether a stored attribute is being computed.
  @inline(__always)
  final func isComputed(_ slot: Slot, _ behavior: EntityBehavior) -> Bool {
    guard let context, context.derivations.isRecording, behavior.stored(slot) != nil else { return false }
    return context.derivations.computations.contains { $0.object === self && $0.slot == slot }
  }

  private func computingAlone(
    _ slot: Slot, of derived: DerivedSlot, in context: ManagedObjectContext, isStored: Bool,
    _ body: () throws -> Value
  ) throws -> (value: Value, reads: Readings?) {
    var computation = Computation(of: self, slot: slot, changeCount: context.counters.changeCount)
    if let facets = derived.ownFacets { computation.note(facets, of: self) }
    context.derivations.begin(computation)
    let value: Value
    do {
      value = try body()
      // A getter may have caught the error that unwinds the chain.
      if let error = context.derivations.deep.error { throw error }
    } catch {
      context.derivations.fail()
      throw error
    }
    return (value, context.readings(of: context.derivations.end(), isStored: isStored))
  }

  /// Whether the getter read anything outside the object's own row.
  private func isBeyondRow(_ reads: Readings) -> Bool {
    reads.dependent != nil || reads.changeCount != nil
      || entity.toManySlots.contains { reads.own.contains(Facet($0).number) }
  }

  /// Whether a computed value is still valid. If so, a running getter inherits its dependencies.
  final func holds(_ reads: Readings) -> Bool {
    guard let context else { return true }
    if let changeCount = reads.changeCount, changeCount != context.counters.changeCount { return false }
    // The versions of its input rows are not recorded, so a save that needs the value computes it again.
    if context.derivations.isNotingInputs, isBeyondRow(reads), reads.inputsNumber != context.derivations.inputsNumber {
      return false
    }
    if context.derivations.isRecording {
      if reads.changeCount != nil { context.derivations.recordUntrackedDependency() }
      context.derivations.note(reads.own, of: self)
    }
    return true
  }

  // MARK: Changing

  /// Reports that the value in a slot changed, or that `member` was added to or removed from a to-many relationship.
  ///
  /// Stored values become outdated only if the cause is an unsaved change.
  @inline(__always)
  final func outdate(_ slot: Slot, because cause: Derivations.Cause = .change, member: ManagedObjectID? = nil) {
    outdate(Facet(slot), because: cause, member: member)
  }

  /// Reports that a facet changed.
  @inline(__always)
  final func outdate(_ facet: Facet, because cause: Derivations.Cause = .change, member: ManagedObjectID? = nil) {
    guard let context, context.derivations.isWatching || isWatched else { return }
    context.outdate(self, facet, because: cause, member: member)
  }

  /// Reports that any facet of the object may have changed.
  final func outdateAll(because cause: Derivations.Cause = .row) {
    guard let context, context.derivations.isWatching || isWatched else { return }
    context.outdateAll(self, because: cause)
  }

  /// The current values, if some value may depend on them; else nil.
  final var watchedValues: ContiguousArray<Value>? {
    guard let context, context.derivations.isWatching || isWatched else { return nil }
    return currentValues ?? []
  }

  /// Reports each slot whose value differs from an earlier state.
  final func outdateDifferences(from former: ContiguousArray<Value>?, because cause: Derivations.Cause) {
    guard let former, let now = watchedValues else { return }
    guard former.count == now.count else { return outdateAll(because: cause) }
    for slot in now.indices where !now[slot].isSame(as: former[slot]) { outdate(slot, because: cause) }
  }

  /// The slots whose values were computed from a facet of the object.
  final func slotsComputed(from facet: Facet, because cause: Derivations.Cause) -> SlotSet {
    guard let record = record.map(Unmanaged.passUnretained) else { return SlotSet() }
    return record._withUnsafeGuaranteedRef { record in
      record.caches.slots { slot, cached in
        guard let reads = cached.pointee.reads else { return cause != .identity && facet.slot == slot }
        return reads.own.contains(facet.number) && !(cause == .identity && (reads.isStored || reads.isAssigned))
      }
    }
  }

  /// Drops the object's values that were computed from a facet, and the values that depend on these.
  final func forgetOwnComputed(from facet: Facet, because cause: Derivations.Cause) {
    slotsComputed(from: facet, because: cause).forEach { slot in
      if forgetComputed(slot, because: cause) { forgetOwnComputed(from: Facet(slot), because: cause) }
    }
  }

  /// Drops a computed value; returns false for a stored value, which stays in the row.
  final func forgetComputed(_ slot: Slot, because cause: Derivations.Cause) -> Bool {
    guard let cached = caches[slot] else { return false }
    cache(nil, slot: slot)
    guard cached.reads?.isStored == true else { return true }
    if cause == .change { context?.derivations.stored.outdated.append(StoredPlace(object: self, slot: slot)) }
    return false
  }
}

/// Updating stored derived attributes with the results of the current getters.
extension ManagedObject {
  /// Computes stored derived attributes, all or those named, and returns the names of the attributes that changed.
  ///
  /// The next save writes them. Use this for values that an older getter stored, or that a program without the
  /// extensions changed. Throws the getters' errors, and `.unknownName` for a name that is no stored derived attribute
  /// of the entity.
  @discardableResult
  public final func recomputeStoredAttributes(_ names: [String]? = nil) throws -> [String] {
    guard context != nil else { throw detachedError }
    let behavior = try behavior()
    let slots = try names?.map(storedSlot) ?? behavior.storedSlots.sorted()
    var changed: [String] = []
    for slot in slots {
      guard let derived = behavior.stored(slot) else { continue }
      cache(nil, slot: slot)
      if try keep(derived, in: slot, following: true) { changed.append(derived.name) }
    }
    return changed
  }

  private func storedSlot(_ name: String) throws -> Slot {
    let slot = try slot(of: name)
    if try behavior().stored(slot) != nil { return slot }
    throw GraphError(
      .unknownName, message: "\(entity.name).\(name) is no stored derived attribute: nothing computes it for the store",
      entity: entity.name, property: name, objectID: objectID)
  }
}
