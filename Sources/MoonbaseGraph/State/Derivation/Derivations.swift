import MoonbaseModel

/// The dependencies of derived values on other objects, in one context, and the running computations.
///
/// Facets of a value's own object are recorded beside the value. Facets of other objects are recorded here by object
/// ID, as a getter may read a million objects that are not retained. The records retain no objects. Records of dropped
/// values are swept out when the number of records has doubled since the last sweep.
struct Derivations {
  /// The reason why a facet has another value.
  enum Cause {
    /// An unsaved change; stored values that were computed from it become outdated, too.
    case change
    /// A new row. Stored values are not computed again: the writer of the row was responsible for them.
    case row
    /// An object's new ID. Stored values never contain temporary IDs.
    case identity
  }

  /// A derived value as its inputs refer to it. The value is valid while its object keeps this instance beside it.
  final class Dependent {
    fileprivate(set) var id: ManagedObjectID
    let entity: ResolvedEntity
    let slot: Slot
    let isStored: Bool
    /// Whether an input of the value has changed.
    fileprivate(set) var isOutdated = false
    /// Whether the object is gone while other values depend on this value.
    fileprivate(set) var isDetached = false

    fileprivate init(_ done: Computation, isStored: Bool) {
      id = done.object.objectID
      entity = done.object.entity
      slot = done.slot
      self.isStored = isStored
    }

    /// The facet that values computed from this value depend on.
    var place: ObjectFacet { ObjectFacet(id: id, facet: Facet(slot)) }
  }

  /// The records for one object that getters have read.
  private struct Source {
    /// The version of the object's row, if it has a row.
    var version: Int64?
    /// The dependent values by facet number.
    var dependents: SlotMap<[Dependent]> = [:]
  }

  /// An estimate of the bytes of a record.
  private static let noteWeight = 80
  /// The limit of records; above it, new computations record entities instead of objects.
  private static let greatestCount = 1 << 17
  /// The least number of records for a sweep.
  private static let leastSweep = 1 << 10

  /// Stored derived values that the next save computes.
  var stored = StoredDerivationState()

  /// The running computations, each needed by its predecessor.
  private(set) var computations: ContiguousArray<Computation> = []
  /// The separate computation of a chain that became too long.
  var deep = DeepDerivation()
  private var sources: [ManagedObjectID: Source] = [:]
  private var entities: [EntityFacet: [Dependent]] = [:]
  /// The number of records, and the number that was last reported to the context.
  private(set) var count = 0
  private var toldCount = 0
  private var nextSweep = leastSweep

  /// The inputs of the stored values, during a save's preparation and writing.
  private(set) var inputs: SaveInputs?
  /// The number of the last save that recorded inputs; values computed before that save are computed again.
  private(set) var inputsNumber: UInt32 = 0
  /// The nesting depth of running computations of stored values.
  private var storedDepth = 0
  /// Whether each read is recorded as an input of the save.
  private(set) var isNotingInputs = false

  /// Whether a getter is running.
  private(set) var isRecording = false
  /// Whether a change may affect a derived value of another object.
  private(set) var isWatching = false

  /// Whether a derived value is observed that any change may affect.
  var hasOpenObservers = false {
    didSet { setFlags() }
  }

  /// Whether all objects of the context are followed (`ChangeListeners`).
  var hasListeners = false {
    didSet { setFlags() }
  }

  private mutating func setFlags() {
    isRecording = !computations.isEmpty
    isWatching = isRecording || count > 0 || hasOpenObservers || hasListeners
  }

  /// Returns the growth of the records in bytes since the last call.
  mutating func drainGrowth() -> Int {
    defer { toldCount = count }
    return (count - toldCount) * Self.noteWeight
  }
}

// MARK: - Inputs of a save

extension Derivations {
  /// Begins to record the inputs of a save.
  mutating func beginInputs() {
    inputs = SaveInputs()
    inputsNumber &+= 1
    setIsNotingInputs()
  }

  /// Ends the recording of a save's inputs.
  mutating func endInputs() {
    inputs = nil
    setIsNotingInputs()
  }

  /// Marks the beginning of a stored value's computation.
  mutating func beginStored() {
    storedDepth += 1
    setIsNotingInputs()
  }

  /// Marks the end of a stored value's computation.
  mutating func endStored() {
    storedDepth -= 1
    setIsNotingInputs()
  }

