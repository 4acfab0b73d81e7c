import MoonbaseModel

/// Which derived values were computed from what of other objects, in one context, and the computations that run.
///
/// What a value was computed from of its own object is noted beside the value. What it read of others is noted here by their IDs, for
/// a getter may read a million objects that nobody holds. Notes keep no object, and those of values that are gone are swept
/// out each time as many came as were left by the sweep before.
struct Derivations {
  /// Why something is another value.
  enum Cause {
    /// It was changed, and is to be saved: so are stored values that were computed from it.
    case change
    /// A row says so. What is stored is the concern of who wrote the row.
    case row
    /// An object has another ID. What is stored holds no temporary ID.
    case identity
  }

  /// A derived value, as what it was computed from knows it: it holds as long as its object has this beside the value.
  final class Dependent {
    fileprivate(set) var id: ManagedObjectID
    let entity: ResolvedEntity
    let slot: Slot
    let isStored: Bool
    /// Whether something that the value was computed from is another value by now.
    fileprivate(set) var isOutdated = false
    /// Whether the object is gone, and other values were computed from this one.
    fileprivate(set) var isDetached = false

    fileprivate init(_ done: Computation, isStored: Bool) {
      id = done.object.objectID
      entity = done.object.entity
      slot = done.slot
      self.isStored = isStored
    }

    /// The derived attribute, as those know it that were computed from it.
    var place: ObjectFacet { ObjectFacet(id: id, facet: Facet(slot)) }
  }

  /// What is noted of one object that was read.
  private struct Source {
    /// The version of its row, where it has one.
    var version: Int64?
    /// By the number of the facet.
    var dependents: SlotMap<[Dependent]> = [:]
  }

  /// The bytes of a note, by estimate.
  private static let noteWeight = 80
  /// With more notes, further computations note entities instead of objects.
  private static let greatestCount = 1 << 17
  private static let leastSweep = 1 << 10

  /// The derived attributes that are being computed, each needed by the one before it.
  private(set) var computations: ContiguousArray<Computation> = []
  /// The computation that runs apart, because a chain of computations became too long.
  var deep = DeepDerivation()
  private var sources: [ManagedObjectID: Source] = [:]
  private var entities: [EntityFacet: [Dependent]] = [:]
  /// How many notes there are, and how many the context was told of.
  private(set) var count = 0
  private var toldCount = 0
  private var nextSweep = leastSweep

  /// The inputs of the stored values of a save, while it prepares and writes.
  private(set) var inputs: SaveInputs?
  /// The number of the last save that noted inputs: values that were computed before it are computed anew.
  private(set) var inputsNumber: UInt32 = 0
  /// How many stored values are being computed, one within the other.
  private var storedDepth = 0
  /// Whether what is read is an input of a save.
  private(set) var isNotingInputs = false

  /// Whether a getter runs.
  private(set) var isRecording = false
  /// Whether a change may concern a derived value of another object.
  private(set) var isWatching = false

  /// Whether a derived value is observed that any change may concern.
  var hasOpenObservers = false {
    didSet { setFlags() }
  }

  /// Whether somebody follows all objects (`ChangeListeners`).
  var hasListeners = false {
    didSet { setFlags() }
  }

  private mutating func setFlags() {
    isRecording = !computations.isEmpty
    isWatching = isRecording || count > 0 || hasOpenObservers || hasListeners
  }

  /// The bytes by which the notes grew since this was asked the last time.
  mutating func takeGrowth() -> Int {
    defer { toldCount = count }
    return (count - toldCount) * Self.noteWeight
  }
}

// MARK: - Inputs of a save

extension Derivations {
  mutating func beginInputs() {
    inputs = SaveInputs()
    inputsNumber &+= 1
    setIsNotingInputs()
  }

  mutating func endInputs() {
    inputs = nil
    setIsNotingInputs()
  }

  /// A stored value is about to be computed.
  mutating func beginStored() {
    storedDepth += 1
    setIsNotingInputs()
  }

  mutating func endStored() {
    storedDepth -= 1
    setIsNotingInputs()
  }

  private mutating func setIsNotingInputs() { isNotingInputs = inputs != nil && storedDepth > 0 }

  /// Notes an object that a getter reads while a stored value is computed.
  mutating func noteInput(_ id: ManagedObjectID, version: @autoclosure () -> Int64?) {
    if isNotingInputs { inputs?.note(id, version: version()) }
  }

