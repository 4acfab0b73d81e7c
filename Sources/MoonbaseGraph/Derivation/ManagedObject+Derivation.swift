import MoonbaseModel

/// What a derived value was computed from, noted while its getter runs.
extension ManagedObject {
  /// Relationships lead to the same objects by other IDs.
  final func outdateTemporaryDestinations() {
    guard let context, context.derivations.isWatching || isWatched else { return }
    for slot in entity.toOneSlots {
      if case .objectID(let id) = current(slot), id.isTemporaryID { outdate(slot, because: .identity) }
    }
    for (slot, known) in relationships where known.added.contains(where: \.isTemporaryID) {
      outdate(slot, because: .identity)
    }
  }

  /// A value that was made of others.
  struct Cached {
    var value: Value
    /// What a derived value was computed from; nil for what a transformer made of the bytes in the slot.
    var reads: Readings? { didSet { holdsUnasked = Self.holdsUnasked(reads) } }
    /// Whether it is a derived value that holds until somebody says otherwise.
    private(set) var holdsUnasked: Bool

    init(value: Value, reads: Readings? = nil) {
      (self.value, self.reads, holdsUnasked) = (value, reads, Self.holdsUnasked(reads))
    }

    private static func holdsUnasked(_ reads: Readings?) -> Bool {
      reads.map { $0.changeCount == nil && !$0.isStored } ?? false
    }
  }

  /// What a derived value was computed from, and with what it holds.
  struct Readings {
    /// Facets of the same object, by their numbers.
    var own: SlotSet
    /// Whether the value is in the row: it was computed from these when it was put there.
    var isStored = false
    /// Whether the value was assigned, and a transformer made the shadow's value of it. Such a value does not depend on
    /// the object's ID.
    var isAssigned = false
    /// As whom the facets of other objects know it; nil where it read none.
    var dependent: Derivations.Dependent?
    /// Where anything may change the value: the context's count of changes.
    var changeCount: UInt64?
    /// With which inputs of a save it was computed (`Derivations.inputsNumber`).
    var inputsNumber: UInt32 = 0

    /// A value that was set holds until the object changes.
    static func all(of entity: ResolvedEntity) -> Readings {
      Readings(own: SlotSet(entity.allProperties.map { Facet($0.slot).number }))
    }
  }

  // MARK: Reading

  /// A getter that runs has read a slot.
  @inline(__always)
  final func noteRead(_ slot: Slot) { noteRead(Facet(slot)) }

  @inline(__always)
  final func noteRead(_ facet: Facet) {
    if let context, context.derivations.isRecording { context.derivations.note(facet, of: self) }
  }

  /// Computes a value and notes what it is made from; nil in place of that where it does not hold already. One that needs
  /// itself, also by way of others, is an error that names the circle.
  final func computing(
    _ slot: Slot, of derived: DerivedSlot, isStored: Bool = false, _ body: () throws -> Value
  ) throws -> (value: Value, reads: Readings?) {
    guard let context else { return (try body(), nil) }
    if !context.derivations.computations.isEmpty {
      try context.checkCircle(of: self, slot)
      try context.checkDepth(of: self, slot)
    }
    return try context.computingDeepOnes(behind: self, slot) {
      try computingAlone(slot, of: derived, in: context, isStored: isStored, body)
    }
  }

