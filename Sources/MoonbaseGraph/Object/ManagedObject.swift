public import MoonbaseModel

/// An object of a managed object context: the one instance for its ID there.
///
/// An object and its context are confined to one executor and are not `Sendable`; IDs and values travel instead. Subclasses add
/// typed accessors and override the life-cycle methods; the graph makes the instances.
///
/// ```swift
/// let name = try person.value(forKey: "name")              // throws what is wrong
/// try person.setValue("Ann", forKey: "name")
/// try person.setObject(office, forKey: "department")       // the department's people follow
/// ```
open class ManagedObject {
  /// What the graph makes an object from. Only the graph makes one.
  public struct Place {
    let entity: ResolvedEntity
    let id: ManagedObjectID
    let context: ManagedObjectContext
    /// `.fault` for an object of a store, `.inserted` for a new one.
    let state: State
  }

  /// The entity.
  public final let entity: ResolvedEntity
  // No access to the fields of a graph's objects lasts while other code runs, so that checking each for exclusive
  // access at run time would find nothing (what that saves: docs/development.md, "What the compiler is told"). They are
  // changed in this file only, by the transitions below.

  /// The ID; temporary until the first save.
  @exclusivity(unchecked) public final private(set) var objectID: ManagedObjectID

  @exclusivity(unchecked) final private(set) var state: State
  /// The values as the store had them when they were read; nil for a fault and for a new object.
  @exclusivity(unchecked) final private(set) var snapshot: Snapshot? {
    willSet { weigh((newValue?.weight ?? 0) &- (snapshot?.weight ?? 0)) }
  }
  /// The current values, all of them; empty as long as nothing changed.
  @exclusivity(unchecked) final private(set) var live: ContiguousArray<Value> = []
  /// Slots that may differ from the snapshot, by whichever door: what a save writes.
  @exclusivity(unchecked) final private(set) var changed = SlotSet()
  /// Values that transformers and derived attributes gave.
  @exclusivity(unchecked) final private(set) var caches: SlotMap<Cached> = [:] { didSet { weighComputed() } }
  /// Values assigned to delayed derived attributes, until will-save.
  @exclusivity(unchecked) final private(set) var delayed: SlotMap<Value> = [:] { didSet { weighComputed() } }
  /// The faults that read their rows together with this one.
  final private(set) var batch: FaultBatch?
  /// To-many relationships of which something is known.
  @exclusivity(unchecked) final private(set) var relationships: SlotMap<ToManyState> = [:] {
    didSet { weighRelationships() }
  }
  /// Goes up with each change of an own value.
  @exclusivity(unchecked) final private(set) var changeCount: UInt64 = 0
  /// Why there is no context any more.
  final private(set) var departure = Departure.contextGone
  /// The savepoint of the context in which the object was last noted.
  @exclusivity(unchecked) final private(set) var savepoint: UInt32 = 0
  // The context clears this of every registered object when it goes away, and objects stay on their context's executor. An
  // object is registered from here on until `leave` clears this.
  @exclusivity(unchecked) private(set) final unowned(unsafe) var context: ManagedObjectContext?

  /// The bytes that the context was told of: in all, of assigned values, of computed ones, of relationships. Counted by `weigh`.
  @exclusivity(unchecked) package internal(set) final var weight = 0
  @exclusivity(unchecked) final var assignedWeight = 0
  @exclusivity(unchecked) final var computedWeight = 0
  @exclusivity(unchecked) final var relationshipsWeight = 0
  /// The place in the context's list of changed objects, where it is listed. Kept by the list.
  final var changePosition = 0

  /// Makes the object for a place in a context. Subclasses do not call it; they may override it to set up fields.
  public required init(_ place: Place) {
    entity = place.entity
    objectID = place.id
    state = place.state
    context = place.context
    place.context.register(self)
  }

  deinit { context?.forget(self) }

  // MARK: Life cycle

  /// After the default values of a new object are set; once in an object's life.
  open func awakeFromInsert() {}
  /// After the values were read from the store. Changes made here are not tracked.
  open func awakeFromFetch() {}
  /// Before the object is saved, again as long as it changes something.
  open func willSave() throws {}
  /// After the object was saved.
  open func didSave() {}
  /// At each call that deletes the object.
  open func prepareForDeletion() {}
  /// Before the object becomes a fault.
  open func willTurnIntoFault() {}
  /// After the object became a fault.
  open func didTurnIntoFault() {}
  /// Checks a new object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForInsert() throws {}
  /// Checks a changed object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForUpdate() throws {}
  /// Checks whether the object may go. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForDelete() throws {}
  /// Checks a value that is about to be saved and may replace it.
  open func validateValue(_ value: inout Value, forKey key: String) throws {}

  /// Accessors through which every access by key goes: those a subclass writes itself. Empty for plain properties.
  open class var customAccessors: [CustomAccessor] { [] }
}

// MARK: - Transitions

