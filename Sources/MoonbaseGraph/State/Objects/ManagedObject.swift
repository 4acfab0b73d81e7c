public import MoonbaseModel

/// An object of a managed object context, which has one instance for each ID.
///
/// An object and its context are confined to one executor and are not `Sendable`; pass IDs and values instead.
/// Subclasses add typed accessors and override life-cycle methods. The graph makes the instances.
///
/// ```swift
/// let name = try person.value(forKey: "name")              // throws what is wrong
/// try person.setValue("Ann", forKey: "name")
/// try person.setObject(office, forKey: "department")       // the department's people follow
/// ```
nonisolated open class ManagedObject {
  // Exclusivity checks are off for the fields, since no access to them lasts while other code runs
  // (docs/development.md, "What the compiler is told"). Except for the row, the fields are changed only in this file,
  // by transitions and by `changeState`, which +HandOver calls. The fields of the record are set in +Record.

  /// The state shared with other objects of the same entity, store and context. The table counts its objects and lives
  /// as long as there are any.
  @exclusivity(unchecked) final private(set) var table: Unmanaged<ObjectTable>
  /// The key in the object's ID.
  @exclusivity(unchecked) final private(set) var key: Int64
  /// The row and the values beside it, with their own transitions (ObjectRow.swift).
  @exclusivity(unchecked) final var row = ObjectRow()
  /// Rarely needed state beside the row; nil if there is none.
  @exclusivity(unchecked) final private(set) var record: ObjectRecord?
  @exclusivity(unchecked) final private(set) var state: State
  /// The reason why the object has no context.
  @exclusivity(unchecked) final private(set) var departure = DetachReason.contextGone
  /// Whether the context counts the object's memory.
  @exclusivity(unchecked) final private(set) var isWeighed = false
  /// The savepoint of the context in which the object was inserted; 0 if there was none.
  @exclusivity(unchecked) final private(set) var savepoint: UInt32 = 0
  @exclusivity(unchecked) private final var position: UInt32 = 0

  /// Makes the object in a context. Subclasses may override this to set up fields, and never call it otherwise.
  public required init(_ place: InitializationToken) {
    table = place.table
    key = place.key
    state = place.state
    place.table._withUnsafeGuaranteedRef { table in
      table.retainForObject()
      table.map.insert(self)?.leave(because: .replaced)
      if table.keepsObjects { table.context?.retained.all.insert(self) }
    }
  }

  deinit {
    table._withUnsafeGuaranteedRef { table in
      if let context = table.contextReference { context._withUnsafeGuaranteedRef { $0.forget(self) } }
      table.releaseForObject()
    }
  }

  // MARK: Life cycle

  /// The life-cycle methods that this class or a superclass overrides. Methods outside of this set are not called.
  ///
  /// The default is all methods. A subclass that overrides none should return `[]`: its objects are then read and saved
  /// as fast as those without a subclass.
  open class var overriddenLifecycleMethods: LifecycleHooks { self == ManagedObject.self ? [] : .all }
  /// Called once in an object's life, after its default values are set. An error undoes the insertion.
  open func awakeFromInsert() throws {}
  /// Called after the values were read from the store. Changes made here are not tracked. After an error the object
  /// stays a fault.
  open func awakeFromFetch() throws {}
  /// Called after a rollback, a refresh or an undo replaced values, so that values computed from them can be updated.
  ///
  /// Changes made here are not tracked. After a rollback the object is a fault, whose first access calls
  /// `awakeFromFetch`.
  open func awake(fromSnapshotEvents events: SnapshotEventType) throws {}
  /// Called before the object is saved, and again as long as it changes something.
  open func willSave() throws {}
  /// Called after the object was saved. After a saved deletion the object still has its values, and `isDeleted` is
  /// true.
  ///
  /// The context keeps an error in `didSaveErrors`.
  open func didSave() throws {}
  /// Called at each call that deletes the object. An error prevents the deletion.
  open func prepareForDeletion() throws {}
  /// Called before the object becomes a fault, which an error does not prevent.
  open func willTurnIntoFault() throws {}
  /// Called after the object became a fault, to release values computed from its attributes.
  open func didTurnIntoFault() throws {}
  /// Checks a new object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForInsert() throws {}
  /// Checks a changed object as a whole. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForUpdate() throws {}
  /// Checks whether the object may be deleted. Throw a `GraphError` with code `.validation` to refuse it.
  open func validateForDelete() throws {}
  /// Checks a value that is about to be saved, and may replace it.
  open func validateValue(_ value: inout Value, forKey key: String) throws {}

  /// The property accessors of the subclass, which every access by key uses. Empty by default.
  open class var customAccessors: [CustomAccessor] { [] }

  /// The key paths of the class for Foundation's predicates and sort descriptors: see `PropertyKeyPath`.
  open class var keyPaths: [PropertyKeyPath] { [] }
}