  /// Throws where a getter reads the stored attribute that it computes, also by way of other attributes. The value
  /// would change at each save.
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
    var computation = Computation(of: self, slot: slot, changeCount: context.changeCount)
    if let facets = derived.ownFacets { computation.note(facets, of: self) }
    context.derivations.begin(computation)
    let value: Value
    do {
      value = try body()
      // A getter may have caught the error that leads out of the chain.
      if let error = context.derivations.deep.error { throw error }
    } catch {
      context.derivations.fail()
      throw error
    }
    return (value, context.readings(of: context.derivations.end(), isStored: isStored))
  }

  /// Whether something was read that is not in the object's own row.
  private func isBeyondRow(_ reads: Readings) -> Bool {
    reads.dependent != nil || reads.changeCount != nil
      || entity.toManySlots.contains { reads.own.contains(Facet($0).number) }
  }

  /// Whether a value that was computed holds. A getter that runs and reads it depends on what it was computed from.
  final func holds(_ reads: Readings) -> Bool {
    guard let context else { return true }
    if let changeCount = reads.changeCount, changeCount != context.changeCount { return false }
    // The rows that it was computed from are not noted: a save that needs the value computes it anew.
    if context.derivations.isNotingInputs, isBeyondRow(reads), reads.inputsNumber != context.derivations.inputsNumber {
      return false
    }
    if context.derivations.isRecording {
      if reads.changeCount != nil { context.derivations.noteOpen() }
      context.derivations.note(reads.own, of: self)
    }
    return true
  }

  // MARK: Changing

  /// The value in a slot is another one; of a to-many relationship perhaps only whether `member` is in it. Where that is no unsaved
  /// change of the object, stored values are left as they are.
  @inline(__always)
  final func outdate(_ slot: Slot, because cause: Derivations.Cause = .change, member: ManagedObjectID? = nil) {
    outdate(Facet(slot), because: cause, member: member)
  }

  @inline(__always)
  final func outdate(_ facet: Facet, because cause: Derivations.Cause = .change, member: ManagedObjectID? = nil) {
    guard let context, context.derivations.isWatching || isWatched else { return }
    context.outdate(self, facet, because: cause, member: member)
  }

  /// All of the object may be another one.
  final func outdateAll(because cause: Derivations.Cause = .row) {
    guard let context, context.derivations.isWatching || isWatched else { return }
    context.outdateAll(self, because: cause)
  }

  /// What is in the slots, where anything may have been computed from it.
  final var watchedValues: ContiguousArray<Value>? {
    guard let context, context.derivations.isWatching || isWatched else { return nil }
    return currentValues ?? []
  }

  /// The values in the slots are others than they were.
  final func outdateDifferences(from former: ContiguousArray<Value>?, because cause: Derivations.Cause) {
    guard let former, let now = watchedValues else { return }
    guard former.count == now.count else { return outdateAll(because: cause) }
    for slot in now.indices where !now[slot].isSame(as: former[slot]) { outdate(slot, because: cause) }
  }

  /// Slots whose values were made from a facet of the object.
  final func slotsComputed(from facet: Facet, because cause: Derivations.Cause) -> SlotSet {
    guard let record = record.map(Unmanaged.passUnretained) else { return SlotSet() }
    return record._withUnsafeGuaranteedRef { record in
      record.caches.slots { slot, cached in
        guard let reads = cached.pointee.reads else { return cause != .identity && facet.slot == slot }
        return reads.own.contains(facet.number) && !(cause == .identity && (reads.isStored || reads.isAssigned))
      }
    }
  }

  /// Forgets the object's own values that were computed from a facet, and the values that were computed from these.
  final func forgetOwnComputed(from facet: Facet, because cause: Derivations.Cause) {
    slotsComputed(from: facet, because: cause).forEach { slot in
      if forgetComputed(slot, because: cause) { forgetOwnComputed(from: Facet(slot), because: cause) }
    }
  }

  /// Forgets a value that was made of others; false where it is still the value, for it is in the row.
  final func forgetComputed(_ slot: Slot, because cause: Derivations.Cause) -> Bool {
    guard let cached = caches[slot] else { return false }
    cache(nil, slot: slot)
    guard cached.reads?.isStored == true else { return true }
    if cause == .change { context?.outdatedStored.append(StoredPlace(object: self, slot: slot)) }
    return false
  }
}

/// A stored derived attribute of an object.
struct StoredPlace {
  let object: ManagedObject
  let slot: Slot
}

extension ManagedObjectContext {
  /// Throws where the value is being computed already.
  func checkCircle(of object: ManagedObject, _ slot: Slot) throws {
    let computations = derivations.computations
    guard let start = computations.firstIndex(where: { $0.object === object && $0.slot == slot }) else { return }
    let circle = computations[start...].map(\.name)
    throw object.failure(
      "needs itself: \(Self.way(circle)) -> \(circle[0])", property: object.entity.property(at: slot).name)
  }

  static func way(_ names: [String]) -> String {
    (names.count > 8 ? names.prefix(8) + ["…"] : names[...]).joined(separator: " -> ")
  }
}