  private mutating func setIsNotingInputs() { isNotingInputs = inputs != nil && storedDepth > 0 }

  /// Records an object that a getter reads while a stored value is computed.
  mutating func noteInput(_ id: ManagedObjectID, version: @autoclosure () -> Int64?) {
    if isNotingInputs { inputs?.note(id, version: version()) }
  }

  /// Records an object that is used to find the owners of stored values.
  mutating func noteOwnerInput(_ id: ManagedObjectID, version: @autoclosure () -> Int64?) {
    inputs?.note(id, version: version())
  }

  /// Records a list that a getter reads while a stored value is computed.
  mutating func noteInput(of list: SaveInputs.List, _ contents: @autoclosure () -> ToManyState.Contents) {
    inputs?.note(list, contents())
  }
}

// MARK: - Recording

extension Derivations {
  /// Begins a computation.
  mutating func begin(_ computation: Computation) {
    computations.append(computation)
    setFlags()
  }

  /// Ends the innermost computation. Its open or outdated state also applies to the computation around it.
  mutating func end() -> Computation {
    let done = computations.removeLast()
    setFlags()
    if isRecording, done.isOpen || done.isOutdated {
      let outer = computations.count - 1
      computations[outer].isOpen = computations[outer].isOpen || done.isOpen
      computations[outer].isOutdated = computations[outer].isOutdated || done.isOutdated
    }
    return done
  }

  /// Ends the innermost computation after an error.
  mutating func fail() {
    let failed = computations.removeLast()
    setFlags()
    if isRecording { computations[computations.count - 1].note(readingsOf: failed) }
  }

  /// Records a facet that the innermost computation reads.
  mutating func note(_ facet: Facet, of object: ManagedObject) {
    noteInput(object.objectID, version: object.rowVersion)
    computations[computations.count - 1].note(facet, of: object)
  }

  /// Records several facets that the innermost computation reads.
  mutating func note(_ facets: SlotSet, of object: ManagedObject) {
    computations[computations.count - 1].note(facets, of: object)
  }

  /// Records a facet of an object that may not be in memory.
  mutating func note(_ facet: Facet, of id: ManagedObjectID, entity: ResolvedEntity) {
    noteInput(id, version: nil)
    computations[computations.count - 1].note(facet, of: id, entity: entity, version: nil)
  }

  /// Records that the innermost computation read something that no facet covers.
  mutating func recordUntrackedDependency() {
    if isRecording { computations[computations.count - 1].isOpen = true }
  }

  /// Marks running computations as outdated that have read a facet.
  mutating func outdateComputations(reading place: ObjectFacet, of entity: ResolvedEntity?) {
    for index in computations.indices where computations[index].hasRead(place, entity: entity) {
      computations[index].isOutdated = true
    }
  }
}

// MARK: - Notes

extension Derivations {
  /// Records the dependencies of a value; returns nil if the getter read no other object.
  mutating func note(_ done: Computation, isStored: Bool) -> Dependent? {
    guard !done.others.isEmpty || !done.entities.isEmpty else { return nil }
    var done = done
    if count >= Self.greatestCount { done.summarize() }
    let dependent = Dependent(done, isStored: isStored)
    for (id, reading) in done.others { add(dependent, to: id, reading) }
    for place in done.entities { entities[place, default: []].append(dependent) }
    count += done.entities.count
    setFlags()
    return dependent
  }

  private mutating func add(_ dependent: Dependent, to id: ManagedObjectID, _ reading: Computation.Reading) {
    // Removed and inserted again, so that no list is copied.
    var source = sources.removeValue(forKey: id) ?? Source()
    source.version = source.version ?? reading.version
    for number in reading.facets.slots {
      var list = source.dependents[number] ?? []
      source.dependents[number] = nil
      list.append(dependent)
      source.dependents[number] = list
      count += 1
    }
    sources[id] = source
  }