// MARK: - State beside the row

extension ManagedObject {
  /// The object's position in the context's list of changes, which maintains it.
  final var changePosition: Int {
    get { Int(position) }
    set { position = UInt32(truncatingIfNeeded: newValue) }
  }

  /// The record, made if necessary.
  @inline(__always)
  final var ownRecord: ObjectRecord { record ?? makeRecord() }

  @inline(never)
  private final func makeRecord() -> ObjectRecord {
    let new = ObjectRecord()
    record = new
    return new
  }

  /// Releases an empty record.
  final func dropEmptyRecord() {
    if record?.isEmpty == true { record = nil }
  }

  /// Starts to count the object's memory in its context.
  final func beginWeighing() {
    isWeighed = true
    context?.weigh(weight)
  }
}

// MARK: - Transitions

extension ManagedObject {
  /// Changes state flags, for transitions in other files only.
  @inline(__always)
  final func changeState(removing: State = [], adding: State = []) {
    state = state.subtracting(removing).union(adding)
  }
}

/// Entering and leaving a context.
extension ManagedObject {
  /// Gives a new object its own row with initial values. The savepoint of its insertion records no changes of it.
  final func setInitialValues(in savepoint: UInt32) {
    self.savepoint = savepoint
    table._withUnsafeGuaranteedRef { table in
      weigh(row.beginOwn(key: key, in: table.pageForOwnRow().takeUnretainedValue()))
      for slot in table.entity.initialSlots { setOwn(table.entity.initialValues[slot], slot: slot) }
    }
  }

  /// Detaches the object from its context. An object that may return keeps its values, which count until `letGo`.
  final func leave(because departure: DetachReason, mayReturn: Bool = false) {
    self.departure = departure
    guard let former = context else { return }
    if row.isOwn { former.noteDeparture(from: row.page) }
    move(to: former.registered.departed(from: table.takeUnretainedValue()))
    if !mayReturn { letGo(of: former) }
  }

  /// Returns an object that left its context as a new object with an ID, with the initial values of its entity.
  final func returnAsNew(to context: ManagedObjectContext, as id: ManagedObjectID) {
    if isWeighed { letGo(of: context) }
    move(to: context.table(of: id.kind, entity: entity).takeUnretainedValue(), key: id.key)
    (state, departure) = (state.intersection(.observed).union(.inserted), .contextGone)
    context.register(self)
    beginWeighing()
  }

  /// Marks the object as left when its table loses the context, and drops the values.
  final func becomeAbandoned(because departure: DetachReason) {
    self.departure = departure
    dropValues()
  }

  /// Moves the object to another table.
  private final func move(to new: ObjectTable, key: Int64? = nil) {
    let old = table
    if old._withUnsafeGuaranteedRef({ $0.keepsObjects }) != new.keepsObjects {
      if let context = new.context { context.retained.all.insert(self) } else { context?.retained.all.remove(self) }
    }
    new.retainForObject()
    table = .passUnretained(new)
    if let key { self.key = key }
    old._withUnsafeGuaranteedRef { $0.releaseForObject() }
  }

  /// Drops the values, which cannot be read any more, and subtracts their weight.
  final func letGo(of former: ManagedObjectContext) {
    former.weigh(-weight)
    dropValues()
  }

  private final func dropValues() {
    isWeighed = false
    row.drop()
    record = nil
  }

  /// Detaches an object whose insertion was undone, or which was deleted before it was saved.
  final func leaveUnsaved(because departure: DetachReason, mayReturn: Bool) {
    state.formIntersection(.observed)
    leave(because: departure, mayReturn: mayReturn)
  }

  /// Returns the object to its context.
  final func enter(_ context: ManagedObjectContext, state: State) {
    move(to: context.table(of: objectID.kind, entity: entity).takeUnretainedValue())
    self.state = state
    context.register(self)
  }
}

/// Reading a row.
extension ManagedObject {
  /// Gives a new fault its row; the context then counts the weight of both.
  ///
  /// False without effect if the class's own `init` has already changed the object.
  @inline(__always)
  final func begin(with page: RowPage, at place: Int) -> Bool {
    guard state == .fault, row.page == nil, row.live.isEmpty, record == nil else { return false }
    row.begin(at: place, in: page)
    isWeighed = true
    return true
  }