/// Coming to a context and leaving it.
extension ManagedObject {
  /// A new object has the values of its model, and nothing of it is to be noted for the savepoint that it was made in.
  final func takeInitialValues(in savepoint: UInt32) {
    live = entity.initialValues
    weighAssignedAnew()
    self.savepoint = savepoint
  }

  /// The object is no longer of its context. One that may come back keeps its values, and they count until `letGo`.
  final func leave(because departure: Departure, mayReturn: Bool = false) {
    self.departure = departure
    let former = context
    context = nil
    if !mayReturn, let former { letGo(of: former) }
  }

  /// The values cannot be read any more: they go, and what they weighed.
  final func letGo(of former: ManagedObjectContext) {
    former.weigh(-weight)
    snapshot = nil
    live = []
    if !caches.isEmpty { caches = [:] }
    if !delayed.isEmpty { delayed = [:] }
    if !relationships.isEmpty { relationships = [:] }
    weight = 0
  }

  /// The insertion of the object is undone, or was followed by its deletion.
  final func leaveUnsaved(because departure: Departure, mayReturn: Bool) {
    state = []
    leave(because: departure, mayReturn: mayReturn)
  }

  /// The object is of its context again.
  final func enter(_ context: ManagedObjectContext, state: State) {
    self.context = context
    self.state = state
    context.register(self)
  }
}

/// Reading a row.
extension ManagedObject {
  /// Takes a row that was read, where the values were not looked at yet; an older one than is here is of no use.
  final func takeRow(_ row: Snapshot) {
    guard isFault, snapshot.map({ $0.version <= row.version }) ?? true else { return }
    snapshot = row
    leaveBatch()
  }

  /// The row will be read together with those of other faults.
  final func join(_ batch: FaultBatch) { self.batch = batch }

  final func leaveBatch() { if batch != nil { batch = nil } }

  /// The values are asked for, and are here. Returns whether others may know the object by those that it had before.
  final func stopBeingFault() -> Bool {
    let before = state
    state.subtract([.fault, .refreshed])
    return before.contains(.refreshed)
  }

  /// Runs what sets values that are no changes. One that fails leaves a fault: half awake is not awake.
  final func awaking(_ body: () throws -> Void) throws {
    state.insert(.awaking)
    defer { state.remove(.awaking) }
    do {
      try body()
    } catch {
      live = []
      weighAssignedAnew()
      caches = [:]
      state.insert(.fault)
      throw error
    }
  }

  /// A newer row takes the place of the one that is here, with what changed since on top.
  final func rebase(on newer: Snapshot) {
    if !live.isEmpty {
      var values = newer.values
      for slot in changed.slots + entity.transientSlots { values[slot] = live[slot] }
      live = values
      weighAssignedAnew()
    }
    snapshot = newer
  }

  /// Runs `body` with the values of the row in the place of those that awake-from-fetch set; transient ones stay.
  final func asSaved<Result>(_ body: () throws -> Result) rethrows -> Result {
    guard let snapshot else { return try body() }
    let (awakened, computed) = (live, caches)
    for slot in changed.slots { live[slot] = snapshot.values[slot] }
    caches = [:]
    defer {
      // Who computes a value may have changed the object.
      if !state.contains(.listed) { (live, caches) = (awakened, computed) }
    }
    return try body()
  }

  /// Gives up what was made of the row, but not unsaved changes. What awake-from-fetch set is none.
  final func forgetReadings() {
    if !state.contains(.listed) { changed.removeAll() }
    caches = caches.filter { changed.contains($0.key) }
  }

  /// The row of the other side of a relationship tells that a value is another one; an unsaved change stays on top, and a fault
  /// reads it.
  final func takeRowValue(_ value: Value, slot: Slot) {
    guard !isFault, !changed.contains(slot) else { return }
    materialize()
    live[slot] = value
    changeCount &+= 1
    context?.noteChange()
  }

  /// Objects are gone to which a relationship may lead: that is no change.
  final func forgetDestinations(_ gone: Set<ManagedObjectID>, slot: Slot) {
    if let known = relationships[slot] {
      known.forgetGone(gone)
      return weighRelationships()
    }
    guard !live.isEmpty, case .objectID(let id) = live[slot], gone.contains(id) else { return }
    live[slot] = .null
    changeCount &+= 1
  }

  /// Drops the values and all that differs from the row, and tells other objects what they no longer know of this one.
  final func becomeFault() {
    rowLeaves()
    context?.unlist(self)
    state.subtract([.updated, .deleted, .propagated, .born])
    snapshot = nil
    forgetChanges()
    relationships = [:]
    state.insert([.fault, .refreshed])
  }

  /// Becomes a fault without telling anybody, for it is the same object with the same values but for a count.
  final func becomeFaultSilently() {
    forgetChanges()
    snapshot = nil
    state.insert(.fault)
  }

  /// Forgets all that differs from the snapshot.
  final func forgetChanges() {
    live = []
    changed.removeAll()
    weighAssignedAnew()
    caches = [:]
    delayed = [:]
    changeCount &+= 1
  }
}