  /// Notes an object by which the owners of stored values are looked up.
  mutating func noteOwnerInput(_ id: ManagedObjectID, version: @autoclosure () -> Int64?) {
    inputs?.note(id, version: version())
  }

  mutating func noteInput(of list: SaveInputs.List, _ contents: @autoclosure () -> ToManyState.Contents) {
    inputs?.note(list, contents())
  }
}

// MARK: - Recording

extension Derivations {
  mutating func begin(_ computation: Computation) {
    computations.append(computation)
    setFlags()
  }

  /// The innermost computation ends. What is known of its value is known of the one around it, too.
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

  /// The innermost computation failed.
  mutating func fail() {
    let failed = computations.removeLast()
    setFlags()
    if isRecording { computations[computations.count - 1].note(readingsOf: failed) }
  }

  mutating func note(_ facet: Facet, of object: ManagedObject) {
    noteInput(object.objectID, version: object.rowVersion)
    computations[computations.count - 1].note(facet, of: object)
  }

  mutating func note(_ facets: SlotSet, of object: ManagedObject) {
    computations[computations.count - 1].note(facets, of: object)
  }

  mutating func note(_ facet: Facet, of id: ManagedObjectID, entity: ResolvedEntity) {
    noteInput(id, version: nil)
    computations[computations.count - 1].note(facet, of: id, entity: entity, version: nil)
  }

  /// The innermost computation asks what no facet tells.
  mutating func noteOpen() {
    if isRecording { computations[computations.count - 1].isOpen = true }
  }

  /// Computations that have read a facet do not hold.
  mutating func outdateComputations(reading place: ObjectFacet, of entity: ResolvedEntity?) {
    for index in computations.indices where computations[index].hasRead(place, entity: entity) {
      computations[index].isOutdated = true
    }
  }
}

// MARK: - Notes

extension Derivations {
  /// Notes what a value was computed from; nil where it read no other object.
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
    // Taken out and put back, so that no list is copied.
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

  /// Takes out those that were computed from a facet of an object and do not hold any more: of an object with another ID all but
  /// those that are stored.
  mutating func take(_ place: ObjectFacet, of entity: ResolvedEntity?, because cause: Cause) -> [Dependent] {
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

  /// An object has another ID.
  mutating func rename(_ object: ManagedObject, to id: ManagedObjectID) {
    if let source = sources.removeValue(forKey: object.objectID) { sources[id] = source }
    for (_, cached) in object.caches { cached.reads?.dependent?.id = id }
  }

  /// A row was read while getters run: what they read of its object, they read of this version.
  mutating func noteVersion(_ version: Int64, of id: ManagedObjectID) {
    inputs?.noteVersion(version, of: id)
    for index in computations.indices { computations[index].noteVersion(version, of: id) }
  }

  /// Whether a row that arrives is another one than that of which something is noted.
  func isOther(_ version: Int64, of id: ManagedObjectID) -> Bool {
    sources[id]?.version.map { $0 != version } ?? false
  }

  /// An object has another row, for which what is noted of it holds.
  mutating func setVersion(_ version: Int64, of id: ManagedObjectID) { sources[id]?.version = version }

  /// An object goes. Values that were computed from its derived values stay valid, and depend on the inputs of these
  /// from now on. Their inputs in the object itself are noted already. A getter that still runs may have read a value
  /// for which no input is noted yet.
  func detach(_ object: ManagedObject) {
    for (_, cached) in object.caches {
      guard let dependent = cached.reads?.dependent, !dependent.isStored else { continue }
      if isRecording || hasDependents(dependent) { dependent.isDetached = true }
    }
  }

  private func hasDependents(_ value: Dependent) -> Bool {
    sources[value.id]?.dependents[value.place.facet.number] != nil
      || entities[EntityFacet(value.place.facet, of: value.entity)] != nil
  }

  /// While getters run, it is not known yet of all values whether they are needed.
  var needsSweep: Bool { count > nextSweep && !isRecording }

  /// Sweeps out notes of values that are gone.
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

  /// No derived value holds any more.
  mutating func removeAll() {
    sources = [:]
    entities = [:]
    count = 0
    for index in computations.indices { computations[index].isOutdated = true }
    setFlags()
  }

  /// What does not hold between public calls.
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