  /// Removes and returns the values that depend on a facet and are now outdated.
  ///
  /// After a change of an object's ID, stored values stay valid.
  mutating func removeDependents(_ place: ObjectFacet, of entity: ResolvedEntity?, because cause: Cause) -> [Dependent]
  {
    guard count > 0 else { return [] }
    func isSpared(_ value: Dependent) -> Bool { cause == .identity && value.isStored }
    var taken: [Dependent] = []
    if let list = sources[place.id]?.dependents[place.facet.number] {
      let spared = list.filter(isSpared)
      taken = spared.isEmpty ? list : list.filter { !isSpared($0) }
      sources[place.id]?.dependents[place.facet.number] = spared.isEmpty ? nil : spared
      if sources[place.id]?.dependents.isEmpty == true { sources[place.id] = nil }
    }
    if !entities.isEmpty, let entity, let list = entities.removeValue(forKey: EntityFacet(place.facet, of: entity)) {
      let spared = list.filter(isSpared)
      taken += list.filter { !isSpared($0) }
      if !spared.isEmpty { entities[EntityFacet(place.facet, of: entity)] = spared }
    }
    for value in taken { value.isOutdated = true }
    count -= taken.count
    setFlags()
    return taken
  }

  /// Moves the records of an object to its new ID.
  mutating func rename(_ object: ManagedObject, to id: ManagedObjectID) {
    if let source = sources.removeValue(forKey: object.objectID) { sources[id] = source }
    for (_, cached) in object.caches { cached.reads?.dependent?.id = id }
  }

  /// Sets the version of a row for objects that running getters have read without a row.
  mutating func noteVersion(_ version: Int64, of id: ManagedObjectID) {
    inputs?.noteVersion(version, of: id)
    for index in computations.indices { computations[index].noteVersion(version, of: id) }
  }

  /// Whether the version of a row differs from the version that the records refer to.
  func isOther(_ version: Int64, of id: ManagedObjectID) -> Bool {
    sources[id]?.version.map { $0 != version } ?? false
  }

  /// Sets the row version of an object whose records stay valid with a new row.
  mutating func setVersion(_ version: Int64, of id: ManagedObjectID) { sources[id]?.version = version }

  /// Handles the release of an object.
  ///
  /// Values computed from the object's derived values stay valid, and depend on the inputs of these from now on. Inputs
  /// in the object itself are recorded already. A running getter may have read a value whose dependency is not recorded
  /// yet.
  func detach(_ object: ManagedObject) {
    for (_, cached) in object.caches {
      guard let dependent = cached.reads?.dependent, !dependent.isStored else { continue }
      if isRecording || hasDependents(dependent) { dependent.isDetached = true }
    }
  }

  /// Whether other values depend on a value.
  private func hasDependents(_ value: Dependent) -> Bool {
    sources[value.id]?.dependents[value.place.facet.number] != nil
      || entities[EntityFacet(value.place.facet, of: value.entity)] != nil
  }

  /// Whether a sweep is due. None runs during computations, because their dependencies are not recorded yet.
  var needsSweep: Bool { count > nextSweep && !isRecording }

  /// Removes the records of values that are no longer kept.
  mutating func sweep(_ isCurrent: (Dependent) -> Bool) {
    let before = self
    func isNeeded(_ value: Dependent) -> Bool { value.isDetached ? before.hasDependents(value) : isCurrent(value) }
    count = 0
    sources = [:]
    for (id, source) in before.sources {
      var rest = Source(version: source.version)
      for (number, list) in source.dependents {
        let needed = list.filter(isNeeded)
        if !needed.isEmpty { rest.dependents[number] = needed }
        count += needed.count
      }
      if !rest.dependents.isEmpty { sources[id] = rest }
    }
    entities = entities.mapValues { $0.filter(isNeeded) }.filter { !$0.value.isEmpty }
    count += entities.values.reduce(0) { $0 + $1.count }
    nextSweep = max(Self.leastSweep, 2 * count)
    setFlags()
  }

  /// Removes all records: every derived value becomes invalid.
  mutating func removeAll() {
    sources = [:]
    entities = [:]
    count = 0
    for index in computations.indices { computations[index].isOutdated = true }
    setFlags()
  }

  /// The violated invariants between public calls.
  var brokenInvariants: [String] {
    var broken = computations.map { "\($0.name) is being computed for ever" }
    let listed = sources.values.reduce(0) { $0 + $1.dependents.reduce(0) { $0 + $1.value.count } }
    if count != listed + entities.values.reduce(0, { $0 + $1.count }) { broken.append("\(count) notes are miscounted") }
    if isRecording || isWatching != (count > 0 || hasOpenObservers || hasListeners) {
      broken.append("changes are watched for nothing, or not at all")
    }
    return broken
  }
}