/// Changing.
extension ManagedObject {
  /// Puts a value of its own into a slot in the place of `old`.
  @inline(__always)
  final func put(_ value: Value, slot: Slot, insteadOf old: Value) {
    willChange()
    materialize()
    live[slot] = value
    weigh(value, insteadOf: old, slot: slot)
  }

  /// Gives the object values of its own to change.
  final func materialize() {
    guard live.isEmpty, let snapshot else { return }
    live = snapshot.values
    weighAssigned(24 &* live.count)
  }

  /// The next save looks at a slot.
  @inline(__always)
  final func markChanged(_ slot: Slot) { changed.insert(slot) }

  /// Some value of the object is another one: what was derived from it no longer holds.
  @inline(__always)
  final func countChange() { changeCount &+= 1 }

  /// Keeps what a transformer or derived attribute gave; nil forgets it.
  final func cache(_ cached: Cached?, slot: Slot) { caches[slot] = cached }

  final func forgetCaches() { caches = [:] }

  /// Keeps a value until will-save; nil forgets it.
  final func delay(_ value: Value?, slot: Slot) { delayed[slot] = value }

  final func forgetDelayedValues() { delayed = [:] }

  /// Puts what is known of a to-many relationship in its place.
  final func setRelationship(_ known: ToManyState, slot: Slot) { relationships[slot] = known }

  /// Destinations are read anew, of a new object that was saved too; what changed of them stays.
  final func forgetReadDestinations() {
    state.remove(.born)
    relationships = relationships.filter { $0.value.hasChanges }
    for known in relationships.values { known.unload() }
  }

  /// The object has unsaved changes, or is new.
  final func markUpdated() {
    if !state.contains(.inserted) { state.insert(.updated) }
  }

  /// The context's list of changes has the object. False if it had it already.
  @discardableResult
  final func markListed() -> Bool { state.insert(.listed).inserted }

  /// The context's list of changes no longer has the object. False if it did not have it.
  @discardableResult
  final func markUnlisted() -> Bool { state.remove(.listed) != nil }

  final func markDeleted() {
    willChange()
    state.insert(.deleted)
  }

  /// Runs hooks of the object's deletion.
  final func departing(_ body: () throws -> Void) throws {
    state.insert(.departing)
    defer { state.remove(.departing) }
    try body()
  }

  /// Delete rules are to be applied anew.
  final func markUnpropagated() { state.remove(.propagated) }

  /// Runs delete rules of the object's deletion. They count as applied unless they fail.
  final func propagating(_ body: () throws -> Void) throws {
    willChange()
    state.insert(.propagated)
    do {
      try departing(body)
    } catch {
      state.remove(.propagated)
      throw error
    }
  }
}

/// Saving and undoing.
extension ManagedObject {
  /// The object is in its store: under the ID that was set aside for it, and with the row that was written; nil where that was
  /// none. `permanent` has the IDs of other objects that were saved with it, by their temporary ones.
  final func becomeSaved(as row: Snapshot?, id: ManagedObjectID, permanent: [ManagedObjectID: ManagedObjectID]) {
    if isInserted { state.insert(.born) }
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    if objectID != id { changeID(to: id) }
    if let row {
      snapshot = row
      keepTransientValues(of: row)
    }
    replaceTransientDestinations(by: permanent)
    changed.removeAll()
    weighAssignedAnew()
    for known in relationships.values { known.didSave(permanent: permanent) }
  }

  /// The deletion of the object is saved.
  final func becomeDeleted() {
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    leave(because: .deleted)
  }

  private func changeID(to id: ManagedObjectID) {
    context?.registered.remove(self)
    objectID = id
    context?.register(self)
  }

  /// Persistent values are the row's now; transient ones live on in the object.
  private func keepTransientValues(of row: Snapshot) {
    guard !live.isEmpty else { return }
    let old = live
    live = []
    for slot in entity.transientSlots where !old[slot].isNull {
      if live.isEmpty { live = row.values }
      live[slot] = old[slot]
    }
  }

  /// Transient relationships and values name objects that have their permanent IDs only now.
  private func replaceTransientDestinations(by permanent: [ManagedObjectID: ManagedObjectID]) {
    guard !live.isEmpty, !permanent.isEmpty else { return }
    for slot in entity.transientSlots {
      if let value = live[slot].replacingIDs({ permanent[$0] }) { live[slot] = value }
    }
  }

  /// The object was noted in a savepoint.
  final func markNoted(in savepoint: UInt32) { self.savepoint = savepoint }

  /// The object is as it was. What runs right now goes on running.
  final func restore(_ memo: Memo) {
    let running: State = [.departing, .awaking]
    state = memo.state.subtracting(running).union(state.intersection(running))
    live = memo.live
    changed = memo.changed
    caches = memo.caches
    delayed = memo.delayed
    // The row may have been read anew meanwhile.
    if let snapshot, snapshot !== memo.snapshot { rebase(on: snapshot) }
    weighAssignedAnew()
    changeCount &+= 1
  }
}