  /// Ends a fault with a known row at the first access, and returns true, if no hook runs and no other object is
  /// affected.
  @inline(__always)
  final func fireWithoutHooks() -> Bool {
    guard row.page != nil, record == nil, !state.contains(.refreshed),
      table._withUnsafeGuaranteedRef({ $0.firesWithoutHooks }),
      table._withUnsafeGuaranteedRef({ $0.contextReference?._withUnsafeGuaranteedRef { $0.knowsSimpleSlots } }) == true
    else { return false }
    state.remove(.fault)
    return true
  }

  /// Ends a fault with a known row. Returns whether other objects may depend on former values.
  final func stopBeingFault() -> Bool {
    let before = state
    state.subtract([.fault, .refreshed])
    return before.contains(.refreshed)
  }

  /// Runs code that sets values without recording changes. After an error the object becomes a fault again.
  final func awaking(_ body: () throws -> Void) throws {
    let isWithin = state.contains(.awaking)
    state.insert(.awaking)
    defer { if !isWithin { state.remove(.awaking) } }
    do {
      try body()
    } catch {
      outdateAll()
      weigh(row.setLive([]))
      setCaches([:])
      state.insert(.fault)
      throw error
    }
  }

  /// Runs code that sets values without recording changes, on top of other values that stay.
  final func awakingAgain(_ body: () throws -> Void) rethrows {
    let isWithin = state.contains(.awaking)
    state.insert(.awaking)
    defer { if !isWithin { state.remove(.awaking) } }
    try body()
  }

  /// Drops the values and all changes, and updates other objects that depend on them.
  final func becomeFault() {
    forgetMemberships()
    leaveTransientDestinations()
    if hasMoreThanItsRow { remember(.row(reading)) }
    context?.unlist(self)
    state.subtract([.updated, .deleted, .propagated, .born])
    setSnapshot(nil)
    forgetChanges()
    setRelationships([:])
    dropEmptyRecord()
    state.insert([.fault, .refreshed])
  }

  /// Drops the row of an object without other state or destinations; false without effect if there is more.
  final func becomeFaultIfClean() -> Bool {
    guard isAsSaved, row.live.isEmpty, row.changedLow == 0 else { return false }
    outdateAll()
    setSnapshot(nil)
    state.subtract([.updated, .propagated, .born])
    state.insert([.fault, .refreshed])
    return true
  }

  /// Drops the values without any notification, because only the object's version changes.
  final func becomeFaultForPendingSave() {
    forgetChanges()
    setSnapshot(nil)
    state.insert(.fault)
  }
}

/// Changing an object.
extension ManagedObject {
  /// Makes the next access read the destinations again; unsaved changes stay.
  final func forgetReadDestinations() {
    state.remove(.born)
    for slot in entity.toManySlots { outdate(slot, because: .row) }
    for (slot, known) in relationships where isList(slot) { forgetInverseLists(of: known, slot: slot) }
    // An open savepoint may have to restore the states of relationships.
    if context?.journal.isActive != true {
      setRelationships(relationships.filter { $0.value.hasChanges || entity.properties[$0.key].isTransient })
    }
    for (slot, known) in relationships where !entity.properties[slot].isTransient { unload(known, slot: slot) }
  }

  /// Sets flags and marks a slot as changed. Returns whether the object has to be added to the list of changes.
  final func mark(_ slot: Slot?, as flags: State) -> Bool {
    defer { state.formUnion(flags) }
    if let slot { markChanged(slot) }
    return flags.contains(.listed) && !state.contains(.listed)
  }

  /// Records the removal from the list of changes; false if the object was not in it.
  @discardableResult
  package final func markUnlisted() -> Bool { state.remove(.listed) != nil }

  /// Runs the hooks of the object's deletion.
  final func departing(_ body: () throws -> Void) throws {
    state.insert(.departing)
    defer { state.remove(.departing) }
    try body()
  }

  /// Makes delete rules apply again.
  final func markUnpropagated() {
    remember(.flags(flags(nil)), silently: true)
    state.remove(.propagated)
  }

  /// Runs the delete rules of the object's deletion. They count as applied unless they fail.
  final func propagating(_ body: () throws -> Void) throws {
    remember(.flags(flags(nil)), silently: true)
    state.insert(.propagated)
    do {
      try departing(body)
    } catch {
      state.remove(.propagated)
      throw error
    }
  }
}

/// Observers of the object.
extension ManagedObject {
  /// Whether the object has observers.
  final var isObserved: Bool {
    get { state.contains(.observed) }
    set { if newValue { state.insert(.observed) } else { state.remove(.observed) } }
  }
}

/// Transitions for the undo manager.
extension ManagedObject {
  /// Undoes the object's mark for deletion.
  final func unmarkDeleted() {
    remember(.flags(flags(nil)))
    state.subtract([.deleted, .propagated])
    // A changed object stays in the list of changes, and is found there by its values again.
    context?.changedObjects.note(self)
    outdate(.presence)
  }

  /// Clears the mark of a slot as changed.
  final func unmark(_ slot: Slot) {
    remember(.flags(flags(slot)), silently: true)
    restoreMark(false, slot: slot)
  }

  /// Removes an object that equals its saved state from the changes.
  final func unlistUnchanged() {
    remember(.flags(flags(nil)), silently: true)
    state.remove(.updated)
    outdate(.state)
    context?.unlist(self)
    spillRow()
    dropEmptyOwnValues()
    // Primitive transient values stay, because setting them is no change.
    if hasLiveValues || record != nil { for slot in entity.transientSlots { keepForNewIDs(slot) } }
  }
}

/// Transitions of objects at a save.
extension ManagedObject {
  /// Records that the object is saved under its reserved ID, with the row that was written, if any.
  ///
  /// `permanent` maps the temporary IDs of objects in the same save.
  final func becomeSaved(as written: WrittenRow, id: ManagedObjectID, permanent: PermanentIDs) {
    if state.contains(.inserted) { state.insert(.born) }
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    if keepsItsRowOnly(of: written), objectID == id { return weigh(row.keepCompleted()) }
    if !permanent.isEmpty { outdateTemporaryDestinations() }
    if objectID != id { changeID(to: id) } else { outdate(.state, because: .row) }
    if let new = rowSaved(as: written) {
      if let context, context.derivations.isWatching { context.derivations.setVersion(new.version, of: id) }
      setSnapshot(new)
      keepTransientValues()
    }
    replaceTransientDestinations(by: permanent)
    setChanged(SlotSet())
    guard record != nil else { return }
    for known in relationships.values { known.didSave(permanent: permanent) }
    dropEmptyRecord()
  }

  /// Clears the marks of lists that are in their saved state. Returns whether the object has nothing left to save.
  @discardableResult
  final func forgetSavedLists() -> Bool {
    var rest = changed
    for slot in entity.toManySlots where relationships[slot]?.hasChanges != true { rest.remove(slot) }
    setChanged(rest)
    guard rest.isEmpty, delayed.isEmpty, !state.contains(.deleted) else { return !state.contains(.listed) }
    state.remove(.updated)
    spillRow()
    context?.unlist(self)
    return true
  }

  /// Prepares an object with a saved deletion for its `didSave` hooks.
  final func prepareForDidSaveOfDeletion() {
    spillRow()
    state.subtract([.inserted, .updated, .listed, .propagated])
  }

  /// Gives a new object the ID under which it will be saved.
  final func setPermanentID(_ id: ManagedObjectID) { changeID(to: id) }

  /// Detaches an object whose deletion is saved.
  final func becomeDeleted() {
    state.subtract([.inserted, .updated, .deleted, .listed, .propagated])
    leave(because: .deleted)
  }

  /// Changes the object's ID, and drops values that may depend on it.
  private func changeID(to id: ManagedObjectID) {
    // A getter may have read the ID, of which no facet reports a change.
    outdateAll(because: .identity)
    if hasCaches { setCaches(caches.filter { $1.reads.map { $0.isStored || $0.isAssigned } ?? true }) }
    guard let context else { return }
    if context.derivations.isWatching || hasCaches { context.derivations.rename(self, to: id) }
    context.tellListeners(of: objectID, renamedTo: id)
    context.registered.remove(self)
    move(to: context.table(of: id.kind, entity: entity).takeUnretainedValue(), key: id.key)
    context.register(self)
  }
}

/// Restoring former states.
extension ManagedObject {
  /// The flags that a change, a save and a rollback alter.
  private static let undoable: State = [.updated, .deleted, .listed, .propagated]

  /// Restores state flags, and the mark of a slot as changed.
  final func restore(_ flags: Flags) {
    state = state.subtracting(Self.undoable).union(flags.state.intersection(Self.undoable))
    if let slot = flags.slot { restoreMark(flags.isMarked, slot: slot) }
  }

  /// Restores the mark of a slot as changed.
  final func restoreMark(_ wasMarked: Bool, slot: Slot) {
    if wasMarked { return markChanged(slot) }
    if slot < 64 { row.unmarkChanged(low: slot) } else { record?.changedHigh.remove(slot) }
  }

  /// Restores the row with the values above it, or a fault.
  final func restore(_ reading: Reading) {
    restore(reading.flags)
    setRelationships(reading.relationships)
    setDelayed(reading.delayed)
    leaveBatch()
    let faults: State = [.fault, .refreshed]
    state = state.subtracting(faults).union(reading.flags.state.intersection(faults))
    weigh(row.restore(reading.row))
    setChanged(high: reading.changedHigh)
    dropEmptyRecord()
  }
}
